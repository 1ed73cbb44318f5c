"""Bundles, and short hashes of texts, against twins; that sifting by them loses no match."""

import random
from itertools import groupby

import numpy as np
import pytest
from cut_tables import batches, cuts, run
from hypothesis import given
from hypothesis import strategies as st

from lookalike.steps.verify import bundle, halves, sift
from lookalike.text.hashes import KeyedHashes
from lookalike.text.shingle import Shingling
from lookalike.text.texts import from_strings
from lookalike.values.tables import PAIRS, SOURCE_BITS


@given(st.sets(st.tuples(st.integers(0, 8), st.integers(0, 8)).filter(lambda p: p[0] < p[1])),
       st.none() | st.integers(1, 4), cuts)  # fmt: skip
def test_a_bundle_is_a_pivot_and_its_partners(pairs, most, cut):
    """One with many partners has several bundles."""
    ordered = sorted(pairs)
    expected = []
    for left, group in groupby(ordered, key=lambda pair: pair[0]):
        partners = [right for _, right in group]
        for number, begin in enumerate(range(0, len(partners), most or 99)):
            own = left + (number << SOURCE_BITS)
            expected += [(own, left), *((own, right) for right in partners[begin : begin + (most or 99)])]
    columns = {"left": [p[0] for p in ordered], "right": [p[1] for p in ordered]}
    assert run(bundle, batches(columns, PAIRS, cut), most=most) == expected


KEY = bytes(range(16))


@pytest.fixture(scope="module")
def near_texts():
    rng = random.Random(1)
    base = [f"w{i}" for i in range(90)]
    out = ["", "one", "one one one one one one one", "long " * 400]
    for _ in range(60):
        words = list(base)
        for _ in range(rng.randrange(12)):
            words[rng.randrange(90)] = f"n{rng.randrange(10**6)}"
        out.append(" ".join(words))
    return out


@pytest.mark.parametrize("shingling", [{}, {"width": 2}, {"unit": "char", "width": 4}])
def test_halves_are_those_of_distinct_hashes(near_texts, shingling):
    how = Shingling(**shingling)
    found = halves(from_strings(near_texts), how, KEY)
    values, offsets = KeyedHashes(how, KEY).hashes(from_strings(near_texts))
    for row in range(len(near_texts)):
        wanted = sorted(value >> 32 for value in set(values[offsets[row] : offsets[row + 1]].tolist()))
        assert found.values[found.offsets[row] : found.offsets[row + 1]].tolist() == wanted
        assert found.repeats[row] == offsets[row + 1] - offsets[row] - len(wanted)


def test_another_key_makes_other_halves(near_texts):
    one, other = (halves(from_strings(near_texts), Shingling(), key) for key in (KEY, bytes(16)))
    assert (one.offsets == other.offsets).all() and len(np.intersect1d(one.values, other.values)) < 5


@pytest.mark.parametrize("threshold", [0.4, 0.7, 0.9])
def test_what_matches_stays_and_what_does_not_goes(near_texts, threshold):
    rows = halves(from_strings(near_texts), Shingling(), KEY)
    words = [text.split() for text in near_texts]
    sets = [{tuple(some[i : i + 5]) for i in range(max(1, len(some) - 4))} if some else set() for some in words]
    pairs = [(i, j) for i in range(len(near_texts)) for j in range(i)]
    left, right = (np.array(side) for side in zip(*pairs, strict=True))
    stays = sift(left, right, rows, rows, threshold).tolist()
    reached = [bool(sets[i] | sets[j]) and len(sets[i] & sets[j]) >= threshold * len(sets[i] | sets[j]) for i, j in pairs]
    assert all(stay for stay, reach in zip(stays, reached, strict=True) if reach)
    wrong = [(i, j) for (i, j), stay, reach in zip(pairs, stays, reached, strict=True) if stay and not reach]
    for i, j in wrong:  # only those that would match if what is repeated hid something
        hidden = min(rows.repeats[i], rows.repeats[j])
        least = threshold * (len(sets[i]) + len(sets[j])) - (1 - threshold) * hidden
        assert hidden > 0 and len(sets[i] & sets[j]) * (1 + threshold) >= least - 1e-9
    assert len(wrong) < len(pairs) / 2
