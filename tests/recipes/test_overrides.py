"""Documents that people keep or remove by hand: what that changes in a result, and what it does not."""

import hashlib
import os
from contextlib import closing

import pyarrow as pa
import pytest
from engine_kinds import KINDS, prepare
from json_lines import write_lines

import lookalike as la
from lookalike.errors import InputDataError, ParameterError

PAGE = [f"word{i}" for i in range(60)]
A, A2, A3, B = " ".join(PAGE), " ".join([*PAGE, "more"]), " ".join([*PAGE, "other"]), "nothing like that"


def keep(*ids):
    return [{"id": name, "action": "keep"} for name in ids]


def remove(*ids):
    return [{"id": name, "action": "remove"} for name in ids]


def reasons(result):
    """Reason and, of a removed document, the one it names."""
    return [(row["reason"], row["duplicate_of"]) for row in result.decisions.to_pylist() if row["reason"] != "reference"]


def file_of(path, texts, ids=None):
    """A file of JSON lines, and its digest."""
    rows = [{"text": text} | ({} if ids is None else {"id": ids[i]}) for i, text in enumerate(texts)]
    write_lines(path, rows)
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_one_that_is_removed_stands_for_nobody():
    """Its copies and near-duplicates are judged without it."""
    result = la.dedup([A, A, A2, B], overrides=remove(0))
    assert reasons(result) == [("override", None), ("kept", None), ("near", 1), ("kept", None)]
    row = result.decisions.to_pylist()[0]
    wanted = dict.fromkeys(("keeper", "cluster", "resemblance", "duplicate_source", "duplicate_is_reference"))
    wanted |= {"override": "remove", "kept": False, "bytes": len(A)}
    assert {name: row[name] for name in wanted} == wanted
    assert result.removed.to_pylist()[0] == {"id": 0, "duplicate_of": None, "resemblance": None}
    assert result.clusters.tolist() == [0, 1, 1, 3] and result.annotations["cluster"].to_pylist() == [None, 1, 1, 3]
    assert result.groups.to_pylist() == [{"id": 1, "n_exact": 0, "n_duplicates": 1, "duplicates": [2]}]
    s = result.summary
    assert (s.documents, s.exact_duplicates, s.near_duplicates, s.kept, s.removed_by_override) == (4, 0, 1, 2, 1)
    assert "removed by overrides                 1" in str(s) and "named by overrides" not in str(s)
    told = la.dedup(["", "!", "", B], empty="drop", overrides=keep(0) + remove(1)).summary
    assert (told.empty, told.empty_dropped, told.removed_by_override) == (2, 1, 1) and "(1 named by overrides)" in str(told)


@pytest.mark.parametrize("kind", KINDS)
def test_ids_of_files_and_what_they_depend_on(kind, monkeypatch, tmp_path):
    """With ids made from file and row, the file must be the one that they were given for."""
    files = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    digests = [file_of(files[0], [A, B]), file_of(files[1], [A2, A3])]
    by_hand = [
        {"id": f"{files[1]}:1", "action": "keep", "input": "b.jsonl", "sha256": digests[1].upper()},
        {"id": f"{files[0]}:2", "action": "remove", "sha256": digests[0]},
    ]
    with closing(la.dedup(files, overrides=by_hand, **prepare(kind, monkeypatch))) as result:
        assert [reason for reason, _ in reasons(result)] == ["kept", "override", "kept", "near"]
    more = prepare(kind, monkeypatch)
    said = rf"overrides, row 1: '.*b\.jsonl:1' is for an input with the SHA-256 digest {'0' * 64}; .*b\.jsonl has {digests[1]}"
    with pytest.raises(InputDataError, match=said):
        la.dedup(files, overrides=[by_hand[0] | {"sha256": "0" * 64}], **more)


def test_a_digest_is_needed_where_ids_are_made(tmp_path):
    digest = file_of(tmp_path / "a.jsonl", [A, B], ["x", "y"])
    with pytest.raises(InputDataError, match=rf"row 1: '.*a\.jsonl:1' is made from file and row; .*\(.*a\.jsonl: {digest}\)"):
        la.dedup(tmp_path / "a.jsonl", overrides=keep(f"{tmp_path}/a.jsonl:1"))
    stale = [{"id": "x", "action": "remove", "input": "elsewhere", "sha256": "0" * 64}]
    assert reasons(la.dedup(tmp_path / "a.jsonl", id="id", overrides=stale))[0] == ("override", None), (
        "a column of ids needs none"
    )
    with pytest.raises(InputDataError, match="input has none, because it is not a file"):
        la.dedup([A, B], overrides=[{"id": 0, "action": "keep", "sha256": digest}])


def test_a_folder_of_texts(tmp_path):
    """The digest is that of what sha256sum prints of all files, as a report says it."""
    for name, text in (("a", A), ("b", A2), ("c", B)):
        (tmp_path / f"{name}.txt").write_text(text)
    printed = "".join(f"{hashlib.sha256(p.read_bytes()).hexdigest()}  {p}\n" for p in sorted(tmp_path.iterdir()))
    entry = {"id": f"{tmp_path}/b.txt", "action": "keep", "sha256": hashlib.sha256(printed.encode()).hexdigest()}
    assert la.dedup(tmp_path, overrides=[entry]).keep.all()


@pytest.mark.parametrize("kind", KINDS)
def test_ids_that_no_document_has(kind, monkeypatch):
    table = pa.table({"text": [A, A2, B], "id": [1, 2, 3]})
    said = r"no document has the id '4' \(overrides, row 2\), '5' \(overrides, row 3\), '6' \(overrides, row 4\) and 1 more$"
    with pytest.raises(InputDataError, match=said):
        la.dedup(table, id="id", overrides=keep(1, 4, 5, 6, "\ud800"), **prepare(kind, monkeypatch))
    with pytest.raises(InputDataError, match=r"no document has the id '1' .*; reference documents cannot be overridden"):
        la.dedup(table.slice(1), against=table.slice(0, 1), id="id", overrides=remove(1), **prepare(kind, monkeypatch))


def test_an_id_that_two_files_share(tmp_path):
    """Names of files that are no UTF-8 are shown with escapes, which another name may have as they are."""
    names = [b"\xff.jsonl", b"\\xff.jsonl"]
    for name in names:
        with open(os.path.join(os.fsencode(tmp_path), name), "w") as file:
            file.write('{"text": "a b c d e f"}\n')
    result = la.dedup(tmp_path)
    (shared,) = {row["id"] for row in result.decisions.to_pylist()}
    with pytest.raises(InputDataError, match="row 1: two documents have the id '.*xff.jsonl:1'; name a column of ids"):
        la.dedup(tmp_path, overrides=keep(shared))


def test_a_job_that_is_resumed_has_the_same_overrides(tmp_path):
    file_of(tmp_path / "in.jsonl", [A, A2, B], ["a", "b", "c"])
    path, given = write_lines(tmp_path / "o.jsonl", keep("b")), {"id": "id", "work": tmp_path / "work"}
    la.dedup(tmp_path / "in.jsonl", overrides=path, **given)
    for other in (None, remove("b")):
        with pytest.raises(ParameterError, match="other parameters or inputs: overrides"):
            la.dedup(tmp_path / "in.jsonl", overrides=other, **given)
    with closing(la.dedup(tmp_path / "in.jsonl", overrides=str(path), **given)) as again:
        assert again.keep.all()
