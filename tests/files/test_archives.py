"""Archives are read as folders of the same files are; what they hold leads nowhere else and is bounded."""

import bz2
import gc
import gzip
import io
import json
import lzma
import os
import random
import stat
import tarfile
import tempfile
import zipfile
from collections import namedtuple
from pathlib import Path

import pyarrow as pa
import pytest
from files.folder_files import names
from raising import assert_raises

import lookalike as la
from lookalike.errors import InputDataError, OutputError
from lookalike.files import places as rooms
from lookalike.formats.sources import open_sources

A = "one two three four five six seven eight nine ten eleven twelve"
B = "quite another text of several words that nobody else has written down"
FILES = {
    "a.txt": A, "deep/b.txt": A + " thirteen", "deep/c.jsonl.gz": json.dumps({"text": B}) + "\n", "d.md": B, "logo.png": "\0",
}  # fmt: skip
PACKED = {
    "tar": bytes,
    "tar.gz": gzip.compress,
    "tgz": gzip.compress,
    "tar.zst": lambda data: pa.compress(data, "zstd", asbytes=True),
    "tar.bz2": bz2.compress,
    "tbz2": bz2.compress,
    "tar.xz": lzma.compress,
    "txz": lzma.compress,
}
KINDS = ("zip", *PACKED)


def contents(files):
    return {name: gzip.compress(text.encode()) if name.endswith(".gz") else text.encode() for name, text in files.items()}


def tarred(*members):
    """A tar file of members: (name or header, content)."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as whole:
        for name, content in members:
            info = name if isinstance(name, tarfile.TarInfo) else tarfile.TarInfo(name)
            info.size = len(content)
            whole.addfile(info, io.BytesIO(content))
    return out.getvalue()


def archive(path, files=FILES):
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as whole:
            whole.writestr("deep/", b"")
            for name, content in contents(files).items():
                whole.writestr(name, content)
    else:
        path.write_bytes(PACKED[path.name.partition(".")[2]](tarred(*contents(files).items())))
    return path


def read(*paths, **options):
    """Return the texts of inputs by id, and what was left out."""
    opened = open_sources(paths, **options)
    rows = {
        row.get("id", split.label(number)) if split.form.rows_are_files else split.label(number): row["text"]
        for split in opened for number, row in split.records()
    }  # fmt: skip
    return rows, opened.skipped.counts


def test_an_archive_is_read_as_the_folder_it_was_made_of(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, content in contents(FILES).items():
        Path("in", name).parent.mkdir(parents=True, exist_ok=True)
        Path("in", name).write_bytes(content)
    folder = read("in")
    result = la.dedup("in", width=3)
    assert result.removed["resemblance"].to_pylist() == [pytest.approx(10 / 11), 1.0]
    for kind in KINDS:
        name = archive(tmp_path / f"in.{kind}").name
        packed = read(name)
        again = la.dedup(name, width=3)
        out = Path(f"out-{kind}")
        assert {key.replace("in/", f"{name}/"): text for key, text in folder[0].items()} == packed[0]
        assert folder[1] == packed[1] == {"other_suffix": 1}
        assert again.removed["resemblance"].equals(result.removed["resemblance"])
        again.write(f"{out}/")
        assert names(out / name) == ["a.txt", "d.md", "deep/c.jsonl.gz"] and (out / name / "a.txt").read_text() == A


def test_globs_choose_in_an_archive_that_is_named_and_archives_in_a_folder(tmp_path):
    named = archive(tmp_path / "x.zip")
    archive(tmp_path / "y.tar")
    (tmp_path / "z.md").write_text(A)
    for path, glob, name in ((named, "deep/*.txt", "b.txt"), (tmp_path, "*.md", "z.md")):
        assert [key.split("/")[-1] for key in read(path, glob=glob)[0]] == [name]
    found, left = read(tmp_path, glob="*.tar")
    assert len(found) == 4 and left == {"not_matched": 2, "other_suffix": 1}
    assert len(read(tmp_path)[0]) == 9


def test_a_format_that_is_named_is_that_of_what_is_inside(tmp_path):
    named = archive(tmp_path / "x.zip", {"notes": A, "more.log": B})
    assert_raises(InputDataError, r"x.zip: the archive holds no file with a known suffix .* 1 .log: of no known", read, named)
    found, _ = read(named, format="txt", glob="*")
    assert sorted(found.values()) == sorted([A, B])


def test_names_that_lead_out_are_counted_and_never_followed(tmp_path):
    """Of files of one name the last counts."""
    given = ["../up.txt", "/etc/x.txt", "a/../../b.txt", "./ok.txt", "a//c.txt", ".hidden.txt", "__MACOSX/._ok.txt"]
    (tmp_path / "x.tar").write_bytes(tarred(*((name, name.encode()) for name in given)))
    opened = open_sources(["x.tar"])
    (split,) = opened
    assert [place.relative for place in split.places] == ["x.tar/a/c.txt", "x.tar/etc/x.txt", "x.tar/ok.txt"]
    assert opened.skipped.counts == {"odd_member": 2, "hidden": 2}
    (tmp_path / "x.tar").write_bytes(tarred(("a.txt", b"old"), ("b.txt", b"other"), ("./a.txt", b"new")))
    found, left = read(tmp_path / "x.tar")
    assert found == {f"{tmp_path}/x.tar/a.txt": "new", f"{tmp_path}/x.tar/b.txt": "other"} and left == {"replaced": 1}


def test_links_devices_archives_and_what_is_encrypted_are_counted(tmp_path):
    members = [("a.txt", A.encode()), ("in.tar.gz", b"archive")]
    kinds = {"l.txt": tarfile.SYMTYPE, "h.txt": tarfile.LNKTYPE, "n.txt": tarfile.CHRTYPE, "d": tarfile.DIRTYPE}
    for name, kind in kinds.items():
        info = tarfile.TarInfo(name)
        info.type, info.linkname = kind, "/etc/passwd"
        members.append((info, b""))
    (tmp_path / "x.tar").write_bytes(tarred(*members))
    packed = bytearray(archive(tmp_path / "y.zip", {"a.txt": A, "b.txt": B}).read_bytes())
    packed[packed.rindex(b"PK\1\2") + 8] |= 1  # the last entry of the directory
    (tmp_path / "y.zip").write_bytes(packed)
    with zipfile.ZipFile(tmp_path / "z.zip", "w") as out:
        link = zipfile.ZipInfo("l.txt")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        out.writestr(link, "/etc/passwd")
        out.writestr("a.txt", A)
    for name, left in (
        ("x.tar", {"linked_twice": 2, "not_regular": 1, "nested": 1}),
        ("y.zip", {"encrypted": 1}),
        ("z.zip", {"linked_twice": 1}),
    ):
        assert read(tmp_path / name) == ({f"{tmp_path}/{name}/a.txt": A}, left)


def test_data_sets_in_archives_lose_their_descriptions(tmp_path):
    files = {"set/state.json": "{}", "set/dataset_info.json": "{}", "other/state.json": '{"text": "kept"}'}
    out = io.BytesIO()
    with pa.ipc.new_stream(out, pa.schema({"text": pa.string()})) as stream:
        stream.write(pa.record_batch({"text": [A]}))
    (tmp_path / "x.tar").write_bytes(tarred(*contents(files).items(), ("set/data-0.arrow", out.getvalue())))
    assert sorted(read(tmp_path / "x.tar")[0].values()) == ["kept", A]


def test_an_archive_that_is_cut_anywhere_is_an_error(tmp_path):
    for kind in KINDS:
        whole = archive(tmp_path / f"x.{kind}").read_bytes()
        cut = tmp_path / f"cut.{kind}"
        step = max(1, len(whole) // 40)
        for place in range(512, len(whole.rstrip(b"\0")), 512) if kind == "tar" else range(1, len(whole) - 1, step):
            cut.write_bytes(whole[:place])
            with pytest.raises(InputDataError, match="cut"):
                open_sources([cut])
                pytest.fail(f"{kind}, {place} of {len(whole)} bytes")


def test_damage_is_an_error_that_names_the_archive_or_changes_content_alone(tmp_path):
    rng = random.Random(1)
    for kind in ("zip", "tar", "tgz"):
        path = archive(tmp_path / f"x.{kind}")
        whole = path.read_bytes()
        for _ in range(60):
            damaged = bytearray(whole)
            damaged[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
            path.write_bytes(damaged)
            try:
                opened = open_sources([path])
            except InputDataError as error:
                assert path.name in str(error)
            else:
                assert opened.skipped.counts.total() + sum(len(split.places) for split in opened) == len(FILES)


def test_what_follows_the_end_and_headers_that_would_fill_the_memory_are_refused(tmp_path):
    info = tarfile.TarInfo("a.txt")
    info.type, info.size = tarfile.XHDTYPE, 1 << 30
    for said, content in (
        ("more after the archive's end", tarred(("a.txt", b"text")) + tarred(("b.txt", b"more"))),
        (r"x.tar: .*a header takes 1,073,741,824 bytes", info.tobuf() + b"0" * (6 << 20)),
    ):
        (tmp_path / "x.tar").write_bytes(content)
        assert_raises(InputDataError, said, open_sources, ["x.tar"])


def test_archives_become_no_larger_than_there_is_reason_and_room_for(tmp_path, monkeypatch):
    bomb = archive(tmp_path / "x.zip", {f"{i}.txt": "0" * 3_000_000 for i in range(3)})
    assert len(read(bomb)[0]) == 3
    monkeypatch.setattr(rooms, "_EXPANSION", 500)
    monkeypatch.setattr(rooms, "_SMALL", 0)
    assert_raises(InputDataError, r"x.zip: .* more than 500 times as large", open_sources, [bomb])
    monkeypatch.setattr(rooms, "_EXPANSION", 1000)
    monkeypatch.setattr("shutil.disk_usage", lambda path: namedtuple("U", "free")(rooms._ROOM + 2_000_000))
    assert_raises(
        OutputError, r"x.zip cannot be unpacked .* 3,000,000 bytes, for which there is no room; .*TMPDIR", open_sources, [bomb]
    )


def test_copies_go_when_nobody_needs_them(tmp_path, monkeypatch):
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    opened = open_sources([archive(tmp_path / "x.zip")])
    assert len(names("tmp")) == 4
    del opened
    gc.collect()
    assert os.listdir("tmp") == []


def test_a_job_is_known_again_and_its_archive_is_protected(tmp_path):
    path = archive(tmp_path / "x.zip")

    def identities():
        return [split.identity() for split in open_sources([path])]

    first = identities()
    assert first == identities()
    assert {name for split in open_sources([path]) for place in split.places for name in place.names()} == {path}
    os.utime(path, ns=(1, 1))
    assert first != identities()


def test_an_archive_twice_is_an_error_and_a_damaged_one_says_what_to_do(tmp_path):
    path = archive(tmp_path / "x.zip")
    assert_raises(InputDataError, "given twice", open_sources, [path, path])
    path.write_bytes(b"no archive")
    assert_raises(InputDataError, r"x.zip: .*damaged.*exclude=", open_sources, [tmp_path])
