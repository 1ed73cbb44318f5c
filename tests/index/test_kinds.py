"""What a kind of index makes of scores: any bits of a slot and any number of slots; estimates, their errors, recall, and what codes
take on the disk."""

from itertools import product

import numpy as np
import pytest
from scipy import stats
from scipy.stats import binom

import lookalike as la
from lookalike import core
from lookalike.files.arrays import ArrayFile
from lookalike.index.kinds import make_kind, plan_kind
from lookalike.sketches.minhash import FastSimilarity
from lookalike.theory import bbit, mixture, shares, simhash
from lookalike.theory.mixture import Part
from lookalike.values import Shingles


def test_estimates_leave_out_what_chance_makes_equal():
    """Two slots are equal with probability R + (1 - R) / 2^16: their codes have 16 bits."""
    estimated, _ = make_kind("minhash").estimate(np.arange(257))
    assert estimated[0] == 0.0 and estimated[256] == 1.0
    np.testing.assert_allclose(estimated[1:] + (1 - estimated[1:]) / 2**16, np.arange(1, 257) / 256, rtol=1e-12)


def test_least_score_of_a_signature():
    """The highest with which what is compared and estimated is the recall, and never above the threshold itself."""
    for recall, threshold in product([0.3, 0.9, 0.99, 0.9999], [0.5, 0.75, 0.8, 0.95, 1.0]):
        kind = make_kind("minhash", threshold=threshold, recall=recall)
        equal = threshold + (1 - threshold) / 2**16
        compared = stats.binom.sf(0, kind.plan.bands, threshold**kind.plan.rows)
        assert compared >= recall**0.5 and kind.candidate_recall == pytest.approx(compared)
        assert compared * stats.binom.sf(kind.least - 1, 256, equal) >= recall
        highest = int(np.ceil(256 * equal - 1e-9))
        assert kind.least == highest or compared * stats.binom.sf(kind.least, 256, equal) < recall
        assert kind.least_estimate == pytest.approx((kind.least / 256 - 2**-16) / (1 - 2**-16))


@pytest.mark.parametrize(("threshold", "least"), [(0.8, -3), (0.99, -2), (1.0, 0)])
def test_least_score_of_a_fingerprint(threshold, least):
    """Minus the bits that may differ: three by the radius, fewer if their cosine, cos(pi d / 64), is below the threshold."""
    assert make_kind("simhash", radius=3, threshold=threshold).least == least


def test_errors_of_estimates():
    """The error of the share of equal codes, times what an equal code more adds to the estimate; that of 64 bits."""
    score = np.arange(1, 257)
    estimated, error = make_kind("minhash").estimate(score)
    slope = 256 * (estimated[-1] - estimated[-2])
    np.testing.assert_allclose(error, shares.share_error(score, 256) * slope, rtol=1e-9)
    for bits in (1, 4):  # also of fewer equal codes than chance makes
        kind = make_kind("minhash", bits=bits, slots=60)
        counts, parts = np.arange(61), [Part(slots=60, bits=bits)]
        np.testing.assert_allclose(kind.estimates[1], mixture.estimate(counts[:, None], parts, 0.0, 0.0)[1], rtol=1e-9)
    estimated, error = make_kind("simhash").estimate(-np.arange(65))
    np.testing.assert_allclose(estimated, np.cos(np.pi * np.arange(65) / 64), atol=1e-12)
    np.testing.assert_allclose(error, simhash.cosine_error(np.arange(65)), rtol=1e-12)


@pytest.mark.parametrize("threshold", [0.5, 0.8, 0.95, 1.0])
@pytest.mark.parametrize(("bits", "slots"), [(16, 256), (2, 300), (1, 64)])
def test_recall_is_that_of_bands_and_of_estimates(threshold, bits, slots):
    """Two binomials: bands of which one agrees, and slots whose codes are equal, so many that the root of the recall has them."""
    kind = make_kind("minhash", threshold=threshold, bits=bits, slots=slots, bands=7, rows=4)
    scores = np.arange(slots + 1) - (0 if bits == 16 else slots)
    few = int(np.flatnonzero(scores == kind.least)[0])
    equal = threshold + (1 - threshold) / 2**bits
    wanted = min(0.99**0.5, 0.99 / stats.binom.sf(0, 7, threshold**4))
    assert stats.binom.sf(few - 1, slots, equal) >= wanted and (few == slots or stats.binom.sf(few, slots, equal) < wanted)
    expected = stats.binom.sf(0, 7, threshold**4) * stats.binom.sf(few - 1, slots, equal)
    assert kind.recall_at_threshold == pytest.approx(expected, rel=1e-9)


def test_error_of_a_cosine_at_the_threshold():
    """Of 64 bits, each of which differs with probability angle / pi: over all numbers of them, to second order."""
    for threshold in [0.2, 0.4, 0.6, 0.8]:
        kind = make_kind("simhash", threshold=threshold)
        chances = stats.binom.pmf(np.arange(65), 64, np.arccos(threshold) / np.pi)
        estimates = np.cos(np.pi * np.arange(65) / 64)
        exact = (chances @ (estimates - chances @ estimates) ** 2) ** 0.5
        assert kind.error_at_threshold == pytest.approx(exact, rel=0.02)
        assert kind.share_probed([(16, 1000)]) == kind.share_probed([]) == 1.0, "tables of blocks find all"


SETTINGS = [(1, 512), (2, 256), (4, 100), (8, 64), (16, 256), (16, 37), (1, 7)]


def pairs_of_sets(n, size, common, rng):
    """Sets of numbers in pairs that share so many of ``size``: (values, offsets) of the left and of the right ones."""
    base = rng.integers(0, 1 << 63, (n, 2 * size - common), dtype=np.uint64)
    offsets = np.arange(n + 1) * size
    return (np.sort(base[:, :size]).ravel(), offsets), (np.sort(base[:, size - common :]).ravel(), offsets)


def equal_slots(kind, left, right):
    """How many codes of each pair of rows are equal, slot by slot."""
    out = []
    for a, b in zip(left.codes.tolist(), right.codes.tolist(), strict=True):
        bits = [sum(code << 16 * place for place, code in enumerate(codes)) for codes in (a, b)]
        mask = (1 << kind.bits) - 1
        out.append(sum((bits[0] >> kind.bits * i) & mask == (bits[1] >> kind.bits * i) & mask for i in range(kind.slots)))
    return np.array(out)


def test_estimates_are_unbiased_and_their_errors_are_those_stated(rng):
    """Of real signatures: the mean within five of its errors, as many within 1.96 standard errors as of independent slots.

    Slots that the sketch fills in its first round vary less than independent ones, on these sets hardly.
    """
    for bits, slots in SETTINGS:
        n, size, common = 1500, 2000, 1800
        truth = common / (2 * size - common)
        kind = make_kind("minhash", bits=bits, slots=slots)
        left, right = (kind.sketch(*rows) for rows in pairs_of_sets(n, size, common, rng))
        equal = equal_slots(kind, left, right)
        score = equal if bits == 16 else equal - slots
        estimated, error = kind.estimate(score)
        spread = bbit.variance(truth, bits, slots) ** 0.5
        plain = (equal / slots - 2.0**-bits) / (1 - 2.0**-bits)
        assert abs(plain.mean() - truth) < 5 * spread / n**0.5
        np.testing.assert_allclose(estimated, np.clip(plain, 0, 1), atol=1e-12)
        assert 0.85 * spread < plain.std() < spread * (1 + 5 / (2 * n) ** 0.5)
        covered = (np.abs(estimated - truth) <= 1.96 * error).mean()
        every = np.arange(slots + 1)
        each, its_error = kind.estimate(every if bits == 16 else every - slots)
        near = np.abs(each - truth) <= 1.96 * its_error
        exact = binom.pmf(every, slots, truth + (1 - truth) * 2.0**-bits)[near].sum()  # few slots give few different estimates
        assert covered > min(exact, 0.95) - 5 * (0.05 * 0.95 / n) ** 0.5 and exact > (0.94 if slots >= 64 else 0.9)
        assert kind.error_at_threshold == pytest.approx(bbit.variance(0.8, bits, slots) ** 0.5)


def test_packed_bits_are_those_of_the_slots(rng):
    """Lane by lane those that the planes of ``BBit`` hold; bits that no slot needs are zero."""
    for bits in [1, 2, 4, 8]:
        slots = 45
        (values, offsets), _ = pairs_of_sets(20, 50, 40, rng)
        kind = make_kind("minhash", bits=bits, slots=slots)
        codes = kind.sketch(values, offsets).codes
        signature = FastSimilarity(permutations=kind.plan.bands * kind.plan.rows + slots, seed=1).sign(
            Shingles(values, offsets)
        )
        planes = core.pack_planes(np.ascontiguousarray(signature.values[:, -slots:]), np.array([[slots, bits, 1]]), True, False)
        expected = [
            [sum((plane >> i & 1) << p for p, plane in enumerate(row)) for i in range(slots)] for row in planes.tolist()
        ]
        whole = [sum(code << 16 * place for place, code in enumerate(row)) for row in codes.tolist()]
        assert [[w >> bits * i & (1 << bits) - 1 for i in range(slots)] for w in whole] == expected
        assert codes.shape[1] == -(-slots * bits // 16) and not any(w >> bits * slots for w in whole)


@pytest.mark.parametrize("given", [{"bits": 1, "slots": 512}, {"bits": 4, "slots": 100}, {"bands": 4, "rows": 3}], ids=str)
def test_recall_at_the_threshold_is_what_is_stated(rng, given):
    """Of pairs that share so many of their elements: looked at, and estimated to reach the threshold."""
    n, size, common = 3000, 1000, 800
    kind = make_kind("minhash", threshold=common / (2 * size - common), **given)
    left, right = (kind.sketch(*rows) for rows in pairs_of_sets(n, size, common, rng))
    equal = equal_slots(kind, left, right)
    hits = int(((left.keys == right.keys).any(1) & (equal - (0 if kind.bits == 16 else kind.slots) >= kind.least)).sum())
    assert abs(hits - n * kind.recall_at_threshold) < 4 * binom.std(n, kind.recall_at_threshold)


def test_the_least_bytes_of_a_standard_error():
    """No other bits reach it in fewer bytes, nor do these with a slot less."""
    for error, threshold in product([0.01, 0.025, 0.05], [0.5, 0.8]):
        kind = plan_kind("minhash", threshold=threshold, standard_error=error)
        assert kind.error_at_threshold <= error * (1 + 1e-9)
        assert make_kind("minhash", threshold=threshold, bits=kind.bits, slots=kind.slots - 1).error_at_threshold > error
        for bits in (1, 2, 4, 8, 16):
            slots = int(np.ceil(bbit.variance(threshold, bits, 1) / error**2 - 1e-9))
            assert kind.bits * kind.slots <= bits * slots


@pytest.mark.parametrize("size", [2, 33, 64, 200])
def test_the_least_error_of_a_number_of_bytes(tmp_path, size):
    with la.Index.create(tmp_path / "x", sketch_bytes=size) as index:
        index.add(range(10), [f"one two three four w{i}" for i in range(10)])
        kind, segment = index.kind, ArrayFile(tmp_path / "x/segment-00000000")
        assert segment.described("codes") == ("<u2", (10, size // 2))
        assert index.info["parameters"]["slots"] == kind.slots == 8 * (size // 2 * 2) // kind.bits
        assert index.info["standard_error_at_threshold"] == kind.error_at_threshold
        for bits in (1, 2, 4, 8, 16):
            slots = 8 * (size // 2 * 2) // bits
            assert slots == 0 or kind.error_at_threshold <= bbit.variance(0.8, bits, slots) ** 0.5 * (1 + 1e-12)
        assert "bits=" in repr(kind) and index.query(["one two three four w3"])["id"].to_pylist()[0] == 3


def test_bits_or_slots_alone(tmp_path):
    assert (make_kind("minhash", bits=4).bits, make_kind("minhash", bits=4).slots) == (4, 256)
    assert plan_kind("minhash", threshold=0.8, bits=8, standard_error=0.05).bits == 8
    given = plan_kind("minhash", threshold=0.8, bits=16, sketch_bytes=512)
    assert given == plan_kind("minhash", threshold=0.8) and given.to_dict() == plan_kind("minhash", threshold=0.8).to_dict()
