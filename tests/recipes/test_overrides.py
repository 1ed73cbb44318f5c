"""Documents that people keep or remove by hand, where ids are odd; tests/jobs/overrides.job has what that changes."""

import hashlib
import os
from contextlib import closing

import pytest
from engine_kinds import KINDS, prepare
from json_lines import write_lines

import lookalike as la
from lookalike.errors import InputDataError

A, B = " ".join(f"word{i}" for i in range(60)), "nothing like that"
KEEP = {"action": "keep"}


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("kind", KINDS)
def test_ids_of_files_and_what_they_depend_on(kind, monkeypatch, tmp_path):
    """With ids made from file and row, the file must be the one that they were given for; with a column of ids none need be."""
    files = [
        write_lines(tmp_path / f"{name}.jsonl", [{"text": text, "id": f"{name}{i}"} for i, text in enumerate(some)])
        for name, some in (("a", [A, B]), ("b", [f"{A} more", f"{A} other"]))
    ]
    by_hand = [
        KEEP | {"id": f"{files[1]}:1", "input": "b.jsonl", "sha256": digest(files[1]).upper()},
        {"id": f"{files[0]}:2", "action": "remove", "sha256": digest(files[0])},
    ]
    with closing(la.dedup(files, overrides=by_hand, **prepare(kind, monkeypatch))) as result:
        assert result.decisions["reason"].to_pylist() == ["kept", "override", "kept", "near"]
    said = rf"row 1: '.*b\.jsonl:1' is for an input with the SHA-256 digest {'0' * 64}; .*b\.jsonl has {digest(files[1])}"
    with pytest.raises(InputDataError, match=said):
        la.dedup(files, overrides=[by_hand[0] | {"sha256": "0" * 64}], **prepare(kind, monkeypatch))
    unknown = [KEEP | {"id": id} for id in ("a0", 4, "\ud800")]
    with pytest.raises(InputDataError, match=r"no document has the id '4' \(overrides, row 2\)"):
        la.dedup(files, id="id", overrides=unknown, **prepare(kind, monkeypatch))
    stale = KEEP | {"id": "b0", "input": "elsewhere", "sha256": "0" * 64}
    with closing(la.dedup(files, id="id", overrides=[stale], **prepare(kind, monkeypatch))) as result:
        assert result.keep.tolist() == [True, True, True, False]


def test_decisions_of_documents_that_are_removed_by_hand():
    result = la.dedup([A, A, f"{A} more", B], overrides=[{"id": 0, "action": "remove"}])
    row = result.decisions.to_pylist()[0]
    assert (row["reason"], row["override"], row["kept"], row["keeper"], row["cluster"]) == (
        "override",
        "remove",
        False,
        None,
        None,
    )
    assert result.clusters.tolist() == [0, 1, 1, 3]
    with pytest.raises(InputDataError, match="input has none, because it is not a file"):
        la.dedup([A, B], overrides=[KEEP | {"id": 0, "sha256": "0" * 64}])


def test_an_id_that_two_files_share(tmp_path):
    """Names of files that are no UTF-8 are shown with escapes, which another name may have as they are."""
    for name in (b"\xff.jsonl", b"\\xff.jsonl"):
        with open(os.path.join(os.fsencode(tmp_path), name), "w") as file:
            file.write('{"text": "a b c d e f"}\n')
    (shared,) = set(la.dedup(tmp_path).decisions["id"].to_pylist())
    with pytest.raises(InputDataError, match="row 1: two documents have the id '.*xff.jsonl:1'; name a column of ids"):
        la.dedup(tmp_path, overrides=[KEEP | {"id": shared}])
