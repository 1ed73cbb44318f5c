"""SimHash: each bit is the sign of a sum of weights, plus or minus by the bits of the features' hashes.

Equal weights are counted 64 bits at a time: counter j of all 64 is bit j of a stack of words, the *planes*, the lowest first.
Fifteen full adders add sixteen hashes to four planes, and the carry ripples through the others; the sign is a comparison of
planes too.
"""

import numpy as np

from .compiler import compiled, inlined
from .constants import FULL, GOLDEN, ONE, ZERO
from .hashing import fmix64


@inlined("UniTuple(uint64, 2)(uint64, uint64, uint64)")
def full_add(a, b, c):
    """Add three bits in each of 64 places; return (sums, carries)."""
    half = a ^ b
    return half ^ c, (a & b) | (half & c)


@compiled(
    "void(const uint64[::1], const int64[::1], int64, uint64, const uint64[::1], uint64[::1], uint64[::1], "
    "float32[:, ::1], uint64[:, ::1])"
)
def sign_sets(values, offsets, bits, salt, ties, planes, mixed, margins, out):
    """Write a fingerprint of each row, all features of weight 1, into ``out`` (rows, words); a sum of zero takes its bit from
    ``ties``. Scratch: ``planes``, four more than the longest row has binary digits, and ``mixed``, a multiple of 16.
    ``margins`` (rows, bits) receives the sums unless it has no row."""
    for word in range(out.shape[1]):
        mask = fmix64(salt + np.uint64(word) * GOLDEN)
        for row in range(len(offsets) - 1):
            begin = offsets[row]
            n = offsets[row + 1] - begin
            used = 4
            while n >> used:
                used += 1
            planes[:used] = ZERO
            for first in range(begin, begin + n, len(mixed)):
                size = min(len(mixed), begin + n - first)
                some = values[first : first + size]
                for i in range(size):  # apart, so that it is done for several at a time
                    mixed[i] = fmix64(some[i] ^ mask)
                ones = planes[0]
                twos = planes[1]
                fours = planes[2]
                eights = planes[3]
                for i in range(0, size // 16 * 16, 16):
                    ones, two_a = full_add(ones, mixed[i], mixed[i + 1])
                    ones, two_b = full_add(ones, mixed[i + 2], mixed[i + 3])
                    twos, four_a = full_add(twos, two_a, two_b)
                    ones, two_a = full_add(ones, mixed[i + 4], mixed[i + 5])
                    ones, two_b = full_add(ones, mixed[i + 6], mixed[i + 7])
                    twos, four_b = full_add(twos, two_a, two_b)
                    fours, eight_a = full_add(fours, four_a, four_b)
                    ones, two_a = full_add(ones, mixed[i + 8], mixed[i + 9])
                    ones, two_b = full_add(ones, mixed[i + 10], mixed[i + 11])
                    twos, four_a = full_add(twos, two_a, two_b)
                    ones, two_a = full_add(ones, mixed[i + 12], mixed[i + 13])
                    ones, two_b = full_add(ones, mixed[i + 14], mixed[i + 15])
                    twos, four_b = full_add(twos, two_a, two_b)
                    fours, eight_b = full_add(fours, four_a, four_b)
                    eights, carry = full_add(eights, eight_a, eight_b)
                    plane = 4
                    while carry != ZERO:
                        full = planes[plane] & carry
                        planes[plane] ^= carry
                        carry = full
                        plane += 1
                planes[0] = ones
                planes[1] = twos
                planes[2] = fours
                planes[3] = eights
                for i in range(size // 16 * 16, size):
                    carry = mixed[i]
                    plane = 0
                    while carry != ZERO:
                        full = planes[plane] & carry
                        planes[plane] ^= carry
                        carry = full
                        plane += 1
            more = ZERO  # counters above n // 2; the sum is twice the counter less n
            equal = FULL
            for plane in range(used - 1, -1, -1):
                if (n // 2) >> plane & 1:
                    equal &= planes[plane]
                else:
                    more |= equal & planes[plane]
                    equal &= ~planes[plane]
            if n % 2 == 0:
                more |= equal & ties[word]
            wanted = min(64, bits - word * 64)
            out[row, word] = more & (FULL >> np.uint64(64 - wanted))
            if len(margins) > 0:
                for j in range(wanted):
                    count = 0
                    for plane in range(used):
                        count += np.int64((planes[plane] >> np.uint64(j)) & ONE) << plane
                    margins[row, word * 64 + j] = 2 * count - n


@compiled(
    "void(const uint64[::1], const float64[::1], const int64[::1], int64, uint64, const uint64[::1], float64[::1], "
    "float32[:, ::1], uint64[:, ::1])"
)
def sign_weighted(values, weights, offsets, bits, salt, ties, sums, margins, out):
    """Write a fingerprint of each row of weighted features into ``out`` (rows, words); a sum of zero takes its bit from
    ``ties``. ``sums`` (64 a word) is scratch; ``margins`` (rows, bits) receives the sums unless it has no row."""
    words = out.shape[1]
    for row in range(len(offsets) - 1):
        sums[:] = 0.0
        for i in range(offsets[row], offsets[row + 1]):
            weight = weights[i]
            for word in range(words):
                mixed = fmix64(values[i] ^ fmix64(salt + np.uint64(word) * GOLDEN))
                base = word * 64
                for j in range(64):
                    sums[base + j] += weight if (mixed >> np.uint64(j)) & ONE != ZERO else -weight
        for word in range(words):
            value = ZERO
            for j in range(min(64, bits - word * 64)):
                total = sums[word * 64 + j]
                bit = ONE if total > 0.0 else ZERO if total < 0.0 else (ties[word] >> np.uint64(j)) & ONE
                value |= bit << np.uint64(j)
                if len(margins) > 0:
                    margins[row, word * 64 + j] = total
            out[row, word] = value
