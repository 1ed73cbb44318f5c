"""References: every pair with one is listed, and everything that names a document says whether it is one."""

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from json_lines import read_lines, write_lines
from listing import find_pairs
from naive import walk as naive

import lookalike as la

BASES = [" ".join(f"{letter}{i}" for i in range(60)) for letter in "ab"]
TEXTS = ["", "!", *BASES, *(f"{base} more" for base in BASES), *(f"{base}  more!" for base in BASES)]
SHINGLES = la.shingle(TEXTS)
SETS = [set(SHINGLES.row(i).tolist()) for i in range(len(TEXTS))]
documents = st.lists(st.tuples(st.integers(0, len(TEXTS) - 1), st.sampled_from(["x", "y", None])), max_size=7)


def table(some):
    return pa.table(
        {"text": pa.array([TEXTS[i] for i, _ in some], pa.string()), "g": pa.array([g for _, g in some], pa.string())}
    )


def expected_pairs(references, inputs, within):
    """By brute force: (left, right, left is reference) of all pairs but those of two references."""
    some = [(i, g, n, True) for n, (i, g) in enumerate(references)] + [(i, g, n, False) for n, (i, g) in enumerate(inputs)]
    found = set()
    for place, right in enumerate(some):
        for left in some[:place]:
            alike = SETS[left[0]] and naive.resemblance(SETS[left[0]], SETS[right[0]]) >= 0.7
            if not right[3] and alike and (left[1] == right[1] or not within):
                found.add((left[2], right[2], left[3]))
    return found


@given(documents, documents, st.booleans(), st.sampled_from(["minhash", "simhash"]))
@example([(2, "x"), (4, "x")], [(2, "x")], False, "minhash")
@example([(2, "x"), (2, "x"), (4, "y")], [(2, "y"), (4, "x"), (2, "x")], True, "minhash")
def test_pairs_against_references_are_those_of_brute_force(references, inputs, within, method):
    expected = expected_pairs(references, inputs, within)
    settings = {"threshold": 0.7, "recall": 0.999999, "within": "g" if within else None, "method": method, "radius": 16}
    found = find_pairs(table(inputs), against=table(references), **settings)
    columns = [found.table[name].to_pylist() for name in ("left_id", "right_id", "left_is_reference")]
    listed = list(zip(*columns, strict=True))
    assert len(listed) == len(set(listed)) and set(listed) == expected
    assert (found.summary["documents"], found.summary["reference"]) == (len(inputs), len(references))
    assert found.summary["empty"] == sum(not SETS[i] for i, _ in inputs)
    for limit in (1, 2):
        cut = find_pairs(table(inputs), against=table(references), max_pairs=limit, **settings)
        assert len(cut.table) == min(limit, len(expected))
        assert cut.summary["cut_by_max_pairs"] == (len(expected) > limit)


@pytest.fixture
def files(tmp_path):
    """A reference and an input that share the id "p", and a file without documents."""
    old = write_lines(tmp_path / "old.jsonl", [{"id": "p", "text": BASES[0]}, {"id": "q", "text": "unlike all others"}])
    new = [{"id": "p", "text": BASES[1]}, {"id": "r", "text": BASES[1] + " more"}, {"id": "s", "text": BASES[0] + " more"}]
    return old, write_lines(tmp_path / "new.jsonl", [*new, {"id": "t", "text": ""}]), write_lines(tmp_path / "empty.jsonl", [])


def test_an_id_of_a_reference_is_told_from_the_same_id_of_the_input(files, tmp_path):
    old, new, _ = files
    result = la.dedup(new, against=old, id="id", empty="drop")
    assert [tuple(row.values())[:4] for row in result.removed.to_pylist()] == [
        ("r", "p", str(new), False), ("s", "p", str(old), True), ("t", None, None, None)]  # fmt: skip
    assert result.removed.column_names == ["id", "duplicate_of", "duplicate_source", "duplicate_is_reference", "resemblance"]
    pairs = result.pairs.select(["left_id", "right_id", "left_is_reference"]).to_pylist()
    assert [tuple(pair.values()) for pair in pairs] == [("p", "s", True), ("p", "r", False)]
    assert "s  ->  p (reference)" in str(result.summary) and "r  ->  p\n" in str(result.summary)
    result.write(tmp_path / "out.jsonl", annotate=True)
    clusters = [(row["cluster"], row["cluster_is_reference"]) for row in read_lines(tmp_path / "out.jsonl")]
    assert clusters == [("p", False), ("p", False), ("p", True), (None, None)]


def test_the_source_of_a_reference(tmp_path):
    """In memory there is none; a text file is its own."""
    row = la.dedup([BASES[0]], against=[BASES[1], BASES[0]]).removed.to_pylist()[0]
    assert row == {"id": 0, "duplicate_of": 1, "duplicate_source": None, "duplicate_is_reference": True, "resemblance": 1.0}
    for name, text in (("old/a", BASES[1]), ("old/b", BASES[0]), ("new/c", BASES[0])):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.txt").write_text(text)
    row = la.dedup(tmp_path / "new", against=tmp_path / "old").removed.to_pylist()[0]
    assert row["duplicate_source"] == row["duplicate_of"] == str(tmp_path / "old/b.txt")


def test_an_empty_reference_file_changes_nothing_but_the_columns(files, tmp_path):
    _, new, empty = files
    alone, beside = la.dedup(new, id="id"), la.dedup(new, against=empty, id="id")
    assert beside.removed.select(alone.removed.column_names) == alone.removed
    assert beside.removed["duplicate_is_reference"].to_pylist() == [False]
    beside.write(tmp_path / "folder")
    assert sorted(p.name for p in (tmp_path / "folder").iterdir()) == ["_lookalike.json", "new.jsonl"]


def test_a_column_that_annotation_would_add_is_refused(files, tmp_path):
    taken = write_lines(tmp_path / "taken.jsonl", [{"text": "a b", "duplicate_source": 1}])
    with pytest.raises(la.errors.InputDataError, match="duplicate_source"):
        la.dedup(taken, against=files[0], annotate=True)
    la.dedup(taken, annotate=True).write(tmp_path / "out.jsonl", annotate=True)
