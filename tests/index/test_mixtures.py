"""Indexes whose slots are of two kinds: codes, scores and estimates are those of ``Fractional``, recall is what is stated."""

import numpy as np
import pytest
from scipy.stats import binom

import lookalike as la
from lookalike.index.kinds import make_kind, plan_kind
from lookalike.sketches.minhash import FastSimilarity
from lookalike.theory import mixture
from lookalike.values import Shingles

MIXTURES = [(1.5, 300), (3, 120), (6.5, 64), (0.75, 300), (0.4, 257), (1 / 3, 256)]


def pairs_of_sets(n, size, common, rng):
    """Sets of numbers in pairs that share so many of ``size``: (values, offsets) of the left and of the right ones."""
    base = rng.integers(0, 1 << 63, (n, 2 * size - common), dtype=np.uint64)
    offsets = np.arange(n + 1) * size
    return (np.sort(base[:, :size]).ravel(), offsets), (np.sort(base[:, size - common :]).ravel(), offsets)


@pytest.mark.parametrize("bits, slots", MIXTURES)
def test_mixtures_are_those_of_the_slots(rng, bits, slots):
    """Part by part, the codes are those that ``Fractional`` holds; scores are its equal slots, and estimates its pooled ones."""
    n = 300
    left, right = pairs_of_sets(n, 1000, 950, rng)
    kind = make_kind("minhash", bits=bits, slots=slots)
    sides = kind.sketch(*left), kind.sketch(*right)
    scheme = FastSimilarity(permutations=kind.plan.bands * kind.plan.rows + slots, seed=1)
    parts = kind._parts
    assert sum(part.slots * part.combined for part in parts) == slots, "each slot is used once"
    assert sum(part.slots * part.bits for part in parts) == pytest.approx(bits * slots, abs=2)
    shares = [(part.bits if part.combined == 1 else 1 / part.combined, part.slots * part.combined / slots) for part in parts]
    packing = la.Fractional(shares=shares)
    packed = [
        packing.pack(la.Signatures(np.ascontiguousarray(scheme.sign(Shingles(*side)).values[:, -slots:]),
                                   FastSimilarity(permutations=slots), "")) for side in (left, right)
    ]  # fmt: skip
    matches = packed[0].matches(np.arange(n), np.arange(n), packed[1])
    score = np.array([score_of_parts(kind, a, b) for a, b in zip(*(side.codes.tolist() for side in sides), strict=True)])
    assert (score + kind._stored).tolist() == matches.sum(1).tolist()
    estimated, error = kind.estimate(score)
    none = np.zeros(n)
    plain, its_error = packing.estimate(matches, slots, none, none)
    seen = ~np.isnan(plain)
    np.testing.assert_allclose(estimated[seen], np.clip(plain[seen], 0, 1), atol=1e-9)
    assert seen.mean() > 0.9 and abs(error[seen].mean() / its_error[seen].mean() - 1) < 0.05
    truth = 950 / 1050
    share = matches.sum(1) / kind._stored
    agree = mixture.pooled_curve(parts, truth)[0]
    spread = (mixture.variance(truth, parts) ** 0.5) * mixture.pooled_curve(parts, truth)[1]
    assert abs(share.mean() - agree) < 5 * spread / n**0.5


def score_of_parts(kind, left, right):
    """Minus the codes that differ, part by part, each from a word of its own."""
    differ, word = 0, 0
    for part in kind._parts:
        words = -(-part.slots * part.bits // 16)
        a, b = (sum(code << 16 * place for place, code in enumerate(row[word : word + words])) for row in (left, right))
        differ += sum((a ^ b) >> part.bits * i & (1 << part.bits) - 1 > 0 for i in range(part.slots))
        assert not (a | b) >> part.bits * part.slots, "what no slot needs is zero"
        word += words
    assert word == len(left) == kind.n_codes
    return -differ


@pytest.mark.parametrize("bits, slots", MIXTURES[:5])
def test_an_index_of_mixtures_finds_and_says_what_it_states(tmp_path, rng, bits, slots):
    """Recall at the threshold as planned; the same after the index was compacted and opened again; scores part by part."""
    n, size, common = 1500, 400, 360
    kind = make_kind("minhash", threshold=common / (2 * size - common), bits=bits, slots=slots)
    left, right = (kind.sketch(*rows) for rows in pairs_of_sets(n, size, common, rng))
    score = np.array([score_of_parts(kind, a, b) for a, b in zip(left.codes.tolist(), right.codes.tolist(), strict=True)])
    hits = int(((left.keys == right.keys).any(1) & (score >= kind.least)).sum())
    assert abs(hits - n * kind.recall_at_threshold) < 4 * binom.std(n, kind.recall_at_threshold)
    texts = [" ".join(f"w{i}" for i in range(k, k + 60)) for k in range(0, 400, 5)]
    with la.Index.create(tmp_path / "x", threshold=0.5, width=1, bits=bits, slots=slots) as index:
        index.add(range(40), texts[:40])
        index.add(range(40, 80), texts[40:])
        before = index.query(texts, top=None).to_pylist()
        index.remove([3])
        index.compact()
    with la.Index.open(tmp_path / "x") as index:
        assert (index.kind.bits, index.kind.slots) == (bits, slots)
        assert index.info["parameters"]["bits"] == bits and index.info["standard_error_at_threshold"] > 0
        assert index.query(texts, top=None).to_pylist() == [row for row in before if row["id"] != 3]
        sketches = index.sketch(texts)
        codes, keys = sketches.codes.tolist(), sketches.keys
        said = {(row["query"], row["id"]): row["estimated_resemblance"] for row in before}
        expected = {}
        for q in range(80):
            for other in np.flatnonzero((keys == keys[q]).any(1)).tolist():
                score = score_of_parts(index.kind, codes[q], codes[other])
                if score >= index.kind.least:
                    expected[q, other] = float(index.kind.estimate(np.array([score]))[0][0])
        assert said == expected and len(said) > 200


@pytest.mark.parametrize(("bits", "kinds"), [(1.5, (1, 2)), (0.75, (1, 1 / 2)), (0.4, (1 / 2, 1 / 3)), (3, (2, 4))])
def test_one_of_the_two_kinds_errs_less_in_as_many_bytes(bits, kinds):
    """At each threshold, with as many slots as fit: why a mixture takes slots, and no error or bytes."""
    for threshold in (0.5, 0.8, 0.95):
        kind = make_kind("minhash", threshold=threshold, bits=bits, slots=960)
        given = {"threshold": threshold, "sketch_bytes": 2 * kind.n_codes}
        assert min(plan_kind("minhash", bits=one, **given).error_at_threshold for one in kinds) < kind.error_at_threshold
