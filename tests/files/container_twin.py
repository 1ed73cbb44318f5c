"""Files of our layout: one that grows, and one of one section."""

import numpy as np

import lookalike as la
from lookalike.files.arrays import ArrayFile, GrowingFile, write_arrays
from lookalike.files.layout import FileType, open_regular, read_pieces

GROWING = FileType(magic=b"TESTFILE", version=1, name="tests", error=la.errors.InputDataError, links=True)


def grown(path):
    return GrowingFile(path, GROWING, accepts)


def accepts(first, section):
    return set(section.entries) == (set() if section is first else {"a", "b"}) and first.meta == {"of": "tests"}


def batch(n):
    return {"a": np.arange(n, dtype=np.uint64) + np.uint64(n), "b": np.full((n, 2), n, np.int16)}


def add(file, n, fits=lambda meta: None):
    return file.append(batch(n), {"of": "tests"}, fits)


def content(path):
    """Every byte is checked."""
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
    write_arrays(tmp_path / "x", {"a": np.arange(5, dtype=np.uint16), "b": np.array([True, False])}, {"m": 1})
    return tmp_path / "x", lambda: (ArrayFile(tmp_path / "x").check(), dict(ArrayFile(tmp_path / "x")))[0]
