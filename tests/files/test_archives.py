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
from functools import partial
from pathlib import Path

import document_files
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
refused = partial(assert_raises, InputDataError)


def contents(files):
    return {name: gzip.compress(text.encode()) if name.endswith(".gz") else text.encode() for name, text in files.items()}


def tarred(*members):
    """Members are (name or header, content)."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as whole:
        for name, content in members:
            info = name if isinstance(name, tarfile.TarInfo) else tarfile.TarInfo(name)
            info.size = len(content)
            whole.addfile(info, io.BytesIO(content))
    return out.getvalue()


def archive(path, files=FILES):
    if path.suffix == ".zip":
        path.write_bytes(document_files.archive({"deep/": b"", **contents(files)}))
    else:
        path.write_bytes(PACKED[path.name.partition(".")[2]](tarred(*contents(files).items())))
    return path


def read(path, **options):
    """Texts of an input, by what their names add to its name, and what was left out."""
    opened = open_sources([path], **options)
    rows = {}
    for split in opened:
        for number, row in split.records():
            rows[row.get("id", split.label(number)) if split.form.rows_are_files else split.label(number)] = row["text"]
    return {name.removeprefix(f"{path}/"): text for name, text in rows.items()}, opened.skipped.counts


def test_an_archive_is_read_as_the_folder_it_was_made_of():
    for name, content in contents(FILES).items():
        Path("in", name).parent.mkdir(parents=True, exist_ok=True)
        Path("in", name).write_bytes(content)
    folder, result = read("in"), la.dedup("in", width=3)
    assert result.removed["resemblance"].to_pylist() == [pytest.approx(10 / 11), 1.0] and folder[1] == {"other_suffix": 1}
    for kind in KINDS:
        name = archive(Path(f"in.{kind}")).name
        again = la.dedup(name, width=3)
        assert read(name) == folder and again.removed["resemblance"].equals(result.removed["resemblance"])
        again.write(f"out-{kind}/")
        assert names(f"out-{kind}/{name}") == ["a.txt", "d.md", "deep/c.jsonl.gz"]
        assert Path(f"out-{kind}/{name}/a.txt").read_text() == A


def header(name, kind):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, "/etc/passwd"
    return info, b""


def encrypted():
    packed = bytearray(archive(Path("packed.zip"), {"a.txt": A, "b.txt": B}).read_bytes())
    packed[packed.rindex(b"PK\1\2") + 8] |= 1
    return packed


def linked():
    link = zipfile.ZipInfo("l.txt")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile("linked.zip", "w") as out:
        out.writestr(link, "/etc/passwd")
        out.writestr("a.txt", A)
    return Path("linked.zip").read_bytes()


def data_set():
    """A data set of Arrow, whose descriptions are no documents."""
    with pa.ipc.new_stream(out := io.BytesIO(), pa.schema({"text": pa.string()})) as stream:
        stream.write(pa.record_batch({"text": [A]}))
    state = {"set/state.json": "{}", "set/dataset_info.json": "{}", "other/state.json": '{"text": "kept"}'}
    return tarred(*contents(state).items(), ("set/data-0.arrow", out.getvalue()))


def test_names_that_lead_out_links_and_what_cannot_be_read_are_counted_and_never_followed():
    """Of files of one name the last counts."""
    odd = ["../up.txt", "/etc/x.txt", "a/../../b.txt", "./ok.txt", "a//c.txt", ".hidden.txt", "__MACOSX/._ok.txt"]
    kinds = {"l.txt": tarfile.SYMTYPE, "h.txt": tarfile.LNKTYPE, "n.txt": tarfile.CHRTYPE, "d": tarfile.DIRTYPE}
    links = tarred(("a.txt", A.encode()), ("in.tar.gz", b"archive"), *(header(*one) for one in kinds.items()))
    for name, content, texts, left in (
        (
            "x.tar",
            tarred(*((one, b"x") for one in odd)),
            dict.fromkeys(("a/c.txt", "etc/x.txt", "ok.txt"), "x"),
            {"odd_member": 2, "hidden": 2},
        ),
        (
            "x.tar",
            tarred(("a.txt", b"old"), ("b.txt", b"other"), ("./a.txt", b"new")),
            {"a.txt": "new", "b.txt": "other"},
            {"replaced": 1},
        ),
        ("x.tar", links, {"a.txt": A}, {"linked_twice": 2, "not_regular": 1, "nested": 1}),
        ("x.zip", encrypted(), {"a.txt": A}, {"encrypted": 1}),
        ("x.zip", linked(), {"a.txt": A}, {"linked_twice": 1}),
        ("x.tar", data_set(), {"set/data-0.arrow:1": A, "other/state.json:1": "kept"}, {"marker": 2}),
    ):
        Path(name).write_bytes(content)
        assert read(name) == (texts, left)


def test_an_archive_that_is_cut_anywhere_is_an_error(tmp_path):
    for kind in KINDS:
        whole, cut = archive(Path(f"x.{kind}")).read_bytes(), tmp_path / f"cut.{kind}"
        step = max(1, len(whole) // 40)
        for place in range(512, len(whole.rstrip(b"\0")), 512) if kind == "tar" else range(1, len(whole) - 1, step):
            cut.write_bytes(whole[:place])
            refused("cut", open_sources, [cut])


def test_damage_is_an_error_that_names_the_archive_or_changes_content_alone():
    rng = random.Random(1)
    for kind in ("zip", "tar", "tgz"):
        path = archive(Path(f"x.{kind}"))
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


def test_archives_become_no_larger_than_there_is_reason_and_room_for(monkeypatch):
    """Nor do headers fill the memory."""
    info = tarfile.TarInfo("a.txt")
    info.type, info.size = tarfile.XHDTYPE, 1 << 30
    for said, content in (
        ("more after the archive's end", tarred(("a.txt", b"text")) + tarred(("b.txt", b"more"))),
        (r"x.tar: .*a header takes 1,073,741,824 bytes", info.tobuf() + b"0" * (6 << 20)),
    ):
        Path("x.tar").write_bytes(content)
        refused(said, open_sources, ["x.tar"])
    bomb = archive(Path("x.zip"), {f"{i}.txt": "0" * 3_000_000 for i in range(3)})
    assert len(read(bomb)[0]) == 3
    monkeypatch.setattr(rooms, "_EXPANSION", 500)
    monkeypatch.setattr(rooms, "_SMALL", 0)
    refused(r"x.zip: .* more than 500 times as large", open_sources, [bomb])
    monkeypatch.setattr(rooms, "_EXPANSION", 1000)
    monkeypatch.setattr("shutil.disk_usage", lambda path: namedtuple("U", "free")(rooms._ROOM + 2_000_000))
    said = r"x.zip cannot be unpacked .* 3,000,000 bytes, for which there is no room; .*TMPDIR"
    assert_raises(OutputError, said, open_sources, [bomb])


def test_copies_go_when_nobody_needs_them_and_an_archive_is_known_again_and_protected(tmp_path, monkeypatch):
    Path("tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    path = archive(Path("x.zip"))
    opened = open_sources([path])
    first = [split.identity() for split in opened]
    assert {name for split in opened for place in split.places for name in place.names()} == {path}
    assert len(names("tmp")) == 4
    del opened
    gc.collect()
    assert os.listdir("tmp") == []
    assert first == [split.identity() for split in open_sources([path])]
    os.utime(path, ns=(1, 1))
    assert first != [split.identity() for split in open_sources([path])]
    refused("given twice", open_sources, [path, path])
    path.write_bytes(b"no archive")
    refused(r"x.zip: .*damaged.*exclude=", open_sources, [tmp_path])
