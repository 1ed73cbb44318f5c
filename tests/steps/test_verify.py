import random

import numpy as np
import pytest

from lookalike.steps.verify import halves
from lookalike.text.hashes import KeyedHashes
from lookalike.text.shingle import Shingling
from lookalike.text.texts import from_strings

KEY = bytes(range(16))


@pytest.mark.parametrize("shingling", [{}, {"width": 2}, {"unit": "char", "width": 4}])
def test_halves_are_those_of_distinct_hashes(shingling):
    rng = random.Random(1)
    near = [" ".join(f"w{i}" if rng.random() < 0.9 else f"n{rng.randrange(10**6)}" for i in range(90)) for _ in range(60)]
    how, texts = Shingling(**shingling), from_strings(["", "one", "one one one one one one one", "long " * 400, *near])
    found, other = (halves(texts, how, key) for key in (KEY, bytes(16)))
    values, offsets = KeyedHashes(how, KEY).hashes(texts)
    for row in range(len(texts)):
        wanted = sorted(value >> 32 for value in set(values[offsets[row] : offsets[row + 1]].tolist()))
        assert found.values[found.offsets[row] : found.offsets[row + 1]].tolist() == wanted
        assert found.repeats[row] == offsets[row + 1] - offsets[row] - len(wanted)
    assert (found.offsets == other.offsets).all() and len(np.intersect1d(found.values, other.values)) < 5
