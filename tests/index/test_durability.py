import os
from functools import partial

import lookalike as la


def test_changes_of_an_index_end_with_the_manifest_on_the_disk(tmp_path, monkeypatch):
    synced, fsync, folder = [], os.fsync, str(tmp_path / "a/b")
    monkeypatch.setattr(os, "fsync", lambda file: synced.append(os.readlink(f"/proc/self/fd/{file}")) or fsync(file))
    with la.Index.create(folder) as index:
        assert {str(tmp_path), str(tmp_path / "a")} <= set(synced) and synced[-1] == folder, "its manifest has its name"
        for change, *given in (
            (index.add, ["a", "c"], ["one two three", "three four"]),
            (index.add, ["b"], ["four five six"]),
            (index.remove, ["a"]),
            (partial(index.add, replace=True), ["b"], ["seven"]),
        ):
            synced.clear()
            change(*given)
            manifest = next(i for i, path in enumerate(synced) if "manifest" in path)
            assert synced[-1] == folder and synced.index(folder) < manifest, "files first, then what names them"
