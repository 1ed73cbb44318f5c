"""A reader of our binary files, written from the description of their layout, and files to read."""

import json
import struct
from zlib import crc32

import numpy as np

import lookalike as la
from lookalike.files.arrays import ArrayFile, GrowingFile, write_arrays
from lookalike.files.layout import FileType, open_regular, read_pieces

GROWING = FileType(magic=b"TESTFILE", version=1, name="tests", error=la.errors.InputDataError, links=True)


def twin(data, magic=b"LOOKAARR"):
    """The sections of a file, read as the description of the layout says."""
    sections = []
    at = 0
    while at < len(data):
        kind, version, crc, length = struct.unpack("<8sIIQ", data[at : at + 24])
        header = data[at + 24 : at + 24 + length]
        assert kind == magic and version == 1 and crc32(header) == crc and (24 + length) % 64 == 0
        said = json.loads(header.decode())
        assert said.get("at", 0) == at and ("at" in said) == (at > 0)
        begin = end = at + 24 + length
        found = {}
        for name, dtype, shape, offset, checksum in said["arrays"]:
            raw = data[begin + offset : begin + offset + np.dtype(dtype).itemsize * int(np.prod(shape, dtype=object))]
            assert offset % 64 == 0 and begin + offset == end and f"{crc32(raw):08x}" == checksum
            found[name] = (dtype, shape, raw)
            padded = -(-len(raw) // 64) * 64
            assert not any(data[end + len(raw) : end + padded])
            end += padded
        sections.append((said["meta"], found))
        at = end
    assert at == len(data)
    return sections


def described(found):
    return {name: (a.dtype.newbyteorder("<").str, list(a.shape), a.tobytes()) for name, a in found.items()}


def grown(path):
    """A file of three batches, opened anew."""
    return GrowingFile(path, GROWING, accepts)


def accepts(first, section):
    return set(section.entries) == (set() if section is first else {"a", "b"}) and first.meta == {"of": "tests"}


def batch(n):
    return {"a": np.arange(n, dtype=np.uint64) + np.uint64(n), "b": np.full((n, 2), n, np.int16)}


def add(file, n, fits=lambda meta: None):
    return file.append(batch(n), {"of": "tests"}, fits)


def content(path):
    """What the batches of a file hold, every byte checked."""
    file = grown(path)
    with open_regular(path, GROWING) as stream:
        return [
            [np.concatenate(list(read_pieces(stream, path, GROWING, section, name, 2))).tolist() for name in "ab"]
            for section in file.sections[1:]
        ]


def wanted(*sizes):
    return [[a.tolist() for a in batch(n).values()] for n in sizes]


def three_batches(tmp_path):
    path = tmp_path / "grown"
    file = grown(path)
    assert not path.exists() and file.sections == ()
    for n in (3, 9, 1):
        add(file, n)
    return path


def whole_file(tmp_path):
    """A file of one section, and how all of it is read."""
    write_arrays(tmp_path / "x", {"a": np.arange(5, dtype=np.uint16), "b": np.array([True, False])}, {"m": 1})
    return tmp_path / "x", lambda: (ArrayFile(tmp_path / "x").check(), dict(ArrayFile(tmp_path / "x")))[0]
