"""From UTF-8 to UTF-8 in a Unicode normal form (UAX #15), in steps that grow as the text does, whatever it holds.

It is done for *segments*: a character that begins one is normal and composes with nothing before it. A number stands for each
of its characters: its class above its code point, or a byte that is no UTF-8, which stays as it is.
"""

from typing import Annotated, NamedTuple

import numpy as np

from .compiler import compiled, inlined, load64, store64, typed
from .folding import HIDDEN, HIDDEN_SPACE, NOT_NFC, NOT_NFKC, Characters, decode, load_last

FEW_MARKS = 24  # that many in a row are sorted by insertion
FEWEST_POINTS = 64  # room for a segment: more than one character can decompose into
DONE, MORE_BYTES, MORE_POINTS = 0, 1, 2
_CLASS = 21  # bits of a code point
_POINT = (1 << _CLASS) - 1
_RAW = 1 << 31
_L, _V, _T, _S = 0x1100, 0x1161, 0x11A7, 0xAC00  # Hangul: leading consonants, vowels, what is before the finals, syllables
_N_L, _N_V, _N_T = 19, 21, 28


@typed
class Forms(NamedTuple):
    """How characters decompose and compose; tables of blocks of 128 characters, and pages that name the block of each.

    ``places``: where in ``parts`` the number of a character's parts is, and the parts behind it; 0: it has none. ``firsts`` and
    ``seconds``: the row and column of a character in ``composites``, whose row 0 and column 0 are zeros.
    """

    pages: Annotated[np.ndarray, "const uint16[::1]"]
    places: Annotated[np.ndarray, "const uint16[::1]"]
    parts: Annotated[np.ndarray, "const uint32[::1]"]
    firsts: Annotated[np.ndarray, "const uint16[::1]"]
    seconds: Annotated[np.ndarray, "const uint16[::1]"]
    composites: Annotated[np.ndarray, "const uint32[:, ::1]"]


@inlined("UniTuple(int64, 2)(int64)")
def encoded(point):
    """Return (UTF-8 of a code point as a number, its length in bytes); of a byte that is none, marked as such, that byte."""
    low = point & 0x3F
    if point < 0x80 or point >= _RAW:
        return point & 0xFF, 1
    if point < 0x800:
        return 0x80C0 | point >> 6 | low << 8, 2
    middle = point >> 6 & 0x3F
    if point < 0x10000:
        return 0x8080E0 | point >> 12 | middle << 8 | low << 16, 3
    return 0x808080F0 | point >> 18 | (point >> 12 & 0x3F) << 8 | middle << 16 | low << 24, 4


@compiled(
    "int64(const uint8[::1], const int64[:, ::1], int64, Characters, Forms, uint32[::1], uint32[::1], int64[::1], int64[::1], "
    "int64[::1], uint8[::1])",
    Characters,
    Forms,
)
def normalize_stretches(data, stretches, flag, characters, forms, points, ordered, counts, at, growth, out):
    """Write ``data`` to ``out`` with stretches (row, begin, end) normalized, without what is hidden, up to the last change.

    It goes on ``at`` (stretch, place in it, bytes of ``data`` copied, bytes written), and tells whether it is ``DONE`` or needs
    ``MORE_BYTES``, as many as ``at[4]`` says, or ``MORE_POINTS`` in ``points`` and ``ordered``, of one length. The bytes that
    each row grows by are added to ``growth``; ``counts`` (256) is scratch; ``flag``: see ``folding.find_unnormalized``. One
    long function: calls with arrays, of which a segment would need some, would count references.
    """
    pages, kinds = characters.pages, characters.kinds
    form_pages, places, parts, firsts, seconds, composites = forms
    number, position, copied, written = at[0], at[1], at[2], at[3]
    formed = flag & (NOT_NFC | NOT_NFKC) != 0
    hides = flag & (HIDDEN | HIDDEN_SPACE)
    state = DONE
    while state == DONE and number < len(stretches):
        end = stretches[number, 2]
        position = max(position, stretches[number, 1])
        begin = position
        gathers = False
        marks = False  # whether some are not in order
        last = 0
        n = 0
        while position < end:  # the characters of the next segment that holds more than one that is normal alone
            word = load64(data, position) if position + 8 <= len(data) else load_last(data, position)
            point, length = decode(word, end - position)
            properties = 0
            if point >= 0:
                properties = np.int64(kinds[np.int64(pages[point >> 7]) * 128 + (point & 127)])
            begins = properties >> 8 == 0 and properties & flag == 0
            if not gathers:
                if begins:
                    begin = position
                    position += length
                    continue
                gathers = True
                if begin < position:
                    position = begin
                    continue
            elif begins and n > 0:
                break
            if n + FEWEST_POINTS > len(points):
                state = MORE_POINTS
                break
            position += length
            if properties & hides != 0:
                continue
            order = properties >> 8
            marks = marks or (formed and 0 < order < last)
            last = order
            if point < 0:
                points[n] = _RAW | np.int64(word & np.uint64(0xFF))
                n += 1
            elif formed and _S <= point < _S + _N_L * _N_V * _N_T:
                syllable = point - _S
                points[n] = _L + syllable // (_N_V * _N_T)
                points[n + 1] = _V + syllable % (_N_V * _N_T) // _N_T
                points[n + 2] = _T + syllable % _N_T
                n += 3 if syllable % _N_T > 0 else 2
            else:
                place = np.int64(places[np.int64(form_pages[point >> 7]) * 128 + (point & 127)])
                if place == 0 or not formed:
                    points[n] = point | order << _CLASS
                    n += 1
                else:
                    size = np.int64(parts[place])
                    for i in range(size):
                        points[n + i] = parts[place + 1 + i]
                    n += size
                    marks = True
        if gathers and state == DONE:
            at[4] = begin - copied + 4 * n + 8
            if written + at[4] > len(out):
                state = MORE_BYTES
        if state != DONE:
            position = begin
            break
        first = 0
        while marks and first < n:  # sort marks in a row by class, those of one class as they stand
            stop = first
            while stop < n and (points[stop] >> _CLASS) & 0xFF != 0:
                stop += 1
            if stop - first <= FEW_MARKS:
                for i in range(first + 1, stop):
                    mark = points[i]
                    j = i
                    while j > first and points[j - 1] >> _CLASS > mark >> _CLASS:
                        points[j] = points[j - 1]
                        j -= 1
                    points[j] = mark
            else:
                counts[:] = 0
                for i in range(first, stop):
                    counts[points[i] >> _CLASS] += 1
                total = 0
                for order in range(256):
                    size = counts[order]
                    counts[order] = total
                    total += size
                for i in range(first, stop):
                    order = np.int64(points[i] >> _CLASS)
                    ordered[counts[order]] = points[i]
                    counts[order] += 1
                for i in range(first, stop):
                    points[i] = ordered[i - first]
            first = stop + 1
        starter = -1
        row = 0  # of the starter in the table of composites
        last = 0  # class of what was put behind the starter last
        left = 0
        for i in range(n):  # compose
            point = np.int64(points[i] & _POINT)
            order = np.int64((points[i] >> _CLASS) & 0xFF)
            if formed and starter >= 0 and (last == 0 or last < order):
                before = np.int64(points[starter])
                made = 0
                if row > 0:
                    made = np.int64(composites[row, np.int64(seconds[np.int64(form_pages[point >> 7]) * 128 + (point & 127)])])
                elif last == 0 and _L <= before < _L + _N_L and _V <= point < _V + _N_V:
                    made = _S + ((before - _L) * _N_V + point - _V) * _N_T
                elif last == 0 and _S <= before < _S + _N_L * _N_V * _N_T and _T < point < _T + _N_T:
                    made = before + point - _T if (before - _S) % _N_T == 0 else 0
                if made > 0:
                    points[starter] = made
                    row = np.int64(firsts[np.int64(form_pages[made >> 7]) * 128 + (made & 127)])
                    continue
            if order == 0:
                starter = left
                row = 0
                if points[i] < _RAW:
                    row = np.int64(firsts[np.int64(form_pages[point >> 7]) * 128 + (point & 127)])
            last = order
            points[left] = points[i]
            left += 1
        if gathers:  # a segment that stays as it is needs no copy, nor what stands before it
            there = begin
            for i in range(left):
                point = np.int64(points[i])
                utf8, size = encoded(point if point >= _RAW else point & _POINT)
                for j in range(size):
                    same = there < position and data[there] == (utf8 >> 8 * j) & 0xFF
                    there = there + 1 if same else end + 1
            if there == position:
                gathers = False
        if gathers:
            while copied + 8 <= begin:
                store64(out, written, load64(data, copied))
                written += 8
                copied += 8
            while copied < begin:
                out[written] = data[copied]
                written += 1
                copied += 1
            growth[stretches[number, 0]] += begin - position - written
            for i in range(left):
                point = np.int64(points[i])
                utf8, size = encoded(point if point >= _RAW else point & _POINT)
                store64(out, written, np.uint64(utf8))
                written += size
            growth[stretches[number, 0]] += written
            copied = position
        if position >= end:
            number += 1
            position = 0
    at[0] = number
    at[1] = position
    at[2] = copied
    at[3] = written
    return state
