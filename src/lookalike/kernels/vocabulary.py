"""Tokens and shingles numbered by first appearance: equal numbers mean equal tokens, equal shingles.

No hash decides: keys that hold a token's bytes are compared (``digests.token_key``), and the numbers of a shingle's tokens;
hashes, under a secret, say only where to look. What followed a token or shingle last time, in near-duplicates mostly the same,
is looked at before the table. A kernel that runs out of room stops; the caller makes more, and calls it again.
"""

from typing import Annotated, NamedTuple

import numpy as np

from .compiler import compiled, different_bytes, inlined, load64, trailing_zeros, typed
from .constants import FULL, LOW32, ONE, S32, ZERO
from .digests import token_key
from .folding import Characters, decode, fold_spaces, fold_words
from .hashing import fmix64, fold_multiply

_UPPER = ~LOW32
_UNIT_WORD, _UNIT_LINE = 0, 3


@typed
class Known(NamedTuple):
    """The tokens that are known, by number their keys; and the shingles, by number plus one: where in ``ids`` their tokens are,
    their last tokens, and the number plus one of what came after, or 0. Ids overlap where shingles do in a text. Tables (a
    power of two, at most half full) hold the upper half of a hash, and the number plus one; 0: free."""

    tokens: Annotated[np.ndarray, "uint64[::1]"]
    keys: Annotated[np.ndarray, "uint64[:, ::1]"]
    shingles: Annotated[np.ndarray, "uint64[::1]"]
    home: Annotated[np.ndarray, "int64[::1]"]
    last: Annotated[np.ndarray, "uint32[::1]"]
    after: Annotated[np.ndarray, "uint32[::1]"]
    ids: Annotated[np.ndarray, "int32[::1]"]


@compiled("void(const uint64[::1], uint64[::1])")
def move_entries(table, larger):
    """Put the entries of one table into a larger, empty one."""
    mask = np.uint64(len(larger) - 1)
    for i in range(len(table)):
        if table[i] != ZERO:
            place = np.int64((table[i] >> S32) & mask)
            while larger[place] != ZERO:
                place = np.int64(np.uint64(place + 1) & mask)
            larger[place] = table[i]


@inlined("int64(const uint8[::1], int64, int64, const uint64[::1], uint64[:, ::1], int64)")
def key_separated(folded, length, separator, points, out, count):
    """Write the keys of the tokens that stand between separators in ``folded[:length]`` behind ``count``; return the new count.
    ``folded[length:]`` starts with 80 separators."""
    start = 0
    inside = False
    carry = ZERO
    for base in range(0, length + 1, 64):
        token_bytes = different_bytes(folded, base, separator)
        edges = token_bytes ^ ((token_bytes << ONE) | carry)
        carry = token_bytes >> np.uint64(63)
        while edges != ZERO:
            edge = base + trailing_zeros(edges)
            edges &= edges - ONE
            if inside:
                size = edge - start
                if size <= 15:  # without a branch: which tokens have eight bytes is unpredictable
                    bits = np.uint64(8 * size)
                    low = load64(folded, start)
                    high = load64(folded, start + 8)
                    long = size >= 8
                    out[count, 0] = low if long else low & ((ONE << bits) - ONE)
                    rest = (ONE << (bits - np.uint64(64))) - ONE if long else ZERO
                    out[count, 1] = (high & rest) | np.uint64(size) << np.uint64(56)
                else:
                    low, high = token_key(folded, start, size, points)
                    out[count, 0] = low
                    out[count, 1] = high
                count += 1
            start = edge
            inside = not inside
    return count


@inlined("int64(const uint8[::1], int64, int64, int64, const uint64[::1], uint64[:, ::1], int64[::1], int64, int64)")
def read_tokens(folded, begin, length, separator, points, keys, ends, count, most):
    """Write keys and ends of the tokens of ``folded[begin:length]`` behind ``count``, up to ``most``; return the count."""
    base = begin
    tokens = different_bytes(folded, base, separator)
    while count < most:
        while tokens == ZERO and base < length:
            base += 64
            tokens = different_bytes(folded, base, separator)
        skip = trailing_zeros(tokens)
        start = base + skip
        if start >= length:
            break
        past = skip + trailing_zeros(~(tokens >> np.uint64(skip)))
        if past >= 64:
            base = start
            tokens = different_bytes(folded, base, separator)
            while tokens == FULL:
                base += 64
                tokens = different_bytes(folded, base, separator)
            past = trailing_zeros(~tokens)
        tokens &= FULL << np.uint64(past)
        end = base + past
        size = np.uint64(end - start)
        if size <= np.uint64(15):  # without a branch: which tokens have eight bytes is unpredictable
            bits = np.uint64(8) * size
            low = load64(folded, start)
            high = load64(folded, start + 8)
            long = size >= np.uint64(8)
            keys[count, 0] = low if long else low & ((ONE << bits) - ONE)
            rest = (ONE << (bits - np.uint64(64))) - ONE if long else ZERO
            keys[count, 1] = (high & rest) | size << np.uint64(56)
        else:
            low, high = token_key(folded, start, np.int64(size), points)
            keys[count, 0] = low
            keys[count, 1] = high
        ends[count] = end
        count += 1
    return count


@compiled(
    "int64(const uint8[::1], const int64[::1], int64, int64, boolean, Characters, uint8[::1], const uint64[::1], int64[::1], "
    "uint64[:, ::1])",
    Characters,
)
def key_texts(data, offsets, row, unit, fold_case, characters, folded, points, out_offsets, out):
    """Write the keys of the tokens of rows from ``row`` on, while there is room; return the first row that is left.

    ``out_offsets`` receives where those of each row end, from its second place on. ``folded``: three bytes for each of the
    longest row, and 96 more; a row has half as many tokens, at most, as it has folded bytes.
    """
    separator = 32 if unit == _UNIT_WORD else 10
    written = 0
    first = row
    out_offsets[0] = 0
    while row < len(offsets) - 1:
        begin = offsets[row]
        end = offsets[row + 1]
        if unit == _UNIT_WORD:
            length = fold_words(data, begin, end, fold_case, characters, folded)
        else:
            length = fold_spaces(data, begin, end, fold_case, unit == _UNIT_LINE, characters, folded)
        if written + (length + 1) // 2 > len(out):
            return row
        folded[length : length + 80] = separator
        written = key_separated(folded, length, separator, points, out, written)
        row += 1
        out_offsets[row - first] = written
    return row


@compiled(
    "int64(const uint8[::1], const int64[::1], int64, boolean, Characters, uint8[::1], int64[::1], uint64[:, ::1])",
    Characters,
)
def key_points(data, offsets, row, fold_case, characters, folded, out_offsets, out):
    """As ``key_texts`` for tokens that are code points; a row has as many, at most, as it has folded bytes."""
    written = 0
    first = row
    out_offsets[0] = 0
    while row < len(offsets) - 1:
        length = fold_spaces(data, offsets[row], offsets[row + 1], fold_case, False, characters, folded)
        if written + length > len(out):
            return row
        position = 0
        while position < length:
            point, size = decode(load64(folded, position), length - position)
            out[written, 0] = np.uint64(point)
            out[written, 1] = ONE
            written += 1
            position += size
        row += 1
        out_offsets[row - first] = written
    return row


@inlined("boolean(const int32[::1], int64, const int32[::1], int64, int64, int64)")
def same_shingle(known, home, ids, begin, size, width):
    """Tell whether the tokens of a known shingle are ``size`` ids from ``begin`` on, and -1 from there to ``width``."""
    for i in range(width):  # noqa: SIM110 (a kernel has no generators)
        if known[home + i] != (ids[begin + i] if i < size else -1):
            return False
    return True


@compiled(
    "boolean(const uint64[:, ::1], const int64[::1], int64, const uint64[::1], Known, int64[::1], int32[::1], int32[::1])",
    Known,
)
def number_rows(keys, offsets, width, secret, known, at, ids, out):
    """Number the shingles of rows of tokens, from ``at`` on; tell whether that is done, or there is no room for more.

    Fewer tokens than ``width`` make one shingle, none make none. ``at``: row, token in it, number of the shingle before plus
    one, tokens and shingles known, ids these take, numbers written. ``ids`` has room for a number of each token.
    """
    tokens, token_keys, shingles, home, last, after, known_ids = known
    token_mask = np.uint64(len(tokens) - 1)
    mask = np.uint64(len(shingles) - 1)
    multiplier = secret[2] | ONE
    square = multiplier * multiplier
    row = at[0]
    first = at[1]
    previous = np.uint64(at[2])
    n_tokens = at[3]
    n_shingles = at[4]
    filled = at[5]
    written = np.uint64(at[6])
    room = True
    while room and row < len(offsets) - 1:
        begin = offsets[row]
        size = min(width, offsets[row + 1] - begin)
        i = np.uint64(begin + first)
        end = np.uint64(offsets[row + 1])
        while i < end:
            low = keys[i, 0]
            high = keys[i, 1]
            code = np.uint64(after[previous])
            if code != ZERO:  # in near-duplicates the same comes next, mostly; indices without a sign save a third of the time
                token = np.uint64(last[code])
                if token_keys[token, 0] == low and token_keys[token, 1] == high:
                    ids[i] = np.int32(token)
                    out[written] = np.int32(code - ONE)
                    written += ONE
                    previous = code
                    i += ONE
                    continue
            tag = fmix64(fold_multiply(low ^ secret[0], high ^ secret[1])) & _UPPER
            place = (tag >> S32) & token_mask
            token = ZERO
            while tokens[place] != ZERO:
                token = (tokens[place] & LOW32) - ONE
                if tokens[place] & _UPPER == tag and token_keys[token, 0] == low and token_keys[token, 1] == high:
                    break
                place = (place + ONE) & token_mask
            if tokens[place] == ZERO:
                if n_tokens == len(token_keys):
                    room = False
                    break
                token = np.uint64(n_tokens)
                n_tokens += 1
                tokens[place] = tag | np.uint64(n_tokens)
                token_keys[token, 0] = low
                token_keys[token, 1] = high
            ids[i] = np.int32(token)
            start = np.int64(i) + 1 - size
            if start < begin:
                i += ONE
                continue
            tag = secret[3]
            for j in range(start, start + size - 1, 2):  # two at a time: multiplications wait for each other
                pair = np.uint64(ids[j]) * multiplier + np.uint64(ids[j + 1])
                tag = tag * square + pair
            if size & 1:
                tag = tag * multiplier + token
            tag = fmix64(tag) & _UPPER
            place = (tag >> S32) & mask
            code = ZERO
            while shingles[place] != ZERO:
                code = shingles[place] & LOW32
                if shingles[place] & _UPPER == tag and same_shingle(known_ids, home[code], ids, start, size, width):
                    break
                place = (place + ONE) & mask
            if shingles[place] == ZERO:
                if n_shingles + 1 == len(home) or filled + width > len(known_ids):
                    room = False
                    break
                n_shingles += 1
                code = np.uint64(n_shingles)
                shingles[place] = tag | code
                if previous != ZERO and home[previous] + width == filled:
                    home[code] = filled - width + 1
                    known_ids[filled] = np.int32(token)
                    filled += 1
                else:
                    home[code] = filled
                    for j in range(width):
                        known_ids[filled + j] = ids[start + j] if j < size else -1
                    filled += width
                last[code] = np.uint32(token)
            if previous != ZERO:
                after[previous] = np.uint32(code)
            out[written] = np.int32(code - ONE)
            written += ONE
            previous = code
            i += ONE
        first = np.int64(i) - begin
        if room:
            row += 1
            first = 0
            previous = ZERO
    at[0] = row
    at[1] = first
    at[2] = np.int64(previous)
    at[3] = n_tokens
    at[4] = n_shingles
    at[5] = filled
    at[6] = np.int64(written)
    return room
