"""The thesis' Table I: six words, four bits."""

from __future__ import annotations

import numpy as np
from report import Section

import lookalike as la

WORDS = (("0101", 0.05), ("1101", 0.02), ("0001", 0.01), ("1110", 0.03), ("0100", 0.05), ("0011", 0.09))
SUMS, PRINT = (-0.15, 0.05, -0.01, 0.09), "0101"


def table_1(quick: bool) -> Section:
    """Take features whose hashes end in the bits of the table, and sign them."""
    section = Section(
        "t-example",
        "Thesis, Algorithm 1, (2.4), (4.2), Table I: SimHash by hand",
        "The library's sums of six features whose hashes have the table's bits are not -.15, .05, -.01 and .09, or its bits "
        "not 0101.",
    )
    keys = np.arange(1, 400, dtype=np.uint64)
    alone = la.sketches.SimHash(bits=32).sign(
        la.sketches.WeightedSets.from_arrays(keys, np.ones(len(keys)), np.arange(len(keys) + 1))
    )
    hashes = [f"{word & 15:04b}" for word in alone.words[:, 0].tolist()]
    chosen = [int(keys[hashes.index(bits)]) for bits, _ in WORDS]
    found = la.sketches.SimHash(bits=32, margins=True).sign(
        la.sketches.WeightedSets.from_arrays(chosen, [w for _, w in WORDS], [0, len(WORDS)])
    )
    sums = found.margins[0, :4][::-1].astype(float)  # the table's first bit is the highest of the four
    bits = f"{int(found.words[0, 0]) & 15:04b}"
    section.say("The hash function of the table is unknown: among the numbers 1 to 399 six are taken whose hashes, by the "
                "library's own "
                "function, end in the bits of the table.")  # fmt: skip
    section.table(
        ["feature", "bits", "weight", "bit 1", "bit 2", "bit 3", "bit 4"],
        [[key, b, w, *(f"{w if bit == '1' else -w:+.2f}" for bit in b)] for key, (b, w) in zip(chosen, WORDS, strict=True)]
        + [["sum", "", "", *(f"{x:+.2f}" for x in sums)], ["fingerprint", "", "", *bits]],
    )
    section.equals("the sums are those of Table I", sums, SUMS, 1e-6, name="sums")
    section.holds(f"the fingerprint is {PRINT}", bits == PRINT, name="fingerprint")
    return section
