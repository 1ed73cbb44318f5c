"""From folded bytes to token hashes, and from token hashes to shingle hashes.

A shingle's hash is a polynomial in its tokens' hashes modulo 2^64, finished by a strong mixer. Long shingles are rolled along
the text, with one multiplication for the token that enters and one for the token that leaves.
"""

from typing import get_args

import numpy as np

from ..choices import Unit
from .compiler import compiled, different_bytes, load64, popcount, prefetch, store64, trailing_zeros
from .constants import FULL, ONE, ZERO
from .folding import Characters, decode, fold_spaces, fold_words
from .hashing import K0, K1, K2, K3, fmix64, fold_multiply, shift_of

UNITS = get_args(Unit)
_UNIT_WORD, _UNIT_CHAR, _UNIT_BYTE, _UNIT_LINE = 0, 1, 2, 3

# Odd, and neither 1 nor -1 modulo 8: exchanging tokens then costs at most two bits of a hash.
MULTIPLIER = np.uint64(0x9FB21C651E98DF25)
_HORNER, _BLOCK = 16, 1024
EDGES, _STRETCH = 24, 4096  # edges of tokens in 64 bytes, mostly 20; bytes whose edges stay in the nearest cache
_AHEAD = np.uint64(24)  # values whose places in a table are fetched meanwhile
_ASCII_HASHES = np.array(
    [(x * int(K1) >> 64) ^ (x * int(K1) & int(FULL)) for x in (c ^ int(K0) for c in range(128))], np.uint64
)


@compiled("int64(const uint8[::1], int64, int64, uint64[::1])")
def hash_separated(folded, length, separator, out):
    """Hash the tokens of ``folded[:length]`` that stand between separator bytes; return how many there are. ``folded[length:]``
    starts with 80 separators; ``out`` has room for a value per byte and ``EDGES`` more.

    Where tokens begin and end is read off a word of 64 bits, one for each byte, and written to where hashes will be: ``EDGES``
    of them whether there are as many or not, since their number is unpredictable. Then tokens are hashed, independently.
    """
    count = ZERO  # indices without a sign: a negative one would count from the end, and has to be looked for
    n = ZERO  # edges behind the hashes
    carry = ZERO
    base = 0
    while base <= length:
        until = min(base + _STRETCH, length + 1)
        while base < until:
            token_bytes = different_bytes(folded, base, separator)
            edges = token_bytes ^ ((token_bytes << ONE) | carry)
            carry = token_bytes >> np.uint64(63)
            place = count + n
            n += np.uint64(popcount(edges))
            while edges != ZERO:
                for i in range(EDGES):
                    out[place + np.uint64(i)] = np.uint64(base + trailing_zeros(edges))
                    edges &= edges - ONE
                place += np.uint64(EDGES)
            base += 64
        place = count
        end = count + n
        while place + ONE < end:
            start = np.int64(out[place])
            size = np.int64(out[place + ONE]) - start
            place += np.uint64(2)
            state = K0
            last = start
            if size >= 16:
                while last + 8 <= start + size:
                    state = fold_multiply(state ^ load64(folded, last), K2)
                    last += 8
            else:  # without a branch: which tokens have eight bytes is unpredictable
                last += size & 8
                long = fold_multiply(K0 ^ load64(folded, start), K2)
                state = long if size >= 8 else K0
            word = load64(folded, last) & ((ONE << np.uint64(8 * (size & 7))) - ONE)
            out[count] = fold_multiply(state ^ word, K1 ^ np.uint64(size))
            count += ONE
        n &= ONE
        if n != ZERO:  # a token that ends in the next stretch
            out[count] = out[place]
    return np.int64(count)


@compiled("int64(const uint8[::1], int64, uint64[::1])")
def hash_code_points(folded, length, out):
    """Hash each code point of ``folded[:length]``, valid UTF-8 with 8 more bytes behind; return how many there are."""
    position = 0
    count = 0
    while position < length:
        if folded[position] < 0x80:
            out[count] = _ASCII_HASHES[folded[position]]
            position += 1
        else:
            point, size = decode(load64(folded, position), length - position)
            out[count] = fold_multiply(np.uint64(point) ^ K0, K1)
            position += size
        count += 1
    return count


@compiled("int64(const uint8[::1], int64, int64, uint64[::1])")
def hash_bytes(data, begin, end, out):
    """Hash each byte of ``data[begin:end]``; return how many there are."""
    for i in range(begin, end):
        out[i - begin] = fold_multiply(np.uint64(data[i]) ^ K2, K3)
    return end - begin


@compiled("int64(const uint64[::1], int64, int64, uint64[::1], int64)")
def roll(tokens, count, width, out, written):
    """Append the hashes of all shingles of ``width`` tokens to ``out``; return its new length. Fewer tokens than ``width`` make
    one shingle, no token makes none."""
    if count == 0:
        return written
    width = min(width, count)
    length = np.uint64(width) * K3
    n = count - width + 1
    if width <= _HORNER:  # one coefficient for a block of shingles at a time: simple loops, of which several turns run at once
        for first in range(0, n, _BLOCK):
            size = min(_BLOCK, n - first)
            block = out[written + first : written + first + size]
            leading = tokens[first : first + size]
            if width == 1:
                for i in range(size):
                    block[i] = leading[i]
            else:
                entering = tokens[first + 1 : first + 1 + size]
                for i in range(size):
                    block[i] = leading[i] * MULTIPLIER + entering[i]
            for j in range(2, width):
                entering = tokens[first + j : first + j + size]
                for i in range(size):
                    block[i] = block[i] * MULTIPLIER + entering[i]
            for i in range(size):
                block[i] = fmix64(block[i] + length)
        return written + n
    leaving = np.uint64(1)
    for _ in range(width):
        leaving *= MULTIPLIER
    state = ZERO
    for i in range(width):
        state = state * MULTIPLIER + tokens[i]
    out[written] = fmix64(state + length)
    written += 1
    for i in range(width, count):
        state = state * MULTIPLIER + (tokens[i] - tokens[i - width] * leaving)
        out[written] = fmix64(state + length)
        written += 1
    return written


@compiled(
    "void(const uint8[::1], const int64[::1], int64, int64, int64, int64, boolean, Characters, uint8[::1], uint64[::1], "
    "int64[::1], uint64[::1])",
    Characters,
)
def shingle_rows(data, offsets, start, stop, unit, width, fold_case, characters, folded, tokens, out_offsets, out):
    """Write the shingle hashes of rows ``[start, stop)`` into ``out``, repeats included, and where each row's start into
    ``out_offsets``. Scratch: ``folded`` holds three bytes per byte of the longest row and 96 more, ``tokens`` one value per
    byte of it and ``2 * EDGES`` more; with unit char and ``fold_case`` half as many again, in ``out`` too."""
    written = 0
    out_offsets[0] = 0
    for row in range(start, stop):
        begin = offsets[row]
        end = offsets[row + 1]
        if unit == _UNIT_BYTE:
            count = hash_bytes(data, begin, end, tokens)
        else:
            if unit == _UNIT_WORD:
                length = fold_words(data, begin, end, fold_case, characters, folded)
            else:
                length = fold_spaces(data, begin, end, fold_case, unit == _UNIT_LINE, characters, folded)
            if unit == _UNIT_CHAR:
                count = hash_code_points(folded, length, tokens)
            else:
                separator = 32 if unit == _UNIT_WORD else 10
                folded[length : length + 80] = separator
                count = hash_separated(folded, length, separator, tokens)
        written = roll(tokens, count, width, out, written)
        out_offsets[row - start + 1] = written


@compiled("void(const uint8[::1], const int64[::1], const int64[::1], const int64[::1], uint8[::1])")
def gather_rows(data, offsets, rows, begins, out):
    """Copy the bytes of some rows to the places in ``out`` where each is to begin."""
    for i in range(len(rows)):
        source = offsets[rows[i]]
        target = begins[i]
        length = offsets[rows[i] + 1] - source
        position = 0
        while position + 8 <= length:
            store64(out, target + position, load64(data, source + position))
            position += 8
        for rest in range(position, length):
            out[target + rest] = data[source + rest]


@compiled("int64(const uint8[::1], const int64[::1], uint8[::1], int64[::1])")
def unpack_rows(data, there, out, offsets):
    """Copy texts that each follow their length, four bytes, one behind the other into ``out``, which may be ``data`` itself;
    a row that is not ``there`` has none. Return how many bytes they took, -1 if the data end before."""
    at = 0
    written = 0
    offsets[0] = 0
    for row in range(len(there)):
        if there[row] != 0:
            if at + 4 > len(data):
                return -1
            length = np.int64(data[at]) | np.int64(data[at + 1]) << 8 | np.int64(data[at + 2]) << 16
            length |= np.int64(data[at + 3]) << 24
            at += 4
            if length > len(data) - at:
                return -1
            position = 0
            while position + 8 <= length:
                store64(out, written + position, load64(data, at + position))
                position += 8
            for rest in range(position, length):
                out[written + rest] = data[at + rest]
            at += length
            written += length
        offsets[row + 1] = written
    return at


@compiled("void(const uint64[::1], const int64[::1], int64, int64[::1], uint64[::1])")
def roll_rows(tokens, offsets, width, out_offsets, out):
    """Write the shingle hashes of rows of ready token hashes into ``out``, one row after another."""
    written = 0
    out_offsets[0] = 0
    for row in range(len(offsets) - 1):
        written = roll(tokens[offsets[row] : offsets[row + 1]], offsets[row + 1] - offsets[row], width, out, written)
        out_offsets[row + 1] = written


@compiled("int64(const uint64[::1], const int64[::1], uint64, uint64[::1], int64[::1], uint64[::1])")
def distinct_rows(values, offsets, spread, table, out_offsets, out):
    """Copy each row without repeats, by first appearance; return the number of values written.

    ``table`` is a power of two, at least twice the longest row; ``out`` has the length of ``values``. ``spread``: see
    ``hashing.is_new``, which this is written out of: places are fetched in advance, and no branch, unpredictable here, tells
    whether a value is new.
    """
    written = ZERO  # indices without a sign: a negative one would count from the end, and has to be looked for
    out_offsets[0] = 0
    for row in range(len(offsets) - 1):
        begin = np.uint64(offsets[row])
        end = np.uint64(offsets[row + 1])
        size = 2
        while size < 2 * (offsets[row + 1] - offsets[row]):
            size *= 2
        table[:size] = ZERO
        mask = np.uint64(size - 1)
        shift = shift_of(size)
        i = begin
        while i < end:
            prefetch(table, np.int64((values[min(i + _AHEAD, end - ONE)] * spread) >> shift))
            value = values[i]
            if value == ZERO:
                value = K0
            place = (value * spread) >> shift
            while table[place] != ZERO and table[place] != value:
                place = (place + ONE) & mask
            out[written] = values[i]
            written += np.uint64(table[place] == ZERO)
            table[place] = value
            i += ONE
        out_offsets[row + 1] = np.int64(written)
    return np.int64(written)
