from functools import partial
from itertools import product

import numpy as np
import pytest
from raising import assert_raises
from statistics_sets import estimated

from lookalike.errors import ParameterError
from lookalike.sketches import BBit, FastSimilarity, Fractional, MinHash, OnePermutation, Shingles, XorBits

FILLED = ("rotation", "optimal", "reverse")
SCHEMES = {
    "MinHash": MinHash,
    "FastSimilarity": FastSimilarity,
    "raw": OnePermutation,
    **{kind: partial(OnePermutation, densify=kind) for kind in FILLED},
}
PACKINGS = {
    "": None,
    **{f"{bits} bits": BBit(bits=bits) for bits in (1, 2, 4, 8)},
    **{f"XOR of {combined}": XorBits(combined=combined) for combined in (2, 4)},
    "1.5 bits": Fractional(shares=[(1, 0.5), (2, 0.5)]),
    "0.75 bits": Fractional(shares=[(1, 0.5), (0.5, 0.5)]),
}
KINDS = (
    [(scheme, "") for scheme in SCHEMES]
    + [("raw", f"{bits} bits") for bits in (1, 4)]
    + [("MinHash", name) for name in PACKINGS if name]
)


def wide_by_nature(scheme, packing, union, common, slots):
    """Why errors of a cell cover more than .98."""
    parts = [] if packing is None else packing.parts(slots)
    if any(part.combined > 1 for part in parts) and common / union < 0.9:
        return "chance matches as many bits, and no resemblance is below 0"
    stored = sum(part.slots for part in parts) or min(slots, union)
    mostly = max(part.combined for part in parts) if parts else 1
    if stored * mostly * min(common, union - common) / union < 16:
        return "few slots differ, or agree: one of two equal sides is too long"
    if scheme == "raw" and union * union < 8 * slots:
        return "bins hold one member each: mostly exact"
    return ""


def check_cell(rng, kind, size, slots, resemblance, ratio, pairs, likely):
    scheme, packing = kind[0], PACKINGS[kind[1]]
    common = min(size, round((1 + ratio) * size * resemblance / (1 + resemblance)))
    union = (1 + ratio) * size - common
    pool = rng.integers(0, 1 << 63, (pairs, union), "uint64")
    sets = np.concatenate([pool[:, :size], pool[:, size - common :]], 1)
    offsets = np.concatenate([[0], np.cumsum(np.tile([size, ratio * size], pairs))])
    signed = SCHEMES[scheme](permutations=slots).sign(Shingles(sets.ravel(), offsets))
    how = {"most_likely": True} if likely else {}
    found, error = estimated(packing.pack(signed) if packing else signed, with_error=True, **how)
    covered = (np.abs(found - common / union) <= 1.96 * error + 1e-12).mean()
    cell = f"{size} and {ratio * size} members, {common / union:.3f}, {slots} slots: {covered:.3f}"
    few_values = scheme == "raw" and union < slots  # they cannot cover .95
    assert covered > (0.9 if few_values else 0.92) - 3 * (0.08 * 0.92 / pairs) ** 0.5, cell
    assert covered < 0.98 + 3 * (0.02 * 0.98 / pairs) ** 0.5 or wide_by_nature(scheme, packing, union, common, slots), cell


CELLS = [
    (20, 256, 0.5, 1),
    (20, 1024, 0.8, 1),
    (200, 64, 0.19, 5),
    (200, 256, 0.97, 1),
    (200, 512, 0.99, 1),
    (200, 512, 1.0, 1),
]


@pytest.mark.filterwarnings("ignore:estimates from XORs")
def test_errors_cover(rng):
    for kind, cell in product(KINDS, CELLS):
        for likely in {False, kind[1] != ""}:
            check_cell(rng, kind, *cell, 500, likely)
    for kind, size in product(FILLED, (2, 5)):
        check_cell(rng, (kind, ""), size, 128, 0.34, 1, 500, False)


def test_bits_state_an_error_above_0_or_none():
    """Of filled bins, whose bits agree together, none."""
    for combined, density in product((2, 4), (0.6, 0.0)):
        matches = np.arange(1024 // combined)[:, None]
        assert (XorBits(combined=combined).estimate(matches, 1024, density, density)[1] > 0).all()
    shingles = Shingles.from_arrays([1, 2, 3, 1, 2, 4], [0, 3, 6])
    for kind, packing in product(FILLED, ("1 bits", "XOR of 2")):
        packed = PACKINGS[packing].pack(SCHEMES[kind](permutations=64).sign(shingles))
        assert_raises(ParameterError, "pack raw bins with BBit", packed.estimated_resemblance, 0, 1, with_error=True)
