import pyarrow as pa
from hypothesis import example, given
from hypothesis import strategies as st
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
    """(left, right, left is reference) of all pairs but those of two references."""
    some = [(i, g, n, of) for of, those in ((True, references), (False, inputs)) for n, (i, g) in enumerate(those)]
    for place, (right, group, n, is_reference) in enumerate(some):
        for left, other, m, of in some[:place] if SETS[right] and not is_reference else ():
            if naive.resemblance(SETS[left], SETS[right]) >= 0.7 and (group == other or not within):
                yield m, n, of


@given(documents, documents, st.booleans(), st.sampled_from(["minhash", "simhash"]))
@example([(2, "x"), (4, "x")], [(2, "x")], False, "minhash")
@example([(2, "x"), (2, "x"), (4, "y")], [(2, "y"), (4, "x"), (2, "x")], True, "minhash")
def test_pairs_against_references_are_those_of_brute_force(references, inputs, within, method):
    expected = sorted(expected_pairs(references, inputs, within))
    settings = {"threshold": 0.7, "recall": 0.999999, "within": "g" if within else None, "method": method, "radius": 16}
    found = find_pairs(table(inputs), against=table(references), **settings)
    pairs = found.table.select(["left_id", "right_id", "left_is_reference"]).to_pylist()
    assert sorted(tuple(row.values()) for row in pairs) == expected
    assert (found.summary["documents"], found.summary["reference"]) == (len(inputs), len(references))
    assert found.summary["empty"] == sum(not SETS[i] for i, _ in inputs)
    for limit in (1, 2):
        cut = find_pairs(table(inputs), against=table(references), max_pairs=limit, **settings)
        assert len(cut.table) == min(limit, len(expected))
        assert cut.summary["cut_by_max_pairs"] == (len(expected) > limit)
