"""Formulas: numbers in, numbers out, vectorised over NumPy arrays."""

from . import banding, bbit, choose, fractional, hamming, minhash, mixture, one_permutation, setsketch, xor_bits

__all__ = [
    "banding",
    "bbit",
    "choose",
    "fractional",
    "hamming",
    "minhash",
    "mixture",
    "one_permutation",
    "setsketch",
    "xor_bits",
]
