"""Shingle hashes under a key: values of polynomials at a secret point x, modulo p = 2^61 - 1.

A token is two words (``digests.token_key``), cut into three coefficients of 56, 56 and 16 bits. A shingle's polynomial begins
with a one, and goes on with the coefficients of its tokens: shingles of different tokens, or of a different number of them, have
different polynomials, of degree 3 m at most for m tokens, which have one value at 3 m points at most of the p there are. The
value is mixed one to one. A token's coefficients make one number; so it is powers of X = x^3 that shingles are made by.

``secret``: x^2, x, a word for the mixing, and X^0 to X^16. Numbers "not quite reduced" are below p + 9.
"""

import numpy as np

from ._compile import compiled, inlined, multiply_high
from .constants import ONE, ZERO
from .digests import P, folded, reduced, times
from .hashing import fmix64

FEW = 16  # tokens that are summed for each shingle; more are rolled along the text
POWERS = 3  # where in the secret the powers of X begin
SECRET_WORDS = POWERS + FEW + 1
_S3, _S8, _S48, _S56, _S58, _S61 = (np.uint64(s) for s in (3, 8, 48, 56, 58, 61))
_LOW48 = np.uint64((1 << 48) - 1)
_LOW56 = np.uint64((1 << 56) - 1)
_TWICE = P + P


@inlined("uint64(uint64, uint64)")
def remainder(low, high):
    """A number of 128 bits modulo p, not quite reduced."""
    return folded((low & P) + (((high << _S3) | (low >> _S61)) & P) + (high >> _S58))


@inlined("uint64(uint64, uint64, uint64, uint64)")
def token_value(low, high, square, point):
    """Number of a token's words, not quite reduced."""
    middle = (low >> _S56) | ((high & _LOW48) << _S8)
    return folded(times(low & _LOW56, square) + times(middle, point) + (high >> _S48))


@compiled("void(const uint64[:, ::1], const int64[::1], int64, const uint64[::1], uint64[::1], int64[::1], uint64[::1])")
def hash_keys(keys, offsets, width, secret, tokens, out_offsets, out):
    """Write the hashes of the shingles of rows of token keys into ``out``, repeats included, and where those of each row end.

    Fewer tokens than ``width`` make one shingle, none make none. ``tokens``: scratch, as long as the longest row.
    """
    square = secret[0]
    point = secret[1]
    word = secret[2]
    written = 0
    out_offsets[0] = 0
    for row in range(len(offsets) - 1):
        begin = offsets[row]
        count = offsets[row + 1] - begin
        for i in range(count):
            tokens[i] = token_value(keys[begin + i, 0], keys[begin + i, 1], square, point)
        size = min(width, count)
        if count == 0:
            pass
        elif size <= FEW:
            first = secret[POWERS + size]
            for i in range(count - size + 1):
                low = first
                high = ZERO
                for j in range(size):
                    token = tokens[i + j]
                    power = secret[POWERS + size - 1 - j]
                    product = token * power
                    low += product
                    high += multiply_high(token, power) + np.uint64(low < product)
                out[written] = fmix64(reduced(remainder(low, high)) ^ word)
                written += 1
        else:
            step = secret[POWERS + 1]
            leaving = ONE
            state = ZERO
            for i in range(size):
                leaving = folded(times(leaving, step))
                state = folded(times(state, step) + tokens[i])
            out[written] = fmix64(reduced(folded(state + leaving)) ^ word)
            written += 1
            for i in range(size, count):
                gone = folded(times(tokens[i - size], leaving))
                state = folded(times(state, step) + tokens[i] + (_TWICE - gone))
                out[written] = fmix64(reduced(folded(state + leaving)) ^ word)
                written += 1
        out_offsets[row + 1] = written
