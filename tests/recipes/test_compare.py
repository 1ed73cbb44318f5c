import json

import pytest
from corpora import word_sets
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from lookalike.recipes.compare import compare_texts

words = st.lists(st.sampled_from(["a", "b", "c", "d", "é"]), max_size=14)


@given(words, words, st.integers(1, 4), st.booleans())
def test_the_numbers_are_those_of_sets(left, right, width, as_bytes):
    texts = [" ".join(some) for some in (left, right)]
    found = compare_texts(*(text.encode() if as_bytes else text for text in texts), width=width, permutations=64)
    a, b = word_sets(texts, width)
    wanted = {"shingles_left": len(a), "shingles_right": len(b), "hamming_distance": len(a ^ b)}
    for name, some in (("resemblance", a | b), ("containment_left", a), ("containment_right", b)):
        wanted[name] = len(a & b) / len(some) if some else None
    assert {name: found[name] for name in wanted} == wanted
    estimates = [found[name] for name in ("estimated_resemblance", "standard_error", "estimated_hamming_distance")]
    assert [value is None for value in estimates] == [not (a and b)] * 3
    if a and b:
        resemblance, error, distance = estimates
        assert 0 < error < 0.1 and abs(resemblance - len(a & b) / len(a | b)) <= 5 * error
        assert distance == pytest.approx((1 - resemblance) / (1 + resemblance) * (len(a) + len(b)))
    json.dumps(found)
    with pytest.raises(la.errors.InputDataError, match="UTF-8"):
        compare_texts(b"ab\xff", "ab")


def test_exact_figures_are_not_fooled_by_hashes_that_were_foreseen():
    found = compare_texts("ca2036 he8et6 bi6jxy jo12n8 friend", "Vote for the mayor")
    assert (found["resemblance"], found["containment_left"], found["hamming_distance"]) == (0.0, 0.0, 2)
    assert found["estimated_resemblance"] == 1.0, "estimates are by the fixed hashes, in which these have one"
