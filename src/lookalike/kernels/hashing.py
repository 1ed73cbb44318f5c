"""The mixers that all kernels share, and the 128-bit digest of a text's bytes. These functions fix the values of all
signatures: they are a contract, held by the known-answer vectors in ``tests/golden``."""

import numpy as np

from .compiler import compiled, inlined, load64, multiply_high, trailing_zeros
from .constants import EIGHT, ONE, ZERO

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


@inlined("UniTuple(uint64, 2)(const uint8[::1], int64, int64, uint64, uint64, uint64, uint64)")
def digest_bytes(data, position, end, a, b, k1, k2):
    """Run two hashes with different constants side by side over some bytes, from the states ``a`` and ``b`` on."""
    while position + 16 <= end:
        left = load64(data, position)
        right = load64(data, position + 8)
        a = fold_multiply(a ^ left, right ^ k1)
        b = fold_multiply(b ^ right, left ^ k2) + left
        position += 16
    while position < end:
        word = ZERO
        for i in range(min(8, end - position)):
            word |= np.uint64(data[position + i]) << (EIGHT * np.uint64(i))
        a = fold_multiply(a ^ word, k1)
        b = fold_multiply(b ^ word, k2) + word
        position += 8
    return a, b


@compiled("void(const uint8[::1], const int64[::1], int64, int64, uint64[:, ::1])")
def digest_rows(data, offsets, start, stop, out):
    """Write a 128-bit digest of the bytes of each row of ``[start, stop)`` into ``out`` of shape (rows, 2)."""
    for row in range(start, stop):
        length = np.uint64(offsets[row + 1] - offsets[row])
        a, b = digest_bytes(data, offsets[row], offsets[row + 1], K0 ^ length, K3 ^ length, K1, K2)
        out[row - start, 0] = fmix64(a ^ K2)
        out[row - start, 1] = fmix64(b ^ K1)


@compiled("void(const uint64[::1], uint64[::1])")
def mix_keys(keys, out):
    """Mix integer keys of any structure into 64-bit hashes; a bijection, so that different keys stay different."""
    for i in range(len(keys)):
        out[i] = fmix64(keys[i] + K0)
