"""Short hashes of texts against a twin; ``tests/engines/test_whole_jobs.py`` holds bundles of many partners."""

import random

import numpy as np
import pytest

from lookalike.steps.verify import halves
from lookalike.text.hashes import KeyedHashes
from lookalike.text.shingle import Shingling
from lookalike.text.texts import from_strings

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
    """Under a key."""
    how, texts = Shingling(**shingling), from_strings(near_texts)
    found, other = (halves(texts, how, key) for key in (KEY, bytes(16)))
    values, offsets = KeyedHashes(how, KEY).hashes(texts)
    for row in range(len(near_texts)):
        wanted = sorted(value >> 32 for value in set(values[offsets[row] : offsets[row + 1]].tolist()))
        assert found.values[found.offsets[row] : found.offsets[row + 1]].tolist() == wanted
        assert found.repeats[row] == offsets[row + 1] - offsets[row] - len(wanted)
    assert (found.offsets == other.offsets).all() and len(np.intersect1d(found.values, other.values)) < 5
