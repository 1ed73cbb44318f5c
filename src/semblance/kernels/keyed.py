"""Shingle hashes under a key: values of polynomials at a secret point x, modulo p = 2^61 - 1.

A token is two words (``digests.token_key``), cut into three coefficients of 56, 56 and 16 bits. A shingle's polynomial begins
with a one, and goes on with the coefficients of its tokens: shingles of different tokens, or of a different number of them,
have different polynomials, of degree 3 m at most for m tokens, which have one value at 3 m points at most of the p there are.
The value is mixed one to one. A token's coefficients make one number; shingles are rolled along these by powers of X = x^3.

``secret``: x, x^2, x^3 and a word for the mixing. Numbers "not quite reduced" are below p + 9.
"""

import numpy as np

from ._compile import compiled, inlined
from .constants import ONE, ZERO
from .digests import P, folded, reduced, times
from .hashing import fmix64

_S8, _S48, _S56 = (np.uint64(s) for s in (8, 48, 56))
_LOW48 = np.uint64((1 << 48) - 1)
_LOW56 = np.uint64((1 << 56) - 1)
_TWICE = P + P


@inlined("uint64(uint64, uint64, uint64, uint64)")
def token_value(low, high, point, square):
    """Number of a token's words, not quite reduced."""
    middle = (low >> _S56) | ((high & _LOW48) << _S8)
    return folded(times(low & _LOW56, square) + times(middle, point) + (high >> _S48))


@compiled("void(const uint64[:, ::1], const int64[::1], int64, const uint64[::1], uint64[::1], int64[::1], uint64[::1])")
def hash_keys(keys, offsets, width, secret, tokens, out_offsets, out):
    """Write the hashes of the shingles of rows of token keys into ``out``, repeats included, and where those of each row end.

    Fewer tokens than ``width`` make one shingle, none make none. ``tokens``: scratch, as long as the longest row.
    """
    point = secret[0]
    square = secret[1]
    step = secret[2]
    word = secret[3]
    written = 0
    out_offsets[0] = 0
    for row in range(len(offsets) - 1):
        begin = offsets[row]
        count = offsets[row + 1] - begin
        for i in range(count):
            tokens[i] = token_value(keys[begin + i, 0], keys[begin + i, 1], point, square)
        size = min(width, count)
        leaving = ONE  # the power of X of the one that a polynomial begins with, and of the token before its first
        state = ZERO
        for i in range(size):
            leaving = folded(times(leaving, step))
            state = folded(times(state, step) + tokens[i])
        if count > 0:
            out[written] = fmix64(reduced(folded(state + leaving)) ^ word)
            written += 1
        for i in range(size, count):
            gone = folded(times(tokens[i - size], leaving))
            state = folded(times(state, step) + tokens[i] + (_TWICE - gone))
            out[written] = fmix64(reduced(folded(state + leaving)) ^ word)
            written += 1
        out_offsets[row + 1] = written
