"""Shingle hashes under a key: values of polynomials at a secret point x, modulo p = 2^61 - 1.

A token is two words (``digests.token_key``), cut into three coefficients of 56, 56 and 16 bits. A shingle's polynomial begins
with a one, and goes on with the coefficients of its tokens: shingles of different tokens, or of a different number of them,
have different polynomials, of degree 3 m at most for m tokens, which have one value at 3 m points at most of the p there are.
The value is mixed one to one. A token's coefficients make one number; shingles are rolled along these by powers of X = x^3.

``secret``: x, x^2, x^3 and a word for the mixing. Numbers "not quite reduced" are below p + 9.
"""

import numpy as np

from .compiler import compiled, inlined
from .constants import ONE, ZERO
from .digests import P, folded, reduced, times
from .hashing import fmix64

_S8, _S48, _S56 = (np.uint64(s) for s in (8, 48, 56))
_LOW48 = np.uint64((1 << 48) - 1)
_LOW56 = np.uint64((1 << 56) - 1)


@inlined("uint64(uint64, uint64, uint64, uint64)")
def token_value(low, high, point, square):
    """Number of a token's words, below 2^62 + 2^58."""
    middle = (low >> _S56) | ((high & _LOW48) << _S8)
    return times(low & _LOW56, square) + times(middle, point) + (high >> _S48)


@compiled("void(const uint64[:, ::1], const int64[::1], int64, const uint64[::1], uint64[::1], int64[::1], uint64[::1])")
def hash_keys(keys, offsets, width, secret, tokens, out_offsets, out):
    """Write the hashes of the shingles of rows of token keys into ``out``, repeats included, and where those of each row end.
    Fewer tokens than ``width`` make one shingle, none make none. ``tokens``: scratch, as long as the longest row."""
    point = secret[0]
    square = secret[1]
    step = secret[2]
    word = secret[3]
    written = ZERO  # indices without a sign: a negative one would count from the end, and has to be looked for
    out_offsets[0] = 0
    for row in range(len(offsets) - 1):
        begin = np.uint64(offsets[row])
        count = np.uint64(offsets[row + 1]) - begin
        i = ZERO
        while i < count:
            tokens[i] = token_value(keys[begin + i, 0], keys[begin + i, 1], point, square)
            i += ONE
        size = min(np.uint64(width), count)
        leading = ONE  # the power of X of the one that a polynomial begins with, and of the token that stood before its first
        state = ZERO
        i = ZERO
        while i < size:
            leading = folded(times(leading, step))
            state = folded(times(state, step) + tokens[i])
            i += ONE
        leading = reduced(leading)
        leaving = P - leading
        if count > ZERO:
            out[written] = fmix64(reduced(folded(state + leading)) ^ word)
            written += ONE
        while i < count:  # three terms, below 2^62 + 9, 2^62 + 2^61 + 2^58 and 2^62 + 2^58: together below 2^64
            state = folded(times(state, step) + (times(tokens[i - size], leaving) + tokens[i]))
            out[written] = fmix64(reduced(folded(state + leading)) ^ word)
            written += ONE
            i += ONE
        out_offsets[row + 1] = np.int64(written)
