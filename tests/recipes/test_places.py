"""Through a store that fails as real ones do: the answer of a disk, or nothing."""

import shutil
import tempfile
from contextlib import closing

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli.commands import status
from faulty_store import failing
from json_lines import write_lines
from object_store import environment, held, new_bucket, put_folder
from samples import one_in

import lookalike as la
from lookalike.errors import OutputError
from lookalike.files import remote, urls
from lookalike.files.disk import SIDECAR
from lookalike.files.urls import as_url


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    (local := tmp_path_factory.mktemp("places") / "in").mkdir()
    words = [f"{i * 7919 % 9973:x}" for i in range(9000)]
    first = [(i - i % 4 // 3) * 300 % 8000 for i in range(400)]
    rows = [{"text": " ".join([*words[at : at + 299], f"number{i}"]), "id": i} for i, at in enumerate(first)]
    for name in range(0, 8, 2):
        write_lines(local / f"{name}.jsonl", rows[name * 50 : name * 50 + 50])
        pq.write_table(
            pa.Table.from_pylist(rows[name * 50 + 50 : name * 50 + 100]), local / f"{name + 1}.parquet", row_group_size=20
        )
    with environment():
        yield local, str(put_folder(local, new_bucket() / "in").parent)


def decided(source, output):
    with closing(la.dedup(str(source), id="id", seed=1)) as result:
        result.write(str(output), force=True)
        return result.decisions.select(["reason", "resemblance", "keeper"]).to_pylist()


def files_in(folder):
    """Of Parquet the rows, as its metadata name the inputs."""
    found = held(folder) if not hasattr(folder, "iterdir") else {path.name: path.read_bytes() for path in folder.iterdir()}
    del found[SIDECAR]
    return {
        name: data if name.endswith("l") else pq.read_table(pa.BufferReader(data)).to_pylist() for name, data in found.items()
    }


@pytest.fixture(scope="module")
def wanted(corpus, tmp_path_factory):
    output = tmp_path_factory.mktemp("wanted") / "clean"
    decisions = decided(corpus[0], output)
    assert {row["reason"] for row in decisions} == {"kept", "near"} and len(files_in(output)) == 8
    return decisions, files_in(output)


@pytest.mark.parametrize(
    "faults",
    one_in(2, [{}, {"every": 25}, {"every": 25, "status": 500}, {"delay": 0.01}, {"cut": 10}]),
    ids=["whole", "503", "500", "slow", "cut"],
)
def test_the_answer_is_that_of_a_disk(corpus, wanted, faults):
    output = as_url(f"{corpus[1]}clean-{'-'.join(map(str, faults))}{faults.get('status', '')}")
    with failing(**faults) as seen:
        assert decided(f"{corpus[1]}in", output) == wanted[0]
    assert seen.failed or not {"every", "cut"} & set(faults)
    with environment():
        assert files_in(as_url(str(output))) == wanted[1]
    writes = [one.split("?")[0] for one in seen.requests if one.startswith("PUT") and not one.endswith("/")]
    assert writes[-1].endswith(f"/{SIDECAR}")


def test_what_fails_for_good_publishes_nothing(corpus):
    output = f"{corpus[1]}refused"
    with failing(every=1, only="/refused/6.jsonl") as seen, pytest.raises(OutputError) as told:
        decided(f"{corpus[1]}in", output)
    assert seen.failed >= remote.ATTEMPTS
    assert "refused/6.jsonl: cannot be written" in str(told.value) and "run the job again later" in str(told.value)
    with environment():
        assert SIDECAR not in held(as_url(output)) and "6.jsonl" not in held(as_url(output))
        decided(f"{corpus[1]}in", output)
        assert len(held(as_url(output))) == 9


def test_the_disk_holds_sketches_candidates_and_one_file(bucket, tmp_path, monkeypatch):
    """Between stores, with a small disk for the work folder and for what is uploaded."""
    (tmp_path / "in").mkdir()
    names = [f"{number:02}.jsonl" for number in range(20)]
    for number, name in enumerate(names):
        numbers = range(number * 3, number * 3 + 3)
        write_lines(tmp_path / "in" / name, [f"{i} " + " ".join(f"{i % 59}x{j}w" for j in range(20_000)) for i in numbers])
    put_folder(tmp_path / "in", bucket / "in")
    n_bytes = sum(path.stat().st_size for path in (tmp_path / "in").iterdir())
    shutil.rmtree(tmp_path / "in")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    used, upload = [], urls.Url.upload

    def measured(url, file):
        used.append(sum(path.stat().st_size for path in tmp_path.rglob("*")))
        upload(url, file)

    monkeypatch.setattr(urls.Url, "upload", measured)
    assert status("dedup", bucket / "in", "--work", tmp_path / "job", "-o", bucket / "clean", "--quiet") == 0
    assert set(held(bucket / "clean")) == {*names, SIDECAR}
    assert 0 < max(used) < n_bytes / 10
