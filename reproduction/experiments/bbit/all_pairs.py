"""Retrieval of all pairs of words with R >= R0 from b bits of k minima: measured, and summed up from binomials."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import special

import lookalike as la
from bbit.wordsets import BITS, WordSets
from lookalike.theory import bbit

THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
# Primes, near to the usual 10 to 500: with k R0 a whole number, many estimates from whole minima are exactly R0.
KS = (11, 23, 53, 101, 199, 499)
BLOCKS = {11: 3, 23: 3, 53: 8, 101: 3, 199: 2, 499: 1}  # independent signatures cut from one of MOST permutations
MOST, CHECKED = 500, 53
WHOLE_BITS = 12  # of numbers below 4096: all of them
AT_ONCE = 1 << 18


@dataclass(frozen=True, eq=False)
class Retrieval:
    """Pairs found for each threshold, in all and rightly: arrays (signatures, thresholds) by bits and k."""

    relevant: np.ndarray
    found: dict[int | None, dict[int, np.ndarray]]
    right: dict[int | None, dict[int, np.ndarray]]

    def _shares(self, kind: str, bits: int | None, k: int) -> np.ndarray:
        if kind == "recall":
            return self.right[bits][k] / np.maximum(self.relevant, 1)
        return self.right[bits][k] / np.maximum(self.found[bits][k], 1)

    def _curve(self, kind: str, bits: int | None) -> tuple[np.ndarray, np.ndarray]:
        shares = [self._shares(kind, bits, k) for k in KS]
        return np.stack([s.mean(0) for s in shares]), np.stack([s.std(0, ddof=1) / len(s) ** 0.5 for s in shares])

    def precision(self, bits: int | None) -> tuple[np.ndarray, np.ndarray]:
        """Return (mean precision, its standard error), each (numbers of samples, thresholds)."""
        return self._curve("precision", bits)

    def recall(self, bits: int | None) -> tuple[np.ndarray, np.ndarray]:
        """Return (mean recall, its standard error), each (numbers of samples, thresholds)."""
        return self._curve("recall", bits)

    def compare(self, kind: str, bits: int | None, other: int | None, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return (mean loss against ``other``, its standard error) for each threshold; both from the same permutations."""
        lost = self._shares(kind, other, k) - self._shares(kind, bits, k)
        return lost.mean(0), lost.std(0, ddof=1) / len(lost) ** 0.5


def levels(values: np.ndarray) -> np.ndarray:
    """Return how many thresholds each value reaches."""
    return np.searchsorted(THRESHOLDS, values, side="right")


def _tables(estimated: np.ndarray, exact: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (pairs found, pairs found rightly) for each threshold, from levels."""
    n = len(THRESHOLDS) + 1
    both = np.bincount(estimated * n + exact, minlength=n * n).reshape(n, n)
    found = both[::-1].cumsum(0)[::-1].sum(1)
    right = both[::-1, ::-1].cumsum(0).cumsum(1)[::-1, ::-1].diagonal()
    return found[1:], right[1:]


def retrieve(sets: WordSets, words: int, repetitions: int) -> Retrieval:
    """Sign the most frequent words, estimate all pairs, and count what is found."""
    left, right, common = sets.pairs(words)
    f1, f2 = sets.sizes[left], sets.sizes[right]
    exact = levels(common / (f1 + f2 - common))
    values, offsets = sets.members(np.arange(words))
    relevant = np.array([(exact >= i).sum() for i in range(1, len(THRESHOLDS) + 1)])
    constants = {}
    for bits in BITS[:-1]:
        c1, c2 = bbit.constants(bits, sets.densities[left], sets.densities[right])
        constants[bits] = c1, 1.0 - c2
    counts = {bits: {k: [] for k in KS} for bits in BITS}
    for seed in range(repetitions):
        signed = la.sketches.PermutationMinHash(universe=sets.universe, permutations=MOST, seed=1000 + seed).sign_sets(
            values, offsets
        )
        for k, blocks in BLOCKS.items():
            for block in range(blocks):
                part = np.ascontiguousarray(signed.values[:, block * k : (block + 1) * k])
                cut = la.sketches.Signatures(part, replace(signed.scheme, permutations=k), "integers", signed.densities)
                for bits in BITS:
                    counts[bits][k].append(_count(cut, bits, k, (left, right, exact), constants.get(bits)))
    both = {bits: {k: np.array(counts[bits][k]) for k in KS} for bits in BITS}
    return Retrieval(
        relevant,
        {bits: {k: both[bits][k][:, 0] for k in KS} for bits in BITS},
        {bits: {k: both[bits][k][:, 1] for k in KS} for bits in BITS},
    )


def _count(
    cut: la.sketches.Signatures,
    bits: int | None,
    k: int,
    pairs: tuple[np.ndarray, ...],
    constants: tuple[np.ndarray, ...] | None,
) -> np.ndarray:
    """Return (found, found rightly) over all pairs, from matches and (C1, 1 - C2) by (9), or the share of equal minima."""
    left, right, exact = pairs
    packed = la.sketches.BBit(bits=bits or WHOLE_BITS).pack(cut)
    total = np.zeros((2, len(THRESHOLDS)), np.int64)
    for begin in range(0, len(left), AT_ONCE):
        part = slice(begin, begin + AT_ONCE)
        share = packed.matches(left[part], right[part])[:, 0] / k
        if constants is not None:
            share = (share - constants[0][part]) / constants[1][part]
        high = np.flatnonzero(share >= THRESHOLDS[0])
        total += _tables(levels(share[high]), exact[part][high])
    return total


def predict(sets: WordSets, words: int, ks: tuple[int, ...]) -> dict[str, dict[int | None, dict[int, np.ndarray]]]:
    """Return the numbers of pairs to be found, in all and rightly: sums of binomial tails with Theorem 1's probabilities."""
    left, right, common = sets.pairs(words)
    # Pairs of the same sizes and intersection have the same law.
    keys, number = np.unique(
        np.stack([sets.sizes[left], sets.sizes[right], common.astype(np.int64)]), axis=1, return_counts=True
    )
    f1, f2, a = keys
    r, densities = a / (f1 + f2 - a), (f1 / sets.universe, f2 / sets.universe)
    out: dict[str, dict[int | None, dict[int, np.ndarray]]] = {"found": {}, "right": {}}
    for bits in BITS:
        e = r if bits is None else bbit.match_probability(r, bits, *densities)
        c1, c2 = (0.0, 0.0) if bits is None else bbit.constants(bits, *densities)
        for kind in out:
            out[kind][bits] = {k: np.zeros(len(THRESHOLDS)) for k in ks}
        for k in ks:
            for i, threshold in enumerate(THRESHOLDS):
                needed = np.ceil(k * (c1 + (1.0 - c2) * threshold) - 1e-9)  # matches from which the estimate reaches it
                tail = number * np.where(needed > k, 0.0, special.bdtrc(np.minimum(needed, k) - 1, k, e))
                out["found"][bits][k][i] = tail.sum()
                out["right"][bits][k][i] = tail[r >= threshold].sum()
    return out


def samples_needed(precision: np.ndarray, wanted: float) -> float:
    """Return the k from which a precision is reached and kept, interpolated in log k; infinite if it is not."""
    below = np.flatnonzero(precision < wanted)
    if not len(below):
        return float(KS[0])
    at = below[-1]
    if at == len(KS) - 1:
        return float("inf")
    share = (wanted - precision[at]) / (precision[at + 1] - precision[at])
    return float(np.exp(np.log(KS[at]) + share * (np.log(KS[at + 1]) - np.log(KS[at]))))
