"""Hash families equal Python's big integers; which of them are minwise."""

import numpy as np
import pytest
from families import FourUniversal, MixedTabulation, MultiplyShift, shuffled
from naive import families as naive

import lookalike as la

KEYS = [0, 1, 2, 255, 256, 65535, 65536, (1 << 32) - 1, 1 << 32, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, 0x123456789ABCDEF0]


@pytest.mark.parametrize("seed", [0, 7, (1 << 64) - 1])
def test_families_equal_big_integers(seed):
    keys = np.array(KEYS, np.uint64)
    assert MultiplyShift(seed=seed).hash(keys).tolist() == [naive.multiply_shift(k, seed) for k in KEYS]
    assert FourUniversal(seed=seed).hash(keys).tolist() == [naive.four_universal(k, seed) for k in KEYS]
    assert MixedTabulation(seed=seed).hash(keys).tolist() == [naive.mixed_tabulation(k, seed) for k in KEYS]


@pytest.mark.parametrize("kind", ["interval", "progression"])
def test_mixed_tabulation_is_minwise_on_structured_sets(kind):
    """Each of 40 elements is the minimum equally often, over 2,000 seeds."""
    keys = np.arange(40, dtype=np.uint64) * np.uint64(1 if kind == "interval" else 1 << 20)
    n = 2000
    winners = np.bincount([int(np.argmin(MixedTabulation(seed=s).hash(keys))) for s in range(n)], minlength=40)
    chi = ((winners - n / 40) ** 2 / (n / 40)).sum()
    assert abs(chi - 39) < 5 * (2 * 39) ** 0.5


def test_multiply_shift_is_not_minwise_on_an_interval():
    """Why keys are mixed first: the ends of an interval win too often."""
    keys = np.arange(40, dtype=np.uint64)
    n = 4000
    winners = np.bincount([int(np.argmin(MultiplyShift(seed=s).hash(keys))) for s in range(n)], minlength=40)
    chi = ((winners - n / 40) ** 2 / (n / 40)).sum()
    assert chi > 39 + 10 * (2 * 39) ** 0.5


def test_shuffled_is_a_permutation():
    assert sorted(shuffled(100, 5).tolist()) == list(range(100))
    assert shuffled(100, 5).tolist() == shuffled(100, 5).tolist() != shuffled(100, 6).tolist()
    for universe in (0, (1 << 31) + 1):
        with pytest.raises(la.errors.ParameterError, match="a table"):
            shuffled(universe, 1)
