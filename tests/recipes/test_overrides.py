import os

import pytest
from engine_kinds import KINDS, prepare

import lookalike as la
from lookalike.errors import InputDataError

KEEP = {"action": "keep"}


@pytest.mark.parametrize("kind", KINDS)
def test_ids_that_no_document_has_are_named(kind, monkeypatch):
    overrides = [KEEP | {"id": id} for id in ("0", 4, "\ud800")]
    with pytest.raises(InputDataError, match=r"no document has the id '4' \(overrides, row 2\)"):
        la.dedup(["a b c", "d e f"], overrides=overrides, **prepare(kind, monkeypatch))


def test_texts_that_are_removed_by_hand():
    """They have clusters of their own, and ids that no digest fits."""
    assert la.dedup(["a b", "a b", "A b!", "c"], overrides=[{"id": 0, "action": "remove"}]).clusters.tolist() == [0, 1, 1, 3]
    with pytest.raises(InputDataError, match="input has none, because it is not a file"):
        la.dedup(["a b", "c"], overrides=[KEEP | {"id": 0, "sha256": "0" * 64}])


def test_an_id_that_two_files_share(tmp_path):
    """Names of files that are no UTF-8 are shown with escapes, which another name may have as they are."""
    for name in (b"\xff.jsonl", b"\\xff.jsonl"):
        with open(os.path.join(os.fsencode(tmp_path), name), "w") as file:
            file.write('{"text": "a b c d e f"}\n')
    (shared,) = set(la.dedup(tmp_path).decisions["id"].to_pylist())
    with pytest.raises(InputDataError, match="row 1: two documents have the id '.*xff.jsonl:1'; name a column of ids"):
        la.dedup(tmp_path, overrides=[KEEP | {"id": shared}])
