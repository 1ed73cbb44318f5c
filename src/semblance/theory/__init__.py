"""Formulas: numbers in, numbers out, vectorised over NumPy arrays."""

from . import (
    agreement,
    banding,
    bbit,
    choose,
    fractional,
    hamming,
    hamming_costs,
    hamming_search,
    minhash,
    mixture,
    one_permutation,
    setsketch,
    shares,
    simhash,
    xor_bits,
)

__all__ = [
    "agreement",
    "banding",
    "bbit",
    "choose",
    "fractional",
    "hamming",
    "hamming_costs",
    "hamming_search",
    "minhash",
    "mixture",
    "one_permutation",
    "setsketch",
    "shares",
    "simhash",
    "xor_bits",
]
