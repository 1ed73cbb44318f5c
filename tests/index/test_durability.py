"""What returned is on the disk: files and the folders that name them were synced before."""

import os

import numpy as np
import pytest

import lookalike as la


@pytest.fixture
def synced(monkeypatch):
    paths = []
    fsync = os.fsync

    def record(file):
        paths.append(os.readlink(f"/proc/self/fd/{file}"))
        fsync(file)

    monkeypatch.setattr(os, "fsync", record)
    return paths


def test_a_new_index_is_named_on_the_disk(tmp_path, synced):
    folder = tmp_path / "a" / "b"
    with la.Index.create(folder):
        assert {str(tmp_path), str(tmp_path / "a"), str(folder)} <= set(synced)
        assert synced[-1] == str(folder), "its manifest has its name"


@pytest.mark.parametrize("change", [
    lambda index: index.add(["b"], ["four five six"]), lambda index: index.remove(["a"]),
    lambda index: index.add(["a"], ["seven"], replace=True),
])  # fmt: skip
def test_changes_end_with_the_manifest_on_the_disk(tmp_path, synced, change):
    with la.Index.create("x") as index:
        index.add(["a", "c"], ["one two three", "three four"])
        synced.clear()
        change(index)
        folder = str(tmp_path / "x")
        manifest = next(i for i, path in enumerate(synced) if "manifest" in path)
        assert synced[-1] == folder and synced.index(folder) < manifest, "files first, then what names them"


def test_a_new_file_of_fingerprints_is_named_on_the_disk(tmp_path, synced):
    file = la.search.FingerprintFile("seen.fps")
    file.append(np.arange(3, dtype=np.uint64))
    assert synced == [str(tmp_path / "seen.fps")] * 2 + [str(tmp_path)], "data, then head, then the name"
    synced.clear()
    file.append(np.arange(3, dtype=np.uint64))
    assert synced == [str(tmp_path / "seen.fps")] * 2
