import base64
import os
import pickle

import numpy as np
import pyarrow.parquet as pq
import pytest
from cli.commands import contents

import lookalike as la
from lookalike.files.secrets import read_secret, write_secret


def written_forms(secret):
    numbers = [int.from_bytes(secret, order) for order in ("little", "big")]
    numbers += [int(word) for word in np.frombuffer(secret, "<u8")]
    texts = [
        secret.hex(),
        base64.b64encode(secret).decode(),
        repr(secret)[2:-1],
        *map(str, numbers),
        *(f"{n:x}" for n in numbers),
    ]
    return [secret, secret[::-1], pickle.dumps(secret)[-19:-3], *(text.encode() for text in texts)]


def everything_in(folder):
    files = {folder / name: data for name, data in contents(folder).items()}
    tables = [path for path in files if path.suffix == ".parquet"]
    return files | {f"{path} rows": repr(pq.read_table(path).to_pydict()).encode() for path in tables}


@pytest.mark.parametrize("method", ["minhash", "simhash"])
def test_it_is_in_its_file_and_nowhere_else(inputs, small_parts, tmp_path, caplog, capfd, method):
    caplog.set_level("DEBUG")
    work, out = tmp_path / "work", tmp_path / "out"
    out.mkdir()
    result = la.dedup(inputs, work=work, id="id", evidence="all", method=method)
    secret = read_secret(work)
    assert len(secret) == 16
    for name in ("a.jsonl", "a.csv", "a.parquet", "folder"):
        result.write(out / name, annotate=True)
    result.save(out / "saved")
    said = [result.settings.to_dict(), result.summary, result.summary.to_dict(), result.provenance, vars(result)]
    said += [result.annotations.to_pydict(), result.pairs.to_pydict(), result.rethreshold(0.9).provenance]
    (out / "said.txt").write_text("\n".join([*map(repr, said), str(result.summary), caplog.text, *capfd.readouterr()]))
    (out / "result.pickle").write_bytes(pickle.dumps(result))
    found = everything_in(tmp_path)
    assert len([path for path in found if str(path).endswith(".part")]) > 5
    assert [(path, form) for form in written_forms(secret) for path in found if form in found[path]] == [
        (work / "secret", secret)
    ]
    result.close()
    assert not work.exists()


def made_a_folder(path):
    path.unlink()
    path.mkdir()


def made_a_link(path):
    os.replace(path, path.parent.parent / "elsewhere")
    path.symlink_to(path.parent.parent / "elsewhere")


DAMAGE = {
    "turned": lambda path: path.write_bytes((data := path.read_bytes())[:-6] + bytes([data[-6] ^ 1]) + data[-5:]),
    "of another job": lambda path: write_secret(path.parent, bytes(range(16))),  # what it makes would not meet what is there
    "unlinked": lambda path: path.unlink(),
    "a folder": made_a_folder, "a link": made_a_link,
}  # fmt: skip


def test_a_job_without_its_secret_is_refused_and_loses_nothing(inputs, small_parts, tmp_path):
    work, path = tmp_path / "work", tmp_path / "work/secret"
    kept = la.dedup(inputs, work=work).keep.tolist()
    before = contents(work)
    assert len(before) > 6
    for name, damage in DAMAGE.items():
        damage(path)
        for _ in range(2):
            with pytest.raises(
                la.errors.IndexFormatError, match="secret: missing, damaged, unreadable, or of another job: .* again"
            ):
                la.dedup(inputs, work=work)
            assert contents(work).items() >= {one: data for one, data in before.items() if one.name != "secret"}.items(), name
        if path.is_dir():
            path.rmdir()
        path.unlink(missing_ok=True)
        path.write_bytes(before[path.relative_to(work)])
    result = la.dedup(inputs, work=work)
    assert result.keep.tolist() == kept
    result.close()
    assert list(work.iterdir()) == []
