"""b bits of one permutation hashing against b bits of k permutations, at equal storage."""

from __future__ import annotations

from typing import Any

import numpy as np
from report import Section, variance_error

import semblance as sb
from one_permutation.sets import estimates, hashed_pairs, random_places
from semblance.theory import bbit, one_permutation

BINS, BITS, UNIONS = 256, (1, 2, 4, 8), (64, 256, 1024, 4096)
SCHEMES = {
    "k permutations": sb.MinHash(permutations=BINS),
    "raw bins": sb.OnePermutation(permutations=BINS),
    "optimal": sb.OnePermutation(permutations=BINS, densify="optimal"),
    "fast similarity": sb.FastSimilarity(permutations=BINS),
}
Cells = dict[tuple[str, int, int], tuple[float, float]]


def _theory(name: str, signatures: Any, union: int, bits: int) -> tuple[float, float]:
    """Variance of b-bit estimates, and its own error where it rests on the measured variance of whole slots."""
    if name == "k permutations":
        return float(bbit.variance(0.5, bits, BINS)), 0.0
    if name == "optimal":
        return float(bbit.scheme_variance(one_permutation.optimal_variance(0.5, union, BINS), 0.5, bits, BINS)), 0.0
    if name == "raw bins":
        left, right = signatures.values[::2], signatures.values[1::2]
        empty = np.iinfo(signatures.values.dtype).max
        both, either = (
            ((left != empty) & (right != empty) & (left != right)).sum(1),
            ((left != empty) | (right != empty)).sum(1),
        )
        # Bins filled in both sets whose minima differ have equal bits by chance; a bin filled in one set only cannot.
        return float(one_permutation.variance(0.5, union, BINS)) + float((both / either**2).mean()) / (2.0**bits - 1.0), 0.0
    variance, error = (float(v) for v in variance_error(estimates(signatures)))
    return float(bbit.scheme_variance(variance, 0.5, bits, BINS)), error


def equal_bytes(quick: bool) -> Section:
    """Variance times stored bits, by scheme, number of bits and size of the sets."""
    pairs = 2500 if quick else 8000
    section = Section(
        "b-bits",
        f"b bits of one permutation and of k permutations, at equal storage, {pairs:,} pairs of sets",
        "Variance times stored bits differs from theory by more than the limit of standard errors, at any number of bits and any size "
        "of the sets; or the report's claim, that one permutation performs as well or slightly better, fails for sets with many more "
        "members than bins.",
    )
    section.say(
        f"Random sets with R = 0.5, {BINS} slots. Variance times stored bits per set, over R(1 − R), ± 2 standard errors; lower "
        "is better. Raw bins store one bit more per slot, which distinguishes filled bins from empty ones."
    )
    rng = np.random.default_rng(41)
    cells: Cells = {}
    ratios, spreads = [], []
    for union in UNIONS:
        shingles = hashed_pairs(rng, pairs, union)
        for name, scheme in SCHEMES.items():
            signatures = scheme.sign(shingles)
            for bits in BITS:
                packed = sb.BBit(bits=bits).pack(signatures)
                variance, error = (float(v) for v in variance_error(estimates(packed)))
                theory, theory_error = _theory(name, signatures, union, bits)
                ratios.append(variance / theory)
                spreads.append(np.hypot(error, theory_error) / theory)
                stored = 8 * packed.n_bytes / len(packed) / 0.25
                cells[name, union, bits] = variance * stored, error * stored
    rows = []
    for bits in BITS:
        for name in SCHEMES:
            each = [cells[name, union, bits] for union in UNIONS]
            rows.append([bits, name, *(f"{value:.2f} ± {2 * error:.2f}" for value, error in each)])
    section.table(["b", "scheme", *(f"f = {union:,}" for union in UNIONS)], rows)
    found, error = np.array(ratios), np.array(spreads)
    section.agrees("all cells: variance by theory", found, 1.0, error)
    # The four numbers of bits of a scheme share its slots: as if each group of four were one cell.
    groups = error.reshape(-1, len(BITS)).max(1)
    section.agrees("all cells: variance over theory, mean", found.mean(), 1.0, (groups**2).sum() ** 0.5 / len(groups))
    _verdicts(section, cells)
    _space(section, rng)
    return section


def _verdicts(section: Section, cells: Cells) -> None:
    """The report's claim, by size of the sets."""

    def compare(name: str, union: int, bits: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        one, other = (np.array([cells[key, union, b] for b in bits]).T for key in (name, "k permutations"))
        return one[0], other[0], np.hypot(one[1], other[1])

    small, large = UNIONS[0], UNIONS[-1]
    one, other, error = compare("optimal", large, BITS)
    filled = one_permutation.optimal_variance(0.5, large, BINS)
    theory = np.array([bbit.scheme_variance(filled, 0.5, b, BINS) / bbit.variance(0.5, b, BINS) for b in BITS])
    claim = f"f = {large:,}: filled bins over k permutations, {theory.min():.2f} to {theory.max():.2f} by theory: as well or slightly better"
    section.agrees(claim, one / other, theory, error / other)
    one, other, error = compare("optimal", small, (4, 8))
    section.below(f"f = {small}, 4 and 8 bits: filled bins are worse than k permutations", other, one, error)
    one, other, error = compare("raw bins", small, (4, 8))
    section.below(
        f"f = {small}, 4 and 8 bits: raw bins are better than k permutations, their extra bit counted", one, other, error
    )
    one, other, error = compare("raw bins", large, (1, 2))
    section.below(
        f"f = {large:,}, 1 and 2 bits: with their extra bit raw bins are worse than k permutations", other, one, error
    )
    one, other, error = compare("fast similarity", small, BITS[1:])
    section.below(
        f"f = {small}: 2 to 8 bits of fast similarity sketches are better than those of k permutations", one, other, error
    )
    section.say(
        "So the report's claim holds for sets with many more members than bins. For smaller sets it depends on the empty bins: "
        "filled by copies they cost accuracy; told apart by one more bit they gain it from b = 4 on."
    )


def _space(section: Section, rng: np.random.Generator) -> None:
    """Table 1 of the report."""
    universe, k = 10**9, 500
    section.say(
        "Table 1 of the report counts bits for the permutations, if they are stored as tables, and for each set. With D = 10⁹, "
        f"k = t = {k} and b = 1, both together:"
    )
    section.table(["scheme", "bits"], [[name, f"{bits:.3g}"] for name, bits in one_permutation.space_bits(universe, k).items()])
    places = one_permutation.space_bits(universe, 1)["one permutation"] - np.log2(universe)
    section.equals("one permutation of 10⁹ places takes the 4 GB of section 3.3", places / 8e9, 4.0, 0.5)
    universe = 1 << 16
    scheme = sb.PermutationBins(universe=universe, permutations=BINS)
    slots = scheme.bin_places(*random_places(rng, 40, universe, 300, 300, 200)).values
    filled = slots[slots != np.iinfo(slots.dtype).max]
    section.holds(
        f"D = {universe:,}, t = {BINS}: places counted from the start of their bin need log2(D / t) = 8 bits, no more and no fewer",
        int(filled.max()).bit_length() == 8,
    )
    section.say(
        "In practice hash functions take the place of stored permutations, and all schemes need only a few words for them."
    )
