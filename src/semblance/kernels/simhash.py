"""SimHash: each bit of a fingerprint is the sign of a sum of weights, plus or minus by the bits of the features' hashes.

Features of equal weight are counted 64 bits at a time: counter j of all 64 is bit j of a stack of words, the *planes*, the
lowest first. Eight hashes are added to three words and a carry by seven full adders, five instructions each; the carry ripples
through the planes. The sign of a sum, whether more than half of the features have the bit, is a comparison of planes too.
"""

import numpy as np

from ._compile import compiled
from .hashing import fmix64

_ONE = np.uint64(1)
_ZERO = np.uint64(0)
_FULL = np.uint64(0xFFFFFFFFFFFFFFFF)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@compiled
def sign_sets(values, offsets, bits, salt, ties, planes, margins, out):
    """Write a fingerprint of ``bits`` bits of each row, all features of weight 1, into ``out`` (rows, words), uint64.

    A sum of zero takes its bit from ``ties`` (words). ``planes`` (uint64, one more than the longest row has binary digits)
    is scratch; ``margins`` (rows, bits), float32, receives the sums unless it has no row.
    """
    for word in range(out.shape[1]):
        mask = fmix64(salt + np.uint64(word) * _GOLDEN)
        for row in range(len(offsets) - 1):
            begin = offsets[row]
            n = offsets[row + 1] - begin
            used = 0
            while n >> used:
                planes[used] = _ZERO
                used += 1
            ones = _ZERO
            twos = _ZERO
            fours = _ZERO
            for i in range(begin, begin + n // 8 * 8, 8):
                a = fmix64(values[i] ^ mask)
                b = fmix64(values[i + 1] ^ mask)
                half = ones ^ a
                two_a = (ones & a) | (half & b)
                ones = half ^ b
                a = fmix64(values[i + 2] ^ mask)
                b = fmix64(values[i + 3] ^ mask)
                half = ones ^ a
                two_b = (ones & a) | (half & b)
                ones = half ^ b
                half = twos ^ two_a
                four_a = (twos & two_a) | (half & two_b)
                twos = half ^ two_b
                a = fmix64(values[i + 4] ^ mask)
                b = fmix64(values[i + 5] ^ mask)
                half = ones ^ a
                two_a = (ones & a) | (half & b)
                ones = half ^ b
                a = fmix64(values[i + 6] ^ mask)
                b = fmix64(values[i + 7] ^ mask)
                half = ones ^ a
                two_b = (ones & a) | (half & b)
                ones = half ^ b
                half = twos ^ two_a
                four_b = (twos & two_a) | (half & two_b)
                twos = half ^ two_b
                half = fours ^ four_a
                carry = (fours & four_a) | (half & four_b)
                fours = half ^ four_b
                plane = 3
                while carry != _ZERO:
                    full = planes[plane] & carry
                    planes[plane] ^= carry
                    carry = full
                    plane += 1
            if n >= 8:
                planes[0] = ones
                planes[1] = twos
                planes[2] = fours
            for i in range(begin + n // 8 * 8, begin + n):
                carry = fmix64(values[i] ^ mask)
                plane = 0
                while carry != _ZERO:
                    full = planes[plane] & carry
                    planes[plane] ^= carry
                    carry = full
                    plane += 1
            more = _ZERO  # counters above n // 2; the sum is twice the counter less n
            equal = _FULL
            for plane in range(used - 1, -1, -1):
                if (n // 2) >> plane & 1:
                    equal &= planes[plane]
                else:
                    more |= equal & planes[plane]
                    equal &= ~planes[plane]
            if n % 2 == 0:
                more |= equal & ties[word]
            wanted = min(64, bits - word * 64)
            out[row, word] = more & (_FULL >> np.uint64(64 - wanted))
            if len(margins) > 0:
                for j in range(wanted):
                    count = 0
                    for plane in range(used):
                        count += np.int64((planes[plane] >> np.uint64(j)) & _ONE) << plane
                    margins[row, word * 64 + j] = 2 * count - n


@compiled
def sign_weighted(values, weights, offsets, bits, salt, ties, sums, margins, out):
    """Write a fingerprint of ``bits`` bits of each row of weighted features into ``out`` (rows, words), uint64.

    ``weights`` (float64) has one entry a value. A sum of zero takes its bit from ``ties`` (words). ``sums`` (float64, 64
    entries a word) is scratch; ``margins`` (rows, bits), float32, receives the sums unless it has no row.
    """
    words = out.shape[1]
    for row in range(len(offsets) - 1):
        sums[:] = 0.0
        for i in range(offsets[row], offsets[row + 1]):
            weight = weights[i]
            for word in range(words):
                mixed = fmix64(values[i] ^ fmix64(salt + np.uint64(word) * _GOLDEN))
                base = word * 64
                for j in range(64):
                    sums[base + j] += weight if (mixed >> np.uint64(j)) & _ONE != _ZERO else -weight
        for word in range(words):
            value = _ZERO
            for j in range(min(64, bits - word * 64)):
                total = sums[word * 64 + j]
                bit = _ONE if total > 0.0 else _ZERO if total < 0.0 else (ties[word] >> np.uint64(j)) & _ONE
                value |= bit << np.uint64(j)
                if len(margins) > 0:
                    margins[row, word * 64 + j] = total
            out[row, word] = value
