"""The mixers that all kernels share. These functions fix the values of all signatures: they are a contract, held by the
known-answer vectors in ``tests/golden``."""

import numpy as np

from .compiler import inlined, multiply_high, trailing_zeros
from .constants import ONE, ZERO

K0 = np.uint64(0xA0761D6478BD642F)
K1 = np.uint64(0xE7037ED1A0B428DB)
K2 = np.uint64(0x8EBC6AF09C88C6E3)
K3 = np.uint64(0x589965CC75374CC3)
M1 = np.uint64(0xFF51AFD7ED558CCD)
M2 = np.uint64(0xC4CEB9FE1A85EC53)
_S33 = np.uint64(33)


@inlined("uint64(uint64)")
def fmix64(x):
    """MurmurHash3's 64-bit finaliser: a bijection in which each input bit flips each output bit half of the time."""
    x = (x ^ (x >> _S33)) * M1
    x = (x ^ (x >> _S33)) * M2
    return x ^ (x >> _S33)


@inlined("uint64(uint64, uint64)")
def fold_multiply(a, b):
    """Both halves of the 128-bit product ``a * b``, XORed."""
    return (a * b) ^ multiply_high(a, b)


@inlined("uint64(int64)")
def shift_of(size):
    """How far to shift the product of a value and an odd factor to get a place in a table of ``size``, a power of two above 1.

    The highest bits are the place: two different values, whoever chose them, have one place with a probability of at most 2 /
    size over the choice of the factor (Dietzfelbinger, Hagerup, Katajainen & Penttonen, "A reliable randomized algorithm for
    the closest-pair problem", 1997). Lower bits of a product would not do: they hang on those of the value alone.
    """
    return np.uint64(64 - trailing_zeros(np.uint64(size)))


@inlined("boolean(uint64[::1], uint64, uint64)")
def is_new(table, value, spread):
    """Tell whether a value is met for the first time, and remember it in a table (uint64, a power of two long, zeros).
    ``spread``: this process's factor, see ``scratch``."""
    if value == ZERO:
        value = K0
    mask = np.uint64(len(table) - 1)
    place = (value * spread) >> shift_of(len(table))
    while table[place] != value:
        if table[place] == ZERO:
            table[place] = value
            return True
        place = (place + ONE) & mask
    return False
