"""Codes of an index: any bits of a slot and any number of slots; estimates, their errors, and what they take on the disk."""

import numpy as np
import pytest
from scipy.stats import binom

import lookalike as la
from lookalike.files.arrays import ArrayFile
from lookalike.index.kinds import make_kind, plan_kind
from lookalike.kernels import packing as kernel
from lookalike.sketches.minhash import FastSimilarity
from lookalike.theory import bbit, shares
from lookalike.values import Shingles

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


@pytest.mark.parametrize("bits, slots", SETTINGS)
def test_estimates_are_unbiased_and_their_errors_are_those_stated(rng, bits, slots):
    """Of real signatures: the mean within five of its errors, as many within 1.96 standard errors as of independent slots.

    Slots that the sketch fills in its first round vary less than independent ones, on these sets hardly.
    """
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


@pytest.mark.parametrize("bits", [1, 2, 4, 8])
def test_packed_bits_are_those_of_the_slots(rng, bits):
    """Lane by lane those that the planes of ``BBit`` hold; bits that no slot needs are zero."""
    slots = 45
    (values, offsets), _ = pairs_of_sets(20, 50, 40, rng)
    kind = make_kind("minhash", bits=bits, slots=slots)
    codes = kind.sketch(values, offsets).codes
    signature = FastSimilarity(permutations=kind.plan.bands * kind.plan.rows + slots, seed=1).sign(Shingles(values, offsets))
    wide = np.ascontiguousarray(signature.values[:, -slots:]).astype(np.uint64)
    planes, expected = np.zeros((20, bits), np.uint64), np.empty((20, slots), np.uint64)
    kernel.pack_planes(wide, 0, slots, bits, True, planes, 0)
    kernel.unpack_planes(planes, 0, slots, bits, expected)
    whole = [sum(code << 16 * place for place, code in enumerate(row)) for row in codes.tolist()]
    assert [[w >> bits * i & (1 << bits) - 1 for i in range(slots)] for w in whole] == expected.tolist()
    assert codes.shape[1] == -(-slots * bits // 16) and not any(w >> bits * slots for w in whole)


@pytest.mark.parametrize("bits, slots", [(1, 512), (2, 300), (4, 130), (8, 65)])
def test_a_query_counts_what_is_equal(tmp_path, rng, bits, slots):
    """Scores against slots that are compared one by one; matches are those whose estimate reaches the threshold."""
    words = [f"v{i}" for i in range(5000)]
    base = [rng.permutation(5000)[:250] for _ in range(60)]
    left = [" ".join(words[w] for w in b[:200]) for b in base]
    right = [" ".join(words[w] for w in b[int(rng.integers(5, 50)) :][:200]) for b in base]
    with la.Index.create(tmp_path / "x", threshold=0.7, width=1, bits=bits, slots=slots) as index:
        index.add(range(60), left)
        table, kind = index.query(right, top=None), index.kind
        asked, stored = index.sketch(right), index.sketch(left)
    said = {
        q: (e, s) for q, i, e, s in zip(*(table[name].to_pylist() for name in table.column_names[:4]), strict=True) if q == i
    }
    equal, chance, expected = equal_slots(kind, asked, stored), 2.0**-bits, {}
    for i in np.flatnonzero((asked.keys == stored.keys).any(1)).tolist():
        estimated = (equal[i] / slots - chance) / (1 - chance)
        if estimated >= 0.7 - 1e-12:
            expected[i] = (min(estimated, 1.0), float(shares.share_error(equal[i], slots)) / (1 - chance))
    assert len(expected) > 20 and set(said) == set(expected)
    for i, pair in expected.items():
        assert said[i] == pytest.approx(pair)


@pytest.mark.parametrize("bits, slots", [(1, 512), (4, 100)])
def test_recall_at_the_threshold_is_what_is_stated(tmp_path, rng, bits, slots):
    n, size, common = 3000, 1000, 800
    kind = make_kind("minhash", threshold=common / (2 * size - common), bits=bits, slots=slots)
    left, right = (kind.sketch(*rows) for rows in pairs_of_sets(n, size, common, rng))
    equal = equal_slots(kind, left, right)
    hits = int(((left.keys == right.keys).any(1) & (equal - slots >= kind.least)).sum())
    assert abs(hits - n * kind.recall_at_threshold) < 4 * binom.std(n, kind.recall_at_threshold)


@pytest.mark.parametrize("error", [0.01, 0.025, 0.05])
@pytest.mark.parametrize("threshold", [0.5, 0.8])
def test_the_least_bytes_of_a_standard_error(error, threshold):
    """No other bits reach it in fewer bytes, nor do these with a slot less."""
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
