from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from lookalike.index.kinds import make_kind, plan_kind
from lookalike.theory import bbit, mixture, simhash
from lookalike.theory.mixture import Part


def test_recall_is_that_of_bands_and_of_estimates():
    """Two binomials: bands of which one agrees, and slots whose codes are equal. The least score is the highest with which what
    is compared and estimated is the recall, if bands leave so much of it, and never above the threshold itself."""
    chosen = {"bands": 7, "rows": 4}
    kinds = [(16, 256, chosen), (2, 300, chosen), (1, 64, chosen), (16, 256, {})]
    for threshold, recall, (bits, slots, how) in product([0.5, 0.75, 0.8, 0.95, 1.0], [0.3, 0.9, 0.99, 0.9999], kinds):
        kind = make_kind("minhash", threshold=threshold, recall=recall, bits=bits, slots=slots, **how)
        few = kind.least + (0 if bits == 16 else slots)
        compared = binom.sf(0, kind.plan.bands, threshold**kind.plan.rows)
        assert kind.candidate_recall == pytest.approx(compared) and (how or compared >= recall**0.5)
        wanted = min(recall**0.5, recall / compared)
        codes = binom(slots, threshold + (1 - threshold) / 2**bits)
        assert codes.sf(few - 1) >= wanted and (few == int(np.ceil(codes.mean() - 1e-9)) or codes.sf(few) < wanted)
        assert kind.recall_at_threshold == pytest.approx(compared * codes.sf(few - 1), rel=1e-9)
        assert kind.least_estimate == pytest.approx((few / slots - 2.0**-bits) / (1 - 2.0**-bits))


def test_fingerprints():
    """The least score is minus the bits that may differ: three by the radius, fewer if their cosine, cos(pi d / 64), is below the
    threshold."""
    for threshold, least in ((0.8, -3), (0.99, -2), (1.0, 0)):
        kind = make_kind("simhash", radius=3, threshold=threshold)
        assert kind.least == least and kind.error_at_threshold == simhash.cosine_variance(threshold, 64) ** 0.5
        assert kind.share_probed([(16, 1000)]) == kind.share_probed([]) == 1.0, "tables of blocks find all"
    estimated, error = kind.estimate(-np.arange(65))
    np.testing.assert_allclose(estimated, np.cos(np.pi * np.arange(65) / 64), atol=1e-12)
    np.testing.assert_allclose(error, simhash.cosine_error(np.arange(65)), rtol=1e-12)


def equal_codes(kind, n, size, common, rng):
    """Equal codes of each of n pairs of sets that share ``common`` of ``size`` numbers."""
    base = rng.integers(0, 1 << 63, (n, 2 * size - common), dtype=np.uint64)
    sides = (np.sort(some).ravel() for some in (base[:, :size], base[:, size - common :]))
    left, right = (kind.sketch(side, np.arange(n + 1) * size).codes for side in sides)
    apart = (left ^ right)[:, :, None] >> np.arange(0, 16, kind.bits).astype(np.uint16) & (2**kind.bits - 1)
    return (apart.reshape(n, -1)[:, : kind.slots] == 0).sum(1)


def test_estimates_are_unbiased_and_their_errors_are_those_stated(rng):
    """Also of fewer equal codes than chance makes, by theory.

    Slots that the sketch fills in its first round vary less than independent ones, on these sets hardly.
    """
    n, truth = 1500, 1800 / 2200
    for bits, slots in [(1, 512), (2, 256), (4, 100), (8, 64), (16, 256), (16, 37), (1, 7)]:
        kind = make_kind("minhash", bits=bits, slots=slots)
        equal = equal_codes(kind, n, 2000, 1800, rng)
        spread = bbit.variance(truth, bits, slots) ** 0.5
        plain = (equal / slots - 2.0**-bits) / (1 - 2.0**-bits)
        assert abs(plain.mean() - truth) < 5 * spread / n**0.5
        assert 0.85 * spread < plain.std() < spread * (1 + 5 / (2 * n) ** 0.5)
        lowest = 0 if bits == 16 else slots
        np.testing.assert_allclose(kind.estimate(equal - lowest)[0], np.clip(plain, 0, 1), atol=1e-12)
        every = np.arange(slots + 1)
        by_theory = mixture.estimate(every[:, None], [Part(slots=slots, bits=bits)], 0.0, 0.0)[1]
        np.testing.assert_allclose(kind.estimate(every - lowest)[1], by_theory, rtol=1e-9)
        assert kind.error_at_threshold == pytest.approx(bbit.variance(0.8, bits, slots) ** 0.5)


LANES = (1, 2, 4, 8, 16)


def test_the_least_bytes_of_a_standard_error():
    """No other bits reach it in fewer bytes, nor do these with a slot less."""
    for error, threshold in product([0.01, 0.025, 0.05], [0.5, 0.8]):
        kind = plan_kind("minhash", threshold=threshold, standard_error=error)
        assert kind.error_at_threshold <= error * (1 + 1e-9)
        assert make_kind("minhash", threshold=threshold, bits=kind.bits, slots=kind.slots - 1).error_at_threshold > error
        for bits in LANES:
            assert kind.bits * kind.slots <= bits * np.ceil(bbit.variance(threshold, bits, 1) / error**2 - 1e-9)
    assert plan_kind("minhash", threshold=0.8, bits=8, standard_error=0.05).bits == 8


def test_the_least_error_of_a_number_of_bytes():
    for size in (2, 33, 64, 200):
        kind, room = plan_kind("minhash", threshold=0.8, sketch_bytes=size), 8 * (size // 2 * 2)
        assert kind.n_codes == size // 2 and kind.slots == room // kind.bits
        for bits in LANES[: 4 if size == 2 else 5]:
            assert kind.error_at_threshold <= bbit.variance(0.8, bits, room // bits) ** 0.5 * (1 + 1e-12)
    plain, given = (plan_kind("minhash", threshold=0.8, **how) for how in ({}, {"bits": 16, "sketch_bytes": 512}))
    assert make_kind("minhash", bits=4).slots == 256 and given == plain and given.to_dict() == plain.to_dict()
