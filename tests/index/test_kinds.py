"""What a kind of index makes of scores."""

from collections import Counter
from functools import partial

import numpy as np
import pytest
from scipy import stats

from lookalike.index.kinds import make_kind
from lookalike.theory import shares, simhash


def test_estimates_leave_out_what_chance_makes_equal():
    """Two slots are equal with probability R + (1 - R) / 2^16: their codes have 16 bits."""
    estimated, _ = make_kind("minhash").estimate(np.arange(257))
    assert estimated[0] == 0.0 and estimated[256] == 1.0
    np.testing.assert_allclose(estimated[1:] + (1 - estimated[1:]) / 2**16, np.arange(1, 257) / 256, rtol=1e-12)


@pytest.mark.parametrize(("threshold", "least"), [(0.8, 205), (0.75, 193), (1.0, 256)])
def test_least_score_of_a_signature(threshold, least):
    """The threshold and what chance adds, in 256ths, rounded up."""
    assert make_kind("minhash", threshold=threshold).least == least


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
    estimated, error = make_kind("simhash").estimate(-np.arange(65))
    np.testing.assert_allclose(estimated, np.cos(np.pi * np.arange(65) / 64), atol=1e-12)
    np.testing.assert_allclose(error, simhash.cosine_error(np.arange(65)), rtol=1e-12)


@pytest.mark.parametrize(
    ("left", "right"), [([1, 2, 3, 3], [3, 4, 2, 5, 5, 5]), ([7], [7]), ([1, 1], [2]), ([1] * 3 + [2], [2, 2, 1])]
)
def test_measures_are_those_of_sets_and_of_counts(left, right):
    """Of documents (left, right, an empty one, another) and pairs of them."""
    values = np.array([*left, *right, 1, 9, 9], np.uint64)
    offsets = np.cumsum([0, len(left), len(right), 0, 3])
    measure = {kind: partial(make_kind(kind).measure, values, offsets) for kind in ("minhash", "simhash")}
    there, back = np.array([0, 1, 0, 2, 2, 1, 0]), np.array([1, 0, 0, 2, 0, 2, 3])
    expected = len({*left} & {*right}) / len({*left} | {*right})
    other = len({*left} & {1, 9}) / len({*left} | {1, 9})
    assert measure["minhash"](there, back).tolist() == [expected, expected, 1.0, 0.0, 0.0, 0.0, other]
    m, n = Counter(left), Counter(right)
    dot = sum(m[x] * n[x] for x in m)
    lengths = sum(c * c for c in m.values()) * sum(c * c for c in n.values())
    cosine = dot / lengths**0.5
    other = left.count(1) / (5 * sum(c * c for c in m.values())) ** 0.5
    found = measure["simhash"](there, back).tolist()
    assert found == pytest.approx([cosine, cosine, 1.0, 0.0, 0.0, 0.0, other]) and max(found) <= 1.0


@pytest.mark.parametrize("threshold", [0.5, 0.8, 0.95, 1.0])
@pytest.mark.parametrize(("bits", "slots"), [(16, 256), (2, 300), (1, 64)])
def test_recall_is_that_of_bands_and_of_estimates(threshold, bits, slots):
    """Two binomials: bands of which one agrees, and slots whose codes are equal, for an estimate of the threshold at least."""
    kind = make_kind("minhash", threshold=threshold, bits=bits, slots=slots, bands=7, rows=4)
    scores = np.arange(slots + 1) - (0 if bits == 16 else slots)
    few = int((kind.estimate(scores)[0] < threshold - 1e-9).sum())
    assert kind.least == scores[few]
    equal = threshold + (1 - threshold) / 2**bits
    expected = stats.binom.sf(0, 7, threshold**4) * stats.binom.sf(few - 1, slots, equal)
    assert kind.recall_at_threshold == pytest.approx(expected, rel=1e-9)


def test_recall_of_sets_at_the_threshold(rng):
    """Of pairs that share eight ninths of their elements: looked at, and estimated to reach a resemblance of 0.8."""
    n, size, common = 1200, 900, 800
    kind = make_kind("minhash", threshold=0.8, bands=4, rows=3)
    elements = rng.integers(0, 1 << 63, (n, 2 * size - common), dtype=np.uint64)
    sides = elements[:, :size], elements[:, size - common :]
    left, right = (kind.sketch(np.sort(side).ravel(), np.arange(n + 1) * size) for side in sides)
    found = (left.keys == right.keys).any(1) & ((left.codes == right.codes).sum(1) >= kind.least)
    expected = kind.recall_at_threshold
    assert abs(found.mean() - expected) < 4 * (expected * (1 - expected) / n) ** 0.5


@pytest.mark.parametrize("threshold", [0.2, 0.4, 0.6, 0.8])
def test_error_of_a_cosine_at_the_threshold(threshold):
    """Of 64 bits, each of which differs with probability angle / pi: over all numbers of them, to second order."""
    kind = make_kind("simhash", threshold=threshold)
    chances = stats.binom.pmf(np.arange(65), 64, np.arccos(threshold) / np.pi)
    estimates = np.cos(np.pi * np.arange(65) / 64)
    exact = (chances @ (estimates - chances @ estimates) ** 2) ** 0.5
    assert kind.error_at_threshold == pytest.approx(exact, rel=0.02)
    assert kind.share_probed([(16, 1000)]) == kind.share_probed([]) == 1.0, "tables of blocks find all"
