"""Keyed digests of bytes and keyed hashes of shingles, with a proof: polynomials modulo p = 2^61 - 1 at a secret point.

A digest is of blocks of 256 bytes. A block of words m and secret words k becomes the sum over i of (m[2i] + k[2i]) (m[2i+1] +
k[2i+1]) modulo 2^128, sums in brackets modulo 2^64: two blocks of one length become the same with probability 2^-64 at most (NH
of Black, Halevi, Krawczyk, Krovetz & Rogaway, "UMAC: fast and secure message authentication", 1999). These are the
coefficients, three for a block, of a polynomial that begins with a one and ends with the number of bytes: two of degree d agree
with probability d / p at most (Carter & Wegman, "Universal classes of hash functions", 1979). All that is done twice, with
words that are shifted by two and another point, so that two different texts of up to n bytes have one digest with probability
(2^-64 + (3 n / 256 + 7) / p)^2 at most, whoever wrote them, as long as the secret words are not known.

A token is two words (``token_key``), cut into three coefficients of 56, 56 and 16 bits. A shingle's polynomial begins with a
one, and goes on with the coefficients of its tokens: shingles of different tokens, or of a different number of them, have
different polynomials, of degree 3 m at most for m tokens, which have one value at 3 m points at most of the p there are. The
value is mixed one to one. A token's coefficients make one number; shingles are rolled along these by powers of X = x^3. Their
``secret``: x, x^2, x^3 and a word for the mixing. Numbers "not quite reduced" are below p + 9.
"""

import numpy as np

from .compiler import inlined, load64, multiply_high
from .constants import ONE, ZERO
from .folding import load_last

P = np.uint64((1 << 61) - 1)
BLOCK = 256
POINTS = 6  # words of the secret that are secret of points: three of each; the others are those of blocks
_S3 = np.uint64(3)
_S8 = np.uint64(8)
_S48 = np.uint64(48)
_S56 = np.uint64(56)
_S61 = np.uint64(61)
_TOP = np.uint64(1 << 63)
_LOW48 = np.uint64((1 << 48) - 1)
_LOW56 = np.uint64((1 << 56) - 1)


@inlined("uint64(uint64, uint64)")
def times(a, b):
    """``a * b`` modulo p, not quite reduced: below 2^62 if the product is below 2^122, below 2^61 + 2^56 if below 2^117."""
    low = a * b
    return (low & P) + ((multiply_high(a, b) << _S3) | (low >> _S61))


@inlined("uint64(uint64)")
def folded(total):
    """Reduce any word modulo p, but for a few units: below 2^61 + 8."""
    return (total & P) + (total >> _S61)


@inlined("uint64(uint64, uint64, uint64, uint64, uint64, uint64)")
def next_value(value, low, high, x, x2, x3):
    """Value of a polynomial with three more coefficients, the bits of a sum of products; not quite reduced."""
    middle = (low >> _S56) | ((high & _LOW48) << _S8)
    return folded(times(value, x3) + times(low & _LOW56, x2) + times(middle, x) + (high >> _S48))


@inlined("UniTuple(uint64, 2)(const uint8[::1], int64, int64, const uint64[::1])")
def digest_range(data, position, end, secret):
    """Values of both polynomials of ``data[position:end]``, not quite reduced."""
    length = np.uint64(end - position)
    a = ONE
    b = ONE
    while position < end:
        stop = min(position + BLOCK, end)
        a_low = ZERO
        a_high = ZERO
        b_low = ZERO
        b_high = ZERO
        k = POINTS
        while position < stop:
            if position + 16 <= stop:
                first = load64(data, position)
                second = load64(data, position + 8)
            else:
                rest = stop - position
                first = load64(data, position) if position + 8 <= len(data) else load_last(data, position)
                second = ZERO
                if rest < 8:
                    first &= (ONE << np.uint64(8 * rest)) - ONE
                else:
                    second = load64(data, position + 8) if position + 16 <= len(data) else load_last(data, position + 8)
                    second &= (ONE << np.uint64(8 * (rest - 8))) - ONE
            left = first + secret[k]
            right = second + secret[k + 1]
            product = left * right
            a_low += product
            a_high += multiply_high(left, right) + np.uint64(a_low < product)
            left = first + secret[k + 2]
            right = second + secret[k + 3]
            product = left * right
            b_low += product
            b_high += multiply_high(left, right) + np.uint64(b_low < product)
            k += 2
            position += 16
        a = next_value(a, a_low, a_high, secret[0], secret[1], secret[2])
        b = next_value(b, b_low, b_high, secret[3], secret[4], secret[5])
    return folded(times(a, secret[0]) + length), folded(times(b, secret[3]) + length)


@inlined("uint64(uint64)")
def reduced(value):
    """The one number below p that equals a value below 2 p modulo p."""
    return value - P if value >= P else value


@inlined("UniTuple(uint64, 2)(const uint8[::1], int64, int64, const uint64[::1])")
def token_key(data, start, size, secret):
    """Two words that tell a token from all others: its bytes and their number, or of more than 15 bytes their digest. ``data``
    has sixteen bytes more than the token. Bit 63 of the second word marks a digest; of no other token it is set."""
    if size > 15:
        a, b = digest_range(data, start, start + size, secret)
        return reduced(a), reduced(b) | _TOP
    low = load64(data, start)
    if size < 8:
        return low & ((ONE << np.uint64(8 * size)) - ONE), np.uint64(size) << np.uint64(56)
    high = load64(data, start + 8) & ((ONE << np.uint64(8 * (size - 8))) - ONE)
    return low, high | np.uint64(size) << np.uint64(56)


@inlined("uint64(uint64, uint64, uint64, uint64)")
def token_value(low, high, point, square):
    """Number of a token's words, below 2^62 + 2^58."""
    middle = (low >> _S56) | ((high & _LOW48) << _S8)
    return times(low & _LOW56, square) + times(middle, point) + (high >> _S48)
