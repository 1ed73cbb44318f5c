import json
from itertools import combinations, product

import numpy as np
import pytest
from raising import assert_raises
from scipy.stats import binom
from statistics_sets import estimated
from theory.sampler import minima
from theory.test_likelihood import match, matches

import lookalike as la
from lookalike.errors import ParameterError
from lookalike.sketches import FastSimilarity, Fractional, PermutationMinHash, Signatures, XorBits
from lookalike.theory import choose, mixture, xor_bits
from lookalike.theory.mixture import Part


def packed_bytes(packing, permutations):
    return packing.pack(FastSimilarity(permutations=permutations).sign(la.shingle(["a b c d e f g"]))).n_bytes


def test_half_a_bit_more_is_used():
    plan = la.plan(threshold=0.8, permutations=256, sketch_bytes=48)
    assert plan.sketch.shares == ((1, 0.5), (2, 0.5)) and plan.sketch.total_bits == 384, "1.5 bits of 256 slots"
    assert plan.packing == Fractional(shares=[(1, 0.5), (2, 0.5)]) and packed_bytes(plan.packing, 256) == 48
    whole = choose.for_memory(0.8, 256, permutations=256)
    assert (whole.scheme, whole.bits, whole.slots) == ("bbit", 1, 256)
    two = choose.for_memory(0.8, 512, permutations=256)
    assert two.standard_error < plan.sketch.standard_error < whole.standard_error


def test_no_mixture_of_whole_bits_would_be_better():
    words = 7
    for r, density, k in [(0.3, 0.0, 150), (0.7, 0.4, 150), (0.3, 0.4, 192), (0.7, 0.0, 192)]:
        mixed = (
            [Part(slots=k - slots, bits=low), Part(slots=slots, bits=high)]
            for (low, high), slots in product(combinations(choose.BITS, 2), range(1, k))
        )
        fit = (parts for parts in mixed if sum(-(-p.slots // 64) * p.bits for p in parts) <= words)
        best = min(float(mixture.variance(r, parts, density, density)) for parts in fit)
        assert choose.for_memory(r, 64 * words, density, permutations=k).standard_error <= best**0.5 * (1 + 1e-9)
        for few in range(3, 12):
            found = choose.for_memory(r, 64 * few, density, permutations=k)
            assert packed_bytes(Fractional(shares=found.shares), k) <= 8 * few


def test_a_chosen_mixture_has_the_error_that_is_stated(rng):
    """Of true minima, within five standard errors and 2 %."""
    n = 4000
    for resemblance, density, k, bits in [
        (0.8, 1e-6, 256, 320),
        (0.9, 1e-6, 384, 256),
        (0.85, 0.5, 256, 320),
        (0.3, 0.3, 256, 640),
    ]:
        chosen = choose.for_memory(resemblance, bits, density, permutations=k)
        assert len(chosen.shares) == 2 and chosen.total_bits <= bits
        slots = np.stack(minima(rng, resemblance, density, density, (n, k)), axis=1).reshape(2 * n, k).astype(np.uint64)
        scheme = PermutationMinHash(universe=1 << 40, permutations=k)
        packed = Fractional(shares=chosen.shares).pack(Signatures(slots, scheme, "minima", np.full(2 * n, density)))
        assert packed.n_bytes <= 2 * n * bits / 8
        squares, stated = (estimated(packed) - resemblance) ** 2, chosen.standard_error**2
        assert abs(squares.mean() - stated) < 5 * squares.std() / n**0.5 + 0.02 * stated


def test_densities_reach_the_choice():
    free, dense = (la.plan(threshold=0.8, standard_error=0.02, density=d).sketch for d in (0.0, 0.6))
    assert free == choose.for_error(0.8, 0.02) and dense == choose.for_error(0.8, 0.02, 0.6) != free
    for bits, permutations, scheme in ((128, None, "bbit"), (640, 256, "fractional")):
        found = la.plan(threshold=0.3, sketch_bytes=bits // 8, density=0.6, permutations=permutations)
        assert found.sketch == choose.for_memory(0.3, bits, 0.6, permutations=permutations) and found.sketch.scheme == scheme
    assert la.plan().packing is None and la.plan(sketch_bytes=48).packing == XorBits(combined=3)
    assert json.loads(json.dumps(found.to_dict()))["sketch"]["shares"] == [list(share) for share in found.sketch.shares]


def test_a_slot_fewer_would_err_more():
    for r, error in product([0.2, 0.4, 0.6], np.geomspace(0.05, 0.2, 12)):
        slots = choose.for_error(r, error, bits=(), combined=(2,)).slots
        of_slots, of_fewer = (
            max(xor_bits.mean_squared_error(r, 2, n), xor_bits.variance(r, 2, n)) ** 0.5 for n in (slots, slots - 1)
        )
        assert of_slots <= error * (1 + 1e-8) and of_fewer > error


def test_errors_of_mixtures_are_those_over_all_counts():
    """Of the estimate whose expected share is the one found, or 0 if lower; a normal share errs by a few per cent.

    Never less than the slope tells is stated: where estimates are cut off, they err less.
    """
    for (singles, pairs), r in product([(64, 64), (20, 200), (60, 40)], [0.02, 0.1, 0.2, 0.4, 0.7]):
        parts = [Part(slots=singles), Part(slots=pairs, combined=2)]
        grid = np.linspace(-singles / pairs / 2, 1, 100_001)  # the expected share falls before
        chances = np.convolve(*(binom.pmf(np.arange(p.slots + 1), p.slots, match(p, r, 0.0, 0.0)) for p in parts))
        found = np.interp(np.arange(singles + pairs + 1), matches(parts, grid, 0.0, 0.0), grid)
        spread = sum(p.slots * match(p, r, 0.0, 0.0) * (1 - match(p, r, 0.0, 0.0)) for p in parts)
        exact, by_slope = (chances * (found - r) ** 2).sum(), spread / (singles / 2 + pairs * r) ** 2
        assert choose._pooled_error(r, parts, 0.0) == pytest.approx(max(exact, by_slope) ** 0.5, rel=0.03)


def test_combined_bits_are_offered_where_they_tell_resemblances_apart():
    """Single bits match in half of the slots or more; fewer would look like more."""
    for density, r in product([0.0, 0.3, 0.5], np.linspace(0.01, 0.99, 50)):
        offered = "xor_bits" in {scheme for scheme, *_ in choose.candidates(r, density)}
        assert offered == (match(Part(slots=1), r, density, density) >= 0.5)


def test_two_slots_together_are_named_so_and_err_as_all_counts_say():
    for r, slots in [(0.6, 64), (0.9, 64), (0.7, 128)]:
        found = choose.for_memory(r, slots, permutations=2 * slots)
        assert (found.scheme, found.combined, found.slots, found.shares) == ("xor_bits", 2, slots, ((0.5, 1.0),))
        assert found.standard_error == pytest.approx(xor_bits.mean_squared_error(r, 2, slots) ** 0.5, rel=1e-9)
        assert choose.for_memory(r, 3 * slots, permutations=2 * slots).scheme == "fractional"


def test_mixtures_leave_no_slot_out():
    for k in (192, 200, 330):
        found = [sum(part.slots * part.combined for part in parts) for parts in choose.mixtures(k, 4 * k)]
        assert len(found) > 10 and {*found} == {k}


def test_the_least_error_that_can_be_asked_for():
    assert choose.for_error(0.999, 1e-4).standard_error <= 1e-4
    assert_raises(ParameterError, "must be a number of at least 0.0001; got 9.9e-05", choose.for_error, 0.999, 0.99e-4)
