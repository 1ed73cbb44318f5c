"""Whatever bytes the folder of an index holds: an answer or a clear error, no crash, and nothing outside is touched."""

import json
import os
import shutil
import struct
import subprocess
import sys
from itertools import product
from pathlib import Path
from unittest.mock import Mock
from zlib import crc32

import pytest
from cli.commands import contents
from raising import assert_raises
from samples import one_in

import lookalike as la
from lookalike.errors import IndexFormatError, OutputError
from lookalike.files.arrays import ArrayFile

HEAD = struct.Struct("<8sIIQ")
TEXTS = [f"one two three four five six seven eight nine ten w{i}" for i in range(20)]


def filled(path, **given):
    with la.Index.create(path, keep_text=True, **given) as index:
        index.add([f"d{i}" for i in range(10)], TEXTS[:10])
        index.add([f"e{i}" for i in range(10)], TEXTS[10:])
        index.remove(["d3"])
    return path


@pytest.fixture
def path(tmp_path):
    return filled(tmp_path / "x", threshold=0.7)


GONE = object()


def put(held, *names, value):
    *way, name = names
    for step in way:
        held = held[step]
    if value is GONE:
        del held[name]
    else:
        held[name] = value(held[name]) if callable(value) else value


def refused(path, *names, value, said="", modes=({},)):
    """An index whose manifest is another, with a checksum that fits, is refused; its manifest is put back."""
    manifest = path / "manifest"
    whole = manifest.read_bytes()
    held = json.loads(whole[9:])
    put(held, *names, value=value)
    body = json.dumps(held).encode()
    manifest.write_bytes(b"%08x\n" % crc32(body) + body)
    for how in modes:
        assert_raises(IndexFormatError, said, la.Index.open, path, **how)
    manifest.write_bytes(whole)


def parts_of(data):
    head = HEAD.unpack(data[: HEAD.size])
    end = HEAD.size + head[3]
    return head, json.loads(data[HEAD.size : end]), end


def write_header(path, *names, value):
    data = path.read_bytes()
    (magic, version, *_), held, end = parts_of(data)
    put(held, *names, value=value)
    text = json.dumps(held).encode()
    text += b" " * (-(HEAD.size + len(text)) % 64)
    path.write_bytes(HEAD.pack(magic, version, crc32(text), len(text)) + text + data[end:])


MODES = ({}, {"mode": "read"}, {"mode": "read", "salvage": True})
NAMES = ["../other/segment-00000000", "/dev/zero", ".", "..", "", "a\0b", "manifest", "lock", "segment-1", "segment-00000000 ",
         "segment-٠٠٠٠٠٠٠٠", "removed-00000000", "x/segment-00000000", 5, None, ["segment-00000000"], {"a": 1}]  # fmt: skip
WRONG = [None, -1, 10**30, 1.5, float("nan"), "x", True, [], [1], {}, {"x": 1}]
SHARED = ["kind", "threshold", "recall", "unit", "width", "normalization", "fold_case", "seed", "bands", "rows", "shingling"]


def test_entries_of_a_manifest_are_held_against_rules(path, tmp_path):
    """Files of others are not removed, whatever the manifest names."""
    shutil.copytree(path, tmp_path / "other")
    before = contents(tmp_path)
    masks = [name for name in NAMES if name not in (None, "removed-00000000")]
    for name, values in {"file": NAMES, "removed": masks, "rows": WRONG, "n_removed": WRONG, "strange": WRONG}.items():
        for value in values:
            refused(path, "segments", 0, name, value=value, said="manifest", modes=MODES)
            assert contents(tmp_path) == before


def test_fields_of_a_manifest_are_held_against_rules(path, tmp_path):
    """Without probes an index is an exact one, and 1.5 bits are a mixture."""
    probed, packed = tmp_path / "probed", tmp_path / "packed"
    la.Index.create(probed, kind="simhash", probes=23).close()
    la.Index.create(packed, bits=2, slots=64).close()
    fine = [("keep_text", True), ("segments", []), ("fold_case", True), ("seed", 0), ("bits", 1.5), ("probes", GONE)]
    for folder, way, names, more in (
        (path, [], ["version"], [10**9, 0, 3.0]),
        (path, ["parameters"], SHARED, [10**9, 0]),
        (path, [], ["parameters", "keep_text", "ids", "next", "segments", "format"], []),
        (probed, ["parameters"], ["probes"], [10**9, 0, 3.0]),
        (packed, ["parameters"], ["bits", "slots"], [10**9, 0, 3.0]),
    ):
        for name, value in product(names, [*WRONG, *more, GONE]):
            if (name, value) not in fine:
                said = "newer than 1.*upgrade" if (name, value) == ("version", 10**9) else ""
                refused(folder, *way, name, value=value, said=said)
    for *names, value in (
        ("parameters", lambda held: held | {"more": 1}), ("parameters", "seed", 2), ("ids", None), ("next", 1), ("keep_text", False),
        ("segments", lambda held: [*held, held[1]]), ("segments", 0, "n_removed", 2), ("segments", 1, "rows", 9),
    ):  # fmt: skip
        refused(path, *names, value=value)


FORMS = [("arrays", []), ("arrays", 5), ("meta", 5), ("meta", GONE), ("meta", "rows", 10**15), ("meta", "rows", "10"),
         ("meta", "full", GONE), ("meta", "full", 11), ("meta", "parameters", "seed", 9), ("arrays", lambda held: held[::-1]),
         ("arrays", lambda held: [*held, held[0]]), ("arrays", 0, lambda held: [*held, 1])]  # fmt: skip
DESCRIBED = (
    ("codes", "other", 5, None), ("|O", "zz", "<f8", ">u8", "<u1", "<M8[s]", 5, None, []),
    ([], [-1], [10**18], [10**30], [0, 10**18], [3], "10", None, [10.0], [True], [[10]], [10, 256, 1]),
    (-64, 0.0, 10**15, 10**30, "0", None, 64, 7), ("xyzxyzxy", 5, None, "-0000001"),
)  # fmt: skip


def test_headers_of_segments_are_held_against_rules(path):
    """Of each array its name, type, shape, place and checksum; and the form of the header."""
    segment = path / "segment-00000000"
    whole, wrong = segment.read_bytes(), list(FORMS)
    for number, array in enumerate(ArrayFile(segment)):
        if "-" not in array or array.endswith("-00"):
            wrong += [("arrays", number, place, value) for place, values in enumerate(DESCRIBED) for value in values
                      if (array, value) not in (("id_bytes", [3]), ("band_keys-00", 0.0))]  # fmt: skip
    for *names, value in wrong:
        write_header(segment, *names, value=value)
        if segment.read_bytes() != whole:
            assert_raises(IndexFormatError, "segment-00000000", la.Index.open, path, "read")
            segment.write_bytes(whole)


def test_links_pipes_and_folders_are_not_followed(path, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    for name in ("segment-00000000", "removed-00000003", "manifest", "lock"):
        odd = path / name
        odd.rename(elsewhere)
        for make, remove in ((lambda p: p.symlink_to(elsewhere), os.unlink), (os.mkfifo, os.unlink), (os.mkdir, os.rmdir)):
            make(odd)
            assert_raises((IndexFormatError, OutputError), "", la.Index.open, path)
            remove(odd)
        elsewhere.rename(odd)
    with la.Index.open(path) as index:
        assert index.check() == []


def test_a_folder_that_is_no_index_is_not_written_to(tmp_path):
    (tmp_path / "segment-00000000").write_bytes(b"somebody's")
    for content in (None, b"", b"hello", b"00000000\n{}", b"[" * 100_000):
        if content is not None:
            (tmp_path / "manifest").write_bytes(content)
        before = contents(tmp_path)
        for how in MODES:
            assert_raises(IndexFormatError, "", la.Index.open, tmp_path, **how)
        assert contents(tmp_path) == before
    assert_raises(OutputError, "not an empty folder", la.Index.create, tmp_path)
    assert contents(tmp_path) == before


def test_leftovers_are_told_from_the_files_of_others(path):
    ours = ["segment-99999999", "removed-00000099", ".segment-00000009.1234567-0a1b2c3d.tmp", ".manifest.1234567-0a1b2c3d.tmp"]
    others = ["segment-notes.txt", "removed-1", ".manifest.swp", "segment-00000000.bak", ".segment-00000001.tmp"]
    for name in ours + others:
        (path / name).write_bytes(b"x")
    (path / "segment-88888888").mkdir()
    la.Index.open(path, "read").close()
    assert {*ours, *others} <= {*os.listdir(path)}, "a reader changes nothing"
    la.Index.open(path).close()
    assert {*ours, *others} & {*os.listdir(path)} == {*others}


def flip(path, array, place, mask):
    data = bytearray(path.read_bytes())
    _, held, end = parts_of(data)
    (offset,) = (one[3] for one in held["arrays"] if one[0] == array)
    data[end + offset + place] ^= mask
    path.write_bytes(data)


def test_damage_is_never_merged(path):
    """Neither by compacting nor by an addition that would merge."""
    flip(path / "segment-00000000", "text_offsets", 8, 0x40)
    with la.Index.open(path) as index:
        [before] = index.check()
        assert_raises(IndexFormatError, "segment-00000000", index.compact)
        for k in range(8):
            index.add([f"new{k}-{i}" for i in range(12)], [f"another text number {k} and {i} here" for i in range(12)])
        files = contents(path)
        assert_raises(IndexFormatError, "segment-00000000", index.add, ["one more"], ["than there can be without merging"])
        assert contents(path) == files and len(index) == 115 and index.check() == [before]
    with la.Index.open(path, "read", salvage=True) as rest:
        assert rest.damaged == rest.check() == [before] and len(rest) == 106


ROT = """
import sys, numpy as np, lookalike as la
from pathlib import Path
from unittest.mock import Mock
sys.path[:0] = [sys.argv[2], f"{sys.argv[2]}/.."]
from test_hostile import TEXTS, flip
path, rng = Path(sys.argv[1]), np.random.default_rng(5)
segment, errors = path / "segment-00000000", 0
everything = {p: p.read_bytes() for p in path.iterdir()}
names = ["band_rows-00", "band_starts-00", "id_rows-00", "id_offsets", "id_starts-00", "text_offsets", "id_keys-00", sys.argv[3]]
for i in range(64):
    name = names[i % len(names)]
    size = 16 if "starts" in name else 40
    flip(segment, name, int(rng.integers(size)), int(rng.integers(1, 256)))
    for use in (lambda index: index.query(TEXTS, top=None), lambda index: index.first(TEXTS, threads=2),
                lambda index: list(index.export()), lambda index: index.query(TEXTS[:3]), lambda index: index.check()):
        with la.Index.open(path, "read") as index:
            try:
                use(index)
            except la.errors.IndexFormatError:
                errors += 1
    with la.Index.open(path) as index:
        for use in (lambda: index.compact(), lambda: index.remove(["d1", "d5"]), lambda: index.add(["d2"], ["x"], replace=True)):
            try:
                use()
            except (la.errors.IndexFormatError, la.errors.ParameterError):
                errors += 1
    for name in path.iterdir():
        name.unlink()
    for name, data in everything.items():
        name.write_bytes(data)
print(errors)
"""


@pytest.mark.parametrize("given", one_in(2, [{"threshold": 0.7}, {"kind": "simhash", "threshold": 0.7, "probes": 23}]))
def test_rot_crashes_nothing(tmp_path, given):
    """Bits flipped where kernels index with what they read: each use answers, or says that the file is damaged."""
    told = [filled(tmp_path / "x", **given), Path(__file__).parent, "band_keys-00" if "probes" in given else "band_keys-03"]
    done = subprocess.run([sys.executable, "-c", ROT, *told], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) > 40


def test_what_is_in_doubt_is_not_written_over(path, monkeypatch):
    """A commit whose last step fails may have happened: the next one uses other names for its files."""
    sync = Mock(side_effect=[None, OutputError("the folder cannot be synced")])  # for the segment, and for the manifest
    with la.Index.open(path) as index:
        monkeypatch.setattr("lookalike.files.atomic.sync_folder", sync)
        assert_raises(OutputError, "", index.add, ["in doubt"], ["a text in doubt"])
        monkeypatch.undo()
        doubt = contents(path)
        index.add(["sure"], ["a text for sure"])
        now = contents(path)
        assert all(now[p] == data for p, data in doubt.items() if p.name != "manifest" and p in now)
        assert index.contains(["sure", "in doubt"]).tolist() == [True, False]
    with la.Index.open(path) as index:
        assert index.check() == [] and len(index) == 20 and not index.query(["a text in doubt"]).num_rows
