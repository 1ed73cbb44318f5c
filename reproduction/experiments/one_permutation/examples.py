"""The worked examples of the report on minwise, b-bit and one permutation hashing, from the library itself."""

from __future__ import annotations

from itertools import permutations

import numpy as np
from report import Section

import lookalike as la
from lookalike.theory import one_permutation, set_distance

EMPTY = np.iinfo(np.uint64).max
SHINGLES = [f"{first} {second}" for first in "uvw" for second in "uvw"]  # the report's list, its last two entries set right
PLACES = {"X": (2, 4, 7, 13), "Y": (0, 3, 6, 13), "Z": (0, 1, 10, 12)}


def _written(row: np.ndarray) -> str:
    """A row of bins as the report writes it."""
    return "[" + ", ".join("*" if slot == EMPTY else str(slot) for slot in row) + "]"


def _running_example(section: Section) -> None:
    """Section 2: two pages, shingles of two words, one permutation of nine places."""
    pages = ["u v u v", "w v u"]
    found = la.shingle([*pages, *SHINGLES], width=2)
    numbers = {int(found.row(2 + i)[0]): i for i in range(len(SHINGLES))}
    sets = [sorted(numbers[int(key)] for key in found.row(i)) for i in range(2)]
    section.holds(
        "pages shingled by two words: X is {uv, vu}, Y is {wv, vu}; uv twice counts once",
        sets == [[1, 3], [3, 7]],
        name="shingles",
    )
    section.holds("resemblance (1) of the shingles is 1/3", abs(found.resemblance(0, 1) - 1 / 3) < 1e-12, name="resemblance")
    section.holds(
        "Hamming distance by (10) and by (12): 2",
        len(set(sets[0]) ^ set(sets[1])) == 2 == round(float(set_distance.distance(1 / 3, 2, 2)), 12),
        name="distance",
    )
    places = {1: 8, 3: 5, 7: 2}  # the report's permutation, where it matters
    one_bin = la.sketches.PermutationBins(universe=9, permutations=1)
    least = one_bin.bin_places([places[x] for members in sets for x in members], [0, 2, 4])
    section.holds(
        "π(X) = {5, 8} and π(Y) = {2, 5} have minima 5 and 2 (6)", least.values.ravel().tolist() == [5, 2], name="minima"
    )
    section.holds("which do not match", least.estimated_resemblance(0, 1) == 0.0, name="minima")
    all_places = np.array(list(permutations(range(9), 3)))  # of uv, vu, wv under all 9! permutations, each as often
    every = one_bin.bin_places(all_places[:, [0, 1, 1, 2]].ravel(), np.arange(0, 4 * len(all_places) + 1, 2))
    rows = np.arange(0, len(every), 2)
    matches = int(every.estimated_resemblance(rows, rows + 1).sum())
    section.holds(
        f"Lemma 1: the minima match under {matches} of {len(rows)} arrangements, exactly one third",
        3 * matches == len(rows),
        name="lemma-1",
    )


def _bins(section: Section) -> None:
    """Section 4: three sets in four bins."""
    scheme = la.sketches.PermutationBins(universe=16, permutations=4)
    signatures = scheme.bin_places(np.concatenate(list(PLACES.values())), np.arange(0, 13, 4))
    rows = [_written(row) for row in signatures.values]
    section.table(
        ["set", "π(S)", "bins"],
        [[name, "{" + ", ".join(map(str, PLACES[name])) + "}", row] for name, row in zip(PLACES, rows, strict=True)],
    )
    section.holds("(22): the vectors of the report", rows == ["[2, 0, *, 1]", "[0, 2, *, 1]", "[0, *, 2, 0]"], name="vectors")
    left, right = signatures.values[[0, 0, 1]], signatures.values[[1, 2, 2]]
    empty = ((left == EMPTY) & (right == EMPTY)).sum(1)
    matches = ((left == right) & (left != EMPTY)).sum(1)
    section.holds("(23), (24) for X and Y: N_emp = 1 and N_mat = 1", (empty[0], matches[0]) == (1, 1), name="counts")
    found = signatures.estimated_resemblance([0, 0, 1], [1, 2, 2])
    section.holds(
        "(25): R is 1/3 for X and Y; 0 for X and Z, 1/4 for Y and Z",
        np.allclose(found, [1 / 3, 0, 1 / 4], atol=1e-15),
        name="estimate",
    )
    bound = len(PLACES["X"]) // 4
    section.holds(
        f"algorithm 3 bounds the slots by |S| / t = {bound}, which its own example exceeds; places in a bin are below D / t "
        "= 4",
        int(signatures.values[0, 0]) > bound and signatures.values[signatures.values != EMPTY].max() < 4,
        name="bins",
        sense="excludes",
    )


def _all_permutations(section: Section) -> None:
    """(26), (30) and (32) under every permutation of eight places: no noise at all."""
    arrangements = np.array(list(permutations(range(8), 4)))  # places of one common member, one of X and two of Y
    scheme = la.sketches.PermutationBins(universe=8, permutations=4)
    signatures = scheme.bin_places(arrangements[:, [0, 1, 0, 2, 3]].ravel(), np.cumsum([0, *[2, 3] * len(arrangements)]))
    rows = np.arange(0, len(signatures), 2)
    left, right = signatures.values[rows], signatures.values[rows + 1]
    filled = ((left != EMPTY) | (right != EMPTY)).sum(1)
    matches = ((left == right) & (left != EMPTY)).sum(1)
    found = signatures.estimated_resemblance(rows, rows + 1)
    r, t = 0.25, 4
    section.equals(
        f"(26): the mean over all {len(rows):,} arrangements of 4 places of 8 in 4 bins is R = 1/4",
        found.mean(),
        r,
        1e-12,
        name="all-26",
    )
    by_filled = {m: matches[filled == m].mean() for m in np.unique(filled).tolist()}
    section.equals(
        "(30): E[N_mat | m filled bins] is m R", list(by_filled.values()), [m * r for m in by_filled], 1e-12, name="all-30"
    )
    section.holds(
        "and not m² R / t, to which the sum printed in (30) comes",
        all(abs(v - m * m * r / t) > 0.05 for m, v in by_filled.items() if m < t),
        name="printed-30",
        sense="excludes",
    )
    inverse = (1 / filled).mean()
    section.equals("(32): the variance", found.var(), r * (1 - r) * (inverse * (1 + 1 / 3) - 1 / 3), 1e-12, name="all-32")
    section.equals(
        "and the library's variance at D = 8", one_permutation.variance(r, 4, t, universe=8), found.var(), 1e-12, name="all-32"
    )


def worked(quick: bool) -> Section:
    """The report's examples; the same for quick runs."""
    section = Section(
        "b-examples",
        "The worked examples of sections 2 and 4",
        "Any value that the report prints in its examples differs from what the library returns, or, for sets in a "
        "universe so small "
        "that all permutations can be tried, the mean or the variance of the estimate differs at all from (26) or (32).",
    )
    section.say(
        "The texts of the report's two pages are in a drawing that is lost; these have the shingles it names. Its list of "
        "shingles "
        "ends in wv twice; the last is ww."
    )
    _running_example(section)
    section.say("One permutation hashing, four bins of four places:")
    _bins(section)
    section.say("Every permutation, none left out:")
    _all_permutations(section)
    return section
