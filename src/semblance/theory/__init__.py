"""Formulas: numbers in, numbers out, vectorized over NumPy arrays."""

from . import (
    agreement,
    banding,
    bbit,
    blocks,
    choose,
    fractional,
    hamming_costs,
    hamming_search,
    minhash,
    mixture,
    one_permutation,
    quantization,
    set_distance,
    setsketch,
    shares,
    simhash,
    weak_bits,
    xor_bits,
)

hamming = set_distance  # its name in 0.1, where "hamming" meant two things

__all__ = [
    "agreement",
    "banding",
    "bbit",
    "blocks",
    "choose",
    "fractional",
    "hamming",
    "hamming_costs",
    "hamming_search",
    "minhash",
    "mixture",
    "one_permutation",
    "quantization",
    "set_distance",
    "setsketch",
    "shares",
    "simhash",
    "weak_bits",
    "xor_bits",
]
