"""Lines and paragraphs where they are in a text: their places in its bytes, and their digests."""

import numpy as np

from .compiler import compiled, different_bytes, fold_ascii, inlined, load64, popcount, trailing_zeros
from .constants import ONE, ZERO
from .digests import digest_range, reduced
from .folding import HIDDEN, MARK, OTHER, SINGLE, SPACE, WORD, Characters, decode, load_last


@inlined("int64(const uint8[::1], int64, int64)")
def find_feed(data, position, end):
    """Return where the first line feed of ``data[position:end]`` is, or ``end``."""
    while position + 64 <= len(data) and position < end:
        feeds = ~different_bytes(data, position, 10)
        if feeds != ZERO:
            return min(end, position + trailing_zeros(feeds))
        position += 64
    while position < end and data[position] != 10:
        position += 1
    return min(position, end)


@inlined("boolean(int64)")
def in_word(byte):
    """Tell a letter or digit of ASCII."""
    return 97 <= byte | 32 <= 122 or 48 <= byte <= 57


@inlined("int64(const uint8[::1], int64, int64, int64, Characters, uint8[::1])", Characters)
def count_words(data, position, end, most, characters, room):
    """Return how many words begin in ``data[position:end]``, those of ``fold_words``, up to ``most``."""
    pages = characters.pages
    kinds = characters.kinds
    count = np.int64(0)
    inside = ZERO
    while count < most and position < end and position + 64 <= len(data):
        size = min(end - position, 64)
        if trailing_zeros(fold_ascii(data, position, room, 0, False)) < size:
            break
        words = different_bytes(room, 0, 32)
        if size < 64:
            words &= (ONE << np.uint64(size)) - ONE
        count += popcount(words & ~((words << ONE) | inside))
        inside = words >> np.uint64(63)
        position += size
    previous = WORD if inside != ZERO else OTHER
    while count < most and position < end:
        kind = WORD if in_word(np.int64(data[position])) else OTHER
        length = 1
        if data[position] >= 0x80:
            word = load64(data, position) if position + 8 <= len(data) else load_last(data, position)
            point, length = decode(word, end - position)
            if point >= 0:
                kind = np.int64(kinds[np.int64(pages[point >> 7]) * 128 + (point & 127)]) & (7 | HIDDEN)
        if kind == OTHER or kind == SPACE:
            previous = OTHER
        elif kind < HIDDEN and (previous == OTHER or (kind != MARK and (kind == SINGLE or previous == SINGLE))):
            count += 1
            previous = WORD if kind == MARK else kind
        position += length
    return min(count, most)


@inlined("boolean(int64)")
def is_blank(byte):
    """Tell white space of ASCII within a line: tabs, form feeds, carriage returns, blanks."""
    return byte == 32 or byte == 9 or 11 <= byte <= 13


@compiled(
    "void(const uint8[::1], const int64[::1], int64, boolean, Characters, const uint64[::1], uint8[::1], int64[:, ::1], "
    "uint64[:, ::1], int64[::1], int64[::1])",
    Characters,
)
def split_lines(data, offsets, least, paragraphs, characters, secret, room, spans, digests, bounds, worded):
    """Write the lines of at least so many words, or the paragraphs: runs of lines that are not blank.

    ``spans``: where each begins in its row, where what follows it begins, and its number; blank lines behind a paragraph belong
    to it. ``digests``: two words of 61 bits, of its bytes without white space at both ends. ``bounds``: where those of each row
    end, from the second place on. ``worded``: how many lines or paragraphs of each row have a word. ``room``: 64 bytes.
    """
    written = 0
    bounds[0] = 0
    for row in range(len(offsets) - 1):
        position = offsets[row]
        end = offsets[row + 1]
        number = np.int64(-1)
        some = 0
        waits = False  # is there one that is not written yet, and is its last line not blank?
        inside = False
        begin = position
        after = position
        start = position
        stop = position
        while waits or position < end:
            feed = find_feed(data, position, end)
            left = position
            right = feed
            while left < right and is_blank(data[left]):
                left += 1
            while left < right and is_blank(data[right - 1]):
                right -= 1
            blank = left == right
            if waits and (position >= end or not paragraphs or not (blank or inside)):
                words = count_words(data, start, stop, least, characters, room)
                some += words > 0
                if words == least:
                    spans[written, 0] = begin - offsets[row]
                    spans[written, 1] = after - offsets[row]
                    spans[written, 2] = number
                    a, b = digest_range(data, start, stop, secret)
                    digests[written, 0] = reduced(a)
                    digests[written, 1] = reduced(b)
                    written += 1
                waits = False
            if not paragraphs or not (blank or inside):
                number += 1
            if not blank and not (waits and paragraphs):
                waits = True
                begin = position
                start = left
            if waits and (paragraphs or not blank):
                after = min(feed + 1, end)
            if not blank:
                stop = right
            inside = not blank
            position = min(feed + 1, end)
        bounds[row + 1] = written
        worded[row] = some
