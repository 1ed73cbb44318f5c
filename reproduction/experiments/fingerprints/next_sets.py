"""The thesis' Algorithm 2 and Figure 3: the sets of weak bits in the order of their cost, and how many of a size can be."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
from report import Section

from lookalike.core import cheapest_flip_sets
from lookalike.theory.weak_bits import cheapest_sets

from . import next_rule as rule


def _kernel_sets(costs: np.ndarray, count: int, most: int) -> list[tuple[int, ...]]:
    """Return the sets of the library's kernel, the empty one first, as ranks from 1."""
    sets = cheapest_flip_sets(costs, most, count)
    return [tuple(i + 1 for i in range(64) if flips >> i & 1) for flips in sets.tolist()]


def algorithm_2(quick: bool) -> Section:
    """Compare the printed rule, the repaired one and the library's with all sets."""
    section = Section(
        "t-next",
        "Thesis, Algorithm 2, Figure 3, (4.7)-(4.9): the next set of weak bits",
        "The repaired rule leaves out or repeats a set, or one comes before a cheaper one; the library's sets are others; "
        "the heap "
        "grows beyond k + h - 1; or an enumeration of all families of sets disagrees with our number of sets of a size.",
    )
    rows, right = [], True
    for top, size in ((6, 3), (10, 2), (10, 3), (12, 5), (14, 6)):
        every = list(combinations(range(1, top + 1), size))
        printed, repaired = (rule.reached(r, size, top) for r in (rule.printed_next, rule.repaired_next))
        naive = len(rule.reached(rule.every_increment, size, top)) if top < 8 else None
        rows.append([top, size, len(every), len(set(printed)), len(repaired), naive or "not run"])
        right &= sorted(repaired) == every and len(set(printed)) < len(every)
    section.say(
        "Printed, the rule asks for a gap p(l-j) - p(l-j+1) of at most 2, which of ascending ranks is always "
        "negative: its "
        "second candidate never comes. With the sign turned each set comes once."
    )
    section.table(["bits", "size", "sets", "printed rule", "repaired", "all increments, with repeats"], rows)
    section.equals(
        "the printed rule comes to 9 of the 45 pairs of 10 bits, 8 of 120 triples, 9 of 3,003 sets of 6 of 14",
        [rows[i][3] for i in (1, 2, 4)],
        [9, 8, 9],
        name="printed-rule",
        sense="excludes",
    )
    section.observe(
        f"of the 45 pairs of 10 bits the printed rule comes to {rows[1][3]}", name="printed-pairs", found=rows[1][3]
    )
    section.holds(
        "the repaired rule comes to each set once, and the printed one misses some, in all five cases",
        right,
        name="repaired-rule",
    )
    section.table(
        ["set (Figure 3 starts from 1, 2, 3)", "printed", "repaired"],
        [
            [s, rule.printed_next(s, 9), rule.repaired_next(s, 9)]
            for s in ((1, 2, 3), (1, 2, 4), (1, 3, 4), (1, 3, 5), (2, 3, 4))
        ],
    )
    rng, worst, same, dearer = np.random.default_rng(5), -99, True, 0
    tries = 100 if quick else 400
    for _ in range(tries):
        top, most, count = (int(n) for n in rng.integers((3, 1, 1), (20, 5, 120)))
        costs = np.sort(rng.random(top))
        found, largest = rule.cheapest(rule.repaired_next, costs.tolist(), count, most)
        sets = [c for n in range(1, min(most, top) + 1) for c in combinations(range(1, top + 1), n)]
        sets.sort(key=lambda c: sum(costs[i - 1] for i in c))
        ours = [tuple(i + 1 for i in c) for c in cheapest_sets(costs, count + 1, most)]
        same &= found == sets[:count] == ours[1:] == _kernel_sets(costs, count + 1, most)[1:]
        worst = max(worst, largest - (count + most - 1))
        printed = rule.cheapest(rule.printed_next, costs.tolist(), count, most)[0]
        dearer += printed != found
    section.holds(
        f"with random costs ({tries} times up to 19 bits, sizes up to 4, k up to 119) the repaired rule, the "
        f"library's kernel and "
        "theory.weak_bits.cheapest_sets all give the first k sets of the sorted list",
        same,
        name="first-k",
    )
    section.holds(f"the printed rule gives other sets in {dearer} of {tries} cases", dearer > tries // 4, name="other-sets")
    section.holds(f"the thesis' heap holds at most k + h - 1 sets (the fullest one {-worst} fewer)", worst <= 0, name="heap")
    ks = range(1, 61)
    wrong = {i: [k for k in ks if rule.printed_most(k, i) != rule.most_of_size(k, i)] for i in (1, 2, 3, 4)}
    agrees = all(
        rule.most_by_enumeration(top, size) == [rule.closure_size(n, size) for n in range(comb(top, size) + 1)]
        for top, size in ((5, 2), (5, 3), (6, 2), (6, 4)) + (() if quick else ((6, 3),))
    )
    section.holds(
        "the fewest subsets of N sets (Kruskal and Katona) are those of an enumeration of all families of sets",
        agrees,
        name="closure",
    )
    section.equals(
        "(4.7)-(4.9) are right for sizes 1 and 2, and wrong for 26 and 20 of k = 1 to 60 for sizes 3 and 4",
        [len(wrong[i]) for i in (1, 2, 3, 4)],
        [0, 0, 26, 20],
        name="bound",
        sense="excludes",
    )
    weights = np.array([0.99, 0.98, 0.5, 0.49, 0.3])  # chances of flips; their product is to be largest
    top_18 = cheapest_sets(-np.log(weights), 19, 3)[1:]
    section.equals(
        "k = 18, size 3: (4.7)-(4.9) allow 4, five are possible, and chances .99, .98, .5, .49, .3 have five "
        "among the first 18",
        [rule.printed_most(18, 3), rule.most_of_size(18, 3), sum(len(c) == 3 for c in top_18)],
        [4, 5, 5],
        name="bound-18",
        sense="excludes",
    )
    section.equals(
        "k = 11, size 3: one by (4.7)-(4.9), two in truth",
        [rule.printed_most(11, 3), rule.most_of_size(11, 3)],
        [1, 2],
        name="bound-11",
        sense="excludes",
    )

    def draw(axes):
        for axis, size in zip(axes, (3, 4), strict=True):
            axis.step(ks, [rule.most_of_size(k, size) for k in ks], where="post", label="possible")
            axis.step(ks, [rule.printed_most(k, size) for k in ks], where="post", label="(4.7)-(4.9)")
            axis.set_title(f"sets of {size} bits")
            axis.set_xlabel("k, sets flipped")
            axis.set_ylabel("most of that size")
            axis.legend(loc="upper left")

    section.figure(
        "t-next-bound",
        (1, 2),
        draw,
        "Most sets of three and of four bits among the first k. Where the orange "
        "line lies below "
        "the blue one the thesis' bound is too low: a buffer of that size would overflow. The heap needs no such "
        "bound.",
    )
    return section
