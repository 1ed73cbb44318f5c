"""Where tokens are in a text: the same tokens that ``folding`` makes, some of them, by their numbers."""

import numpy as np

from .compiler import compiled, different_bytes, fold_ascii, load64, popcount
from .constants import ONE, ZERO
from .folding import HIDDEN, HIDDEN_SPACE, MARK, OTHER, SINGLE, SPACE, WORD, Characters, decode, load_last

_S56 = np.uint64(56)


@compiled(
    "void(const uint8[::1], int64, int64, int64, boolean, Characters, uint8[::1], const int64[::1], int64[::1], int64[::1])",
    Characters,
)
def token_places(data, begin, end, unit, fold_case, characters, block, wanted, begins, ends):
    """Write where some tokens of ``data[begin:end]`` begin and end, from ``begin`` on.

    Tokens are those of ``fold_words`` for unit 0, code points of ``fold_spaces`` for 1, bytes for 2, and lines for 3; of a
    character that folds to several, each is at the same place. ``wanted``: their numbers, ascending. ``block``: scratch, 64
    bytes and more.
    """
    pages, kinds, folds, fold_bytes = characters
    count = 0
    found = 0
    taken = False  # the token before is wanted: where it ends is not known yet
    previous = OTHER  # a word is open, or a line
    gap = -1  # where white space begins, of which it is not known yet whether it counts
    breaks = False
    position = begin
    slow = begin
    while position < end and (found < len(wanted) or taken):
        if unit == 0 and position >= slow and position + 64 <= end:  # words of ASCII are counted, 64 bytes at a time
            slow = position + 64
            if fold_ascii(data, position, block, 0, fold_case) == ZERO:
                words = different_bytes(block, 0, 32)
                inside = ONE if previous == WORD else ZERO
                starts = popcount(words & ~((words << ONE) | inside))
                taken = taken and words & inside != ZERO
                if not taken and (found == len(wanted) or count + starts <= wanted[found]):
                    count += starts
                    position += 64
                    previous = WORD if words >> np.uint64(63) != ZERO else OTHER
                    continue
        word = load64(data, position) if position + 8 <= len(data) else load_last(data, position)
        point, length = decode(word, end - position)
        kind = OTHER
        parts = 1
        if unit == 2:
            length = 1
        elif point >= 0:
            entry = np.int64(pages[point >> 7]) * 128 + (point & 127)
            kind = np.int64(kinds[entry]) & 7
            fold = fold_bytes[folds[entry]] if fold_case and unit == 1 else ZERO
            for i in range(1, np.int64(fold >> _S56)):  # bytes that begin a code point
                parts += 1 if (fold >> np.uint64(8 * i)) & np.uint64(0xC0) != np.uint64(0x80) else 0
        at = position - begin
        position += length
        opens = True
        if unit == 0:
            if kind == OTHER or kind == SPACE:
                previous = OTHER
                taken = False
                continue
            opens = previous == OTHER if kind == MARK else kind == SINGLE or previous != WORD
            previous = (WORD if previous == OTHER else previous) if kind == MARK else kind
        elif unit != 2:
            if kind == SPACE:
                gap = at if gap < 0 else gap
                breaks = breaks or 10 <= point <= 13 or point == 0x85 or point == 0x2028 or point == 0x2029
                continue
            if unit == 1 and gap >= 0 and count > 0:
                if found < len(wanted) and wanted[found] == count:
                    begins[found] = gap
                    ends[found] = at
                    found += 1
                count += 1
            opens = unit == 1 or previous == OTHER or breaks
            previous = WORD
            gap = -1
            breaks = False
        if opens:
            taken = False
            for _ in range(parts):
                if found < len(wanted) and wanted[found] == count:
                    begins[found] = at
                    ends[found] = at + length
                    found += 1
                    taken = True
                count += 1
        elif taken:
            ends[found - 1] = at + length


@compiled("int64(const uint8[::1], Characters, int64, int64[::1])", Characters)
def cut_pieces(data, characters, flag, out):
    """Cut a text where its normal form is that of both sides, beside each character that the form of ``flag`` may change.

    Return how many pieces there are; ``out`` receives where the first ones begin. A piece is such a character, with those that
    are combined with it, or a run of others. Conjoining vowels and finals of Hangul are combined with what precedes them, and
    so is what ``flag`` hides.
    """
    pages = characters.pages
    kinds = characters.kinds
    position = np.int64(0)
    count = 0
    begin = position  # of the piece
    previous = position
    changes = True
    while position < len(data):
        length = 1
        starts = True  # a piece can begin here
        marked = False
        if data[position] >= 0x80:
            word = load64(data, position) if position + 8 <= len(data) else load_last(data, position)
            point, length = decode(word, len(data) - position)
            if point >= 0:
                properties = np.int64(kinds[np.int64(pages[point >> 7]) * 128 + (point & 127)])
                marked = properties & flag != 0
                hidden = properties & flag & (HIDDEN | HIDDEN_SPACE) != 0
                combines = marked and (hidden or properties & 7 == MARK or 0x1161 <= point <= 0x11C2)
                starts = properties >> 8 == 0 and not combines
        cut = np.int64(-1)
        if position == 0 or (starts and (marked or changes)):
            cut = position
        elif not starts and not changes and previous > begin:
            cut = previous
        if cut >= 0:
            if count < len(out):
                out[count] = cut
            count += 1
            begin = cut
        changes = marked or not starts
        if starts:
            previous = position
        position += length
    return count
