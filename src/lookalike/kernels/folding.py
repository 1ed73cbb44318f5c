"""From a text's UTF-8 bytes, validated on the way, to folded bytes in which one separator stands between tokens.

ASCII goes 64 bytes at a time, or eight in plain arithmetic: adding ``0x80 - c`` to every byte sets its top bit exactly where
the byte is >= c. Small functions take words: calls with arrays would count references, atomically.
"""

from typing import Annotated, NamedTuple

import numpy as np

from .compiler import (
    compiled,
    different_bytes,
    fold_ascii,
    inlined,
    load64,
    lower_block,
    store64,
    trailing_zeros,
    typed,
)  # fmt: skip
from .constants import ONE, ZERO

OTHER, WORD, SINGLE, MARK, SPACE = 0, 1, 2, 3, 4
NOT_NFC, NOT_NFKC, HIDDEN, HIDDEN_SPACE = 1 << 3, 1 << 4, 1 << 5, 1 << 6

_TOPS = np.uint64(0x8080808080808080)
_BLANKS = np.uint64(0x2020202020202020)
_GE_0 = np.uint64(0x5050505050505050)  # 0x80 - ord("0"), in each byte; the others likewise
_GT_9 = np.uint64(0x4646464646464646)
_GE_A = np.uint64(0x3F3F3F3F3F3F3F3F)
_GT_Z = np.uint64(0x2525252525252525)
_GE_LOWER_A = np.uint64(0x1F1F1F1F1F1F1F1F)
_GT_LOWER_Z = np.uint64(0x0505050505050505)
_GT_BLANK = np.uint64(0x5F5F5F5F5F5F5F5F)
_REPLACEMENT = np.uint64(0xBDBFEF)  # U+FFFD in UTF-8
_S2 = np.uint64(2)
_S7 = np.uint64(7)
_S56 = np.uint64(56)


@typed
class Characters(NamedTuple):
    """What is known of each character: pages of 128 of them, their kinds, and what they fold to."""

    pages: Annotated[np.ndarray, "const uint16[::1]"]
    kinds: Annotated[np.ndarray, "const uint16[::1]"]
    folds: Annotated[np.ndarray, "const uint16[::1]"]
    fold_bytes: Annotated[np.ndarray, "const uint64[::1]"]


@inlined("uint64(uint64)")
def lower_ascii(word):
    """Lower-case the ASCII letters of eight bytes, none of which has its top bit set."""
    upper = (word + _GE_A) & ~(word + _GT_Z) & _TOPS
    return word | (upper >> _S2)


@inlined("uint64(uint64)")
def blank_separators(word):
    """Replace what is no ASCII letter or digit by a blank, in eight bytes without top bits."""
    letters = (word | _BLANKS) + _GE_LOWER_A
    letters &= ~((word | _BLANKS) + _GT_LOWER_Z)
    digits = (word + _GE_0) & ~(word + _GT_9)
    chosen = (letters | digits) & _TOPS
    mask = (chosen - (chosen >> _S7)) | chosen
    return (word & mask) | (_BLANKS & ~mask)


@inlined("uint64(const uint8[::1], int64)")
def load_last(data, position):
    """Eight bytes of ``data`` from ``position`` on, zeros after its end, where ``load64`` would read beyond."""
    word = ZERO
    for i in range(min(8, len(data) - position)):
        word |= np.uint64(data[position + i]) << np.uint64(8 * i)
    return word


@inlined("UniTuple(int64, 2)(uint64, int64)")
def decode(word, available):
    """Return (code point, its length in bytes) of the first of ``available`` bytes in a word; (-1, 1) for invalid UTF-8."""
    first = np.int64(word & np.uint64(0xFF))
    if first < 0x80:
        return first, 1
    if first < 0xC2 or first > 0xF4:
        return -1, 1
    following = np.int64(word >> np.uint64(8))
    low = following & 0x3F
    if first < 0xE0:
        if available < 2 or following & 0xC0 != 0x80:
            return -1, 1
        return (first & 0x1F) << 6 | low, 2
    middle = following >> 8 & 0x3F
    if first < 0xF0:
        point = (first & 0xF) << 12 | low << 6 | middle
        if available < 3 or following & 0xC0C0 != 0x8080 or point < 0x800 or 0xD800 <= point < 0xE000:
            return -1, 1
        return point, 3
    point = (first & 7) << 18 | low << 12 | middle << 6 | (following >> 16 & 0x3F)
    if available < 4 or following & 0xC0C0C0 != 0x808080 or point < 0x10000 or point > 0x10FFFF:
        return -1, 1
    return point, 4


@compiled("UniTuple(int64, 2)(const uint8[::1], const int64[::1], int64, int64)")
def find_invalid(data, offsets, start, stop):
    """Find the first byte of rows ``[start, stop)`` that is not valid UTF-8; return (row, offset in it) or (-1, -1)."""
    for row in range(start, stop):
        position = offsets[row]
        end = offsets[row + 1]
        while position < end:
            while position + 32 <= end:  # most text is ASCII: four words at a time, one branch
                first = load64(data, position) | load64(data, position + 8)
                if (first | load64(data, position + 16) | load64(data, position + 24)) & _TOPS != ZERO:
                    break
                position += 32
            while position + 8 <= end and load64(data, position) & _TOPS == ZERO:
                position += 8
            if position < end:
                word = load64(data, position) if position + 8 <= len(data) else load_last(data, position)
                point, length = decode(word, end - position)
                if point < 0:
                    return row, position - offsets[row]
                position += length
    return -1, -1


@compiled(
    "UniTuple(int64, 2)(const uint8[::1], const int64[::1], int64, int64, Characters, int64, int64[:, ::1])",
    Characters,
)
def find_unnormalized(data, offsets, start, stop, characters, flag, out):
    """Find stretches that may not be in the normal form of ``flag``, or have what it hides; return (how many, invalid bytes).

    A stretch is a run beyond ASCII and the character before it (nothing in ASCII composes with what precedes it). It may not be
    normal if a character is marked as changing, composing or hidden, or if combining classes fall. ``out`` receives
    (row, begin, end) of the first n.
    """
    pages = characters.pages
    kinds = characters.kinds
    count = 0
    invalid = 0
    for row in range(start, stop):
        position = offsets[row]
        end = offsets[row + 1]
        while position < end:
            while position + 32 <= end:  # most text is ASCII: four words at a time, one branch
                first = load64(data, position) | load64(data, position + 8)
                if (first | load64(data, position + 16) | load64(data, position + 24)) & _TOPS != ZERO:
                    break
                position += 32
            while position + 8 <= end and load64(data, position) & _TOPS == ZERO:
                position += 8
            while position < end and data[position] < 0x80:
                position += 1
            begin = max(position - 1, offsets[row])
            last = 0
            found = False
            while position < end and data[position] >= 0x80:
                word = load64(data, position) if position + 8 <= len(data) else load_last(data, position)
                point, length = decode(word, end - position)
                position += length
                if point >= 0:
                    properties = np.int64(kinds[np.int64(pages[point >> 7]) * 128 + (point & 127)])
                    order = properties >> 8
                    found = found or (properties & flag) != 0 or (order != 0 and order < last)
                    last = order
                else:
                    invalid += 1
            if found:
                if count < len(out):
                    out[count, 0] = row
                    out[count, 1] = begin
                    out[count, 2] = position
                count += 1
    return count, invalid


@compiled(
    "int64(const uint8[::1], int64, int64, boolean, Characters, uint8[::1])",
    Characters,
)
def fold_words(data, begin, end, fold_case, characters, out):
    """Write the words of ``data[begin:end]`` into ``out``, blanks between them; return the bytes written.

    Letters, digits and marks make words; in scripts without spaces each letter or digit does, with its marks. Invalid UTF-8
    separates words. ``out`` has room for three bytes per byte and 80 more.
    """
    pages, kinds, folds, fold_bytes = characters
    position = begin
    written = 0
    previous = OTHER
    while position < end:
        if previous == SINGLE:  # a blank that the next character takes back if it is a mark
            out[written] = 32
            written += 1
        if position + 64 <= len(data):
            beyond = fold_ascii(data, position, out, written, fold_case)
            # A loop of its own for plain ASCII: its loads do not wait for what the block before contained.
            if beyond == ZERO and position + 128 <= end:
                while beyond == ZERO and position + 128 <= end:
                    position += 64
                    written += 64
                    beyond = fold_ascii(data, position, out, written, fold_case)
                previous = WORD if out[written - 1] != 32 else OTHER
            size = min(end - position, trailing_zeros(beyond))
        else:
            word = load64(data, position) if position + 8 <= len(data) else load_last(data, position)
            tops = word & _TOPS
            size = min(end - position, 8 if tops == ZERO else trailing_zeros(tops) >> 3)
            store64(out, written, blank_separators(lower_ascii(word & ~_TOPS) if fold_case else word & ~_TOPS))
        if size > 0:
            position += size
            written += size
            previous = WORD if out[written - 1] != 32 else OTHER
            continue
        if previous == SINGLE:
            written -= 1
        word = load64(data, position) if position + 8 <= len(data) else load_last(data, position)
        point, length = decode(word, end - position)
        kind = OTHER
        fold = ZERO
        if point >= 0:
            entry = np.int64(pages[point >> 7]) * 128 + (point & 127)
            kind = np.int64(kinds[entry]) & 7
            if fold_case:
                fold = fold_bytes[folds[entry]]
        if kind == OTHER or kind == SPACE:
            out[written] = 32
            written += 1
            previous = OTHER
        else:
            if kind != MARK and (previous == SINGLE or (kind == SINGLE and previous == WORD)):
                out[written] = 32
                written += 1
            store64(out, written, fold if fold != ZERO else word)
            written += length if fold == ZERO else np.int64(fold >> _S56)
            if kind != MARK:
                previous = kind
            elif previous == OTHER:
                previous = WORD
        position += length
    return written


@compiled(
    "int64(const uint8[::1], int64, int64, boolean, boolean, Characters, uint8[::1])",
    Characters,
)
def fold_spaces(data, begin, end, fold_case, keep_lines, characters, out):
    """Write ``data[begin:end]`` into ``out``, each run of white space as one blank, or with ``keep_lines`` as a line feed if it
    holds a line break, none at either end; return the bytes written. Invalid UTF-8 becomes U+FFFD. ``out`` has room for three
    bytes per byte and 80 more."""
    pages, kinds, folds, fold_bytes = characters
    position = begin
    written = 0
    gap = 0
    while position < end:
        if gap == 0 and position + 64 <= end and (written > 0 or (data[position] != 32 and data[position] != 10)):
            special = lower_block(data, position, out, written, fold_case)
            blanks = ~different_bytes(data, position, 32)
            if keep_lines:  # a line feed alone stays one
                feeds = ~different_bytes(data, position, 10)
                special &= ~feeds
                blanks |= feeds
            size = trailing_zeros(special | (blanks & (blanks << ONE)))
            if size > 0 and (data[position + size - 1] == 32 or data[position + size - 1] == 10):  # may begin a run
                size -= 1
            if size > 0:
                position += size
                written += size
                continue
        word = load64(data, position) if position + 8 <= len(data) else load_last(data, position)
        special = (word | ~((word & ~_TOPS) + _GT_BLANK)) & _TOPS  # beyond ASCII, a blank or a control character
        size = min(end - position, 8 if special == ZERO else trailing_zeros(special) >> 3)
        if size > 0:
            if gap != 0 and written > 0:
                out[written] = gap
                written += 1
            gap = 0
            store64(out, written, lower_ascii(word & ~_TOPS) if fold_case else word)
            position += size
            written += size
            continue
        point, length = decode(word, end - position)
        kind = OTHER
        fold = ZERO
        if point >= 0:
            entry = np.int64(pages[point >> 7]) * 128 + (point & 127)
            kind = np.int64(kinds[entry]) & 7
            if fold_case:
                fold = fold_bytes[folds[entry]]
        if kind == SPACE:
            if keep_lines and (10 <= point <= 13 or point == 0x85 or point == 0x2028 or point == 0x2029):
                gap = 10
            elif gap == 0:
                gap = 32
        else:
            if gap != 0 and written > 0:
                out[written] = gap
                written += 1
            gap = 0
            if point < 0:
                store64(out, written, _REPLACEMENT)
                written += 3
            else:
                store64(out, written, fold if fold != ZERO else word)
                written += length if fold == ZERO else np.int64(fold >> _S56)
        position += length
    return written
