"""Digests of files are those that other programs print."""

import subprocess
from hashlib import sha256

import pytest

import lookalike as la
from lookalike.files.inputs import Skipped, digest_of, find_places


def places(*paths):
    return find_places(list(paths), None, "txt", {"txt": [".txt"]}, Skipped())


def test_one_file_and_several(tmp_path):
    paths = [tmp_path / "a.txt", tmp_path / "é b.txt"]
    paths[0].write_bytes(b"one")
    paths[1].write_bytes(bytes(range(256)) * 999)
    assert digest_of([]) is None
    assert digest_of(places(*paths[:1])) == sha256(b"one").hexdigest()
    printed = subprocess.run(["sha256sum", *paths], capture_output=True, check=True).stdout
    assert digest_of(places(*paths)) == sha256(printed).hexdigest()


def test_a_file_that_is_gone(tmp_path):
    (tmp_path / "a.txt").write_text("one")
    found = places(tmp_path / "a.txt")
    (tmp_path / "a.txt").unlink()
    with pytest.raises(la.InputDataError, match=r"a\.txt: cannot be read: No such file"):
        digest_of(found)
