"""What a kind of index makes of scores: any bits of a slot and any number of slots; estimates, their errors, recall, and what codes
take on the disk."""

from itertools import product

import numpy as np
import pytest
from scipy import stats
from scipy.stats import binom

import lookalike as la
from lookalike.files.arrays import ArrayFile
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
        equal = threshold + (1 - threshold) / 2**bits
        few = kind.least + (0 if bits == 16 else slots)
        compared = stats.binom.sf(0, kind.plan.bands, threshold**kind.plan.rows)
        assert kind.candidate_recall == pytest.approx(compared) and (how or compared >= recall**0.5)
        wanted = min(recall**0.5, recall / compared)
        highest = int(np.ceil(slots * equal - 1e-9))
        assert stats.binom.sf(few - 1, slots, equal) >= wanted and (
            few == highest or stats.binom.sf(few, slots, equal) < wanted
        )
        assert kind.recall_at_threshold == pytest.approx(compared * stats.binom.sf(few - 1, slots, equal), rel=1e-9)
        assert kind.least_estimate == pytest.approx((few / slots - 2.0**-bits) / (1 - 2.0**-bits))


def test_least_score_of_a_fingerprint():
    """Minus the bits that may differ: three by the radius, fewer if their cosine, cos(pi d / 64), is below the threshold."""
    for threshold, least in ((0.8, -3), (0.99, -2), (1.0, 0)):
        assert make_kind("simhash", radius=3, threshold=threshold).least == least


def test_errors_of_estimates():
    """Also of fewer equal codes than chance makes; that of 64 bits."""
    for bits, slots in ((1, 60), (4, 60), (16, 256)):
        kind = make_kind("minhash", bits=bits, slots=slots)
        parts = [Part(slots=slots, bits=bits)]
        expected = mixture.estimate(np.arange(slots + 1)[:, None], parts, 0.0, 0.0)[1]
        np.testing.assert_allclose(kind.estimates[1], expected, rtol=1e-9)
    estimated, error = make_kind("simhash").estimate(-np.arange(65))
    np.testing.assert_allclose(estimated, np.cos(np.pi * np.arange(65) / 64), atol=1e-12)
    np.testing.assert_allclose(error, simhash.cosine_error(np.arange(65)), rtol=1e-12)


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
        n = 1500
        size = 2000
        common = 1800
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


@pytest.mark.parametrize("given", [{"bits": 1, "slots": 512}, {"bits": 4, "slots": 100}, {"bands": 4, "rows": 3}], ids=str)
def test_recall_at_the_threshold_is_what_is_stated(rng, given):
    """Of pairs that share so many of their elements: looked at, and estimated to reach the threshold."""
    n = 3000
    size = 1000
    common = 800
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


def test_the_least_error_of_a_number_of_bytes(tmp_path):
    for size in (2, 33, 64, 200):
        with la.Index.create(tmp_path / f"{size}", sketch_bytes=size) as index:
            index.add(range(10), [f"one two three four w{i}" for i in range(10)])
            kind = index.kind
            codes = ArrayFile(tmp_path / f"{size}/segment-00000000").described("codes")
            assert codes == ("<u2", (10, size // 2)) and index.kind.slots == 8 * (size // 2 * 2) // kind.bits
            for bits in (1, 2, 4, 8, 16):
                slots = 8 * (size // 2 * 2) // bits
                assert slots == 0 or kind.error_at_threshold <= bbit.variance(0.8, bits, slots) ** 0.5 * (1 + 1e-12)
            assert "bits=" in repr(kind) and index.query(["one two three four w3"])["id"].to_pylist()[0] == 3
    assert (make_kind("minhash", bits=4).bits, make_kind("minhash", bits=4).slots) == (4, 256)
    assert plan_kind("minhash", threshold=0.8, bits=8, standard_error=0.05).bits == 8
    given = plan_kind("minhash", threshold=0.8, bits=16, sketch_bytes=512)
    assert given == plan_kind("minhash", threshold=0.8) and given.to_dict() == plan_kind("minhash", threshold=0.8).to_dict()
