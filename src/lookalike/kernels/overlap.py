"""Shingles of passages that are known beforehand in documents: where they are, which passages these make up, and what of a
document that is.

A *hit* is a shingle of a document that a passage has: its number, and the token that it begins with. Hits of a row ascend.
"""

from typing import Annotated, NamedTuple

import numpy as np

from .compiler import compiled, inlined, prefetch, typed
from .constants import ONE, ZERO
from .digests import folded, reduced, times, token_value
from .hashing import K0, M1, M2, fmix64, shift_of
from .scratch import Hits

_AHEAD = np.uint64(24)  # values whose places in a table are fetched meanwhile


@compiled("int64(const uint64[::1], uint64, uint64[::1], int32[::1], int32[::1])")
def fill_table(values, spread, table, numbers, out):
    """Number values by first appearance, and remember them in a table; return how many are distinct. ``table`` (uint64, zeros,
    a power of two, twice as long as ``values`` at least); ``spread``: see ``hashing.is_new``."""
    mask = np.uint64(len(table) - 1)
    shift = shift_of(len(table))
    count = 0
    end = np.uint64(len(values))
    i = ZERO
    while i < end:
        prefetch(table, np.int64((values[min(i + _AHEAD, end - ONE)] * spread) >> shift))
        value = values[i] if values[i] != ZERO else K0
        place = (value * spread) >> shift
        while table[place] != ZERO and table[place] != value:
            place = (place + ONE) & mask
        if table[place] == ZERO:
            table[place] = value
            numbers[place] = count
            count += 1
        out[i] = numbers[place]
        i += ONE
    return count


@compiled("void(const int32[::1], const int32[::1], int32[::1], int64[::1], int64[::1])")
def count_lists(numbers, passages, last, sizes, counts):
    """Count in how many passages each number is, and how many distinct ones each passage has. ``numbers[i]`` is in
    ``passages[i]``; these ascend. ``last`` (of -1, one for each number) is scratch; ``sizes`` and ``counts`` are added to."""
    for i in range(len(numbers)):
        if last[numbers[i]] != passages[i]:
            last[numbers[i]] = passages[i]
            counts[numbers[i]] += 1
            sizes[passages[i]] += 1


@compiled("void(const int32[::1], const int32[::1], int32[::1], int64[::1], int32[::1], int32[::1])")
def fill_lists(numbers, passages, last, ends, lists, members):
    """Write the passages of each number, once each, to where its list begins, and into ``members`` the numbers of each passage.
    ``ends`` (that, first) tells where lists end then. As for ``count_lists``, ``last`` holds -1."""
    written = 0
    for i in range(len(numbers)):
        if last[numbers[i]] != passages[i]:
            last[numbers[i]] = passages[i]
            lists[ends[numbers[i]]] = passages[i]
            ends[numbers[i]] += 1
            members[written] = numbers[i]
            written += 1


@typed
class Passages(NamedTuple):
    """An inverted list: a table of values (filled with ``spread``), their numbers, the ``lists``
    ``[list_offsets[i], list_offsets[i + 1])`` of passages that hold value i, and ``sizes``, how many values each passage has. A
    list is gone through up to ``scanned`` of its number; passages after that, ascending, match no row by such values alone.
    ``hidden``: how many values of a passage are there. ``members``: the numbers of passage i, from ``bounds[i]`` on."""

    table: Annotated[np.ndarray, "const uint64[::1]"]
    numbers: Annotated[np.ndarray, "const int32[::1]"]
    list_offsets: Annotated[np.ndarray, "const int64[::1]"]
    lists: Annotated[np.ndarray, "const int32[::1]"]
    scanned: Annotated[np.ndarray, "const int64[::1]"]
    hidden: Annotated[np.ndarray, "const int64[::1]"]
    sizes: Annotated[np.ndarray, "const int64[::1]"]
    bounds: Annotated[np.ndarray, "const int64[::1]"]
    members: Annotated[np.ndarray, "const int32[::1]"]
    spread: Annotated[np.uint64, "uint64"]


@typed
class Counts(NamedTuple):
    """Scratch: ``common``, zeros, and ``touched``, for each passage; ``later``, as long as the hits; ``seen``, zeros at first,
    for each number."""

    common: Annotated[np.ndarray, "int64[::1]"]
    touched: Annotated[np.ndarray, "int64[::1]"]
    later: Annotated[np.ndarray, "int64[::1]"]
    seen: Annotated[np.ndarray, "int64[::1]"]


@inlined("int64(const int32[::1], int64, int64, int64)")
def has(values, low, high, value):
    """Tell whether ``values[low:high]``, ascending, have a value: 1 or 0."""
    end = high
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < value:
            low = middle + 1
        else:
            high = middle
    return 1 if low < end and values[low] == value else 0


@compiled("int64(const uint64[::1], const uint64[::1], const int32[::1], uint64, int64[::1], int32[::1])")
def find_values(values, table, numbers, spread, places, out):
    """Write the place and the number of each value that is in a table; return how many these are."""
    mask = np.uint64(len(table) - 1)
    shift = shift_of(len(table))
    end = np.uint64(len(values))
    count = ZERO
    i = ZERO
    while i < end:
        prefetch(table, np.int64((values[min(i + _AHEAD, end - ONE)] * spread) >> shift))
        value = values[i] if values[i] != ZERO else K0
        place = (value * spread) >> shift
        while table[place] != ZERO and table[place] != value:
            place = (place + ONE) & mask
        if table[place] != ZERO:
            places[count] = np.int64(i)
            out[count] = numbers[place]
            count += ONE
        i += ONE
    return np.int64(count)


@inlined("uint64(uint64, uint64)")
def beginning(first, second):
    """Return what two tokens that a short text begins with are known by, from their numbers."""
    return (first * M1 + second) * M2


@compiled("void(const uint64[:, ::1], const int64[::1], const uint64[::1], boolean, uint64[::1])")
def begin_texts(keys, offsets, secret, pairs, out):
    """Write what the texts of rows of token keys begin with: two tokens, or without ``pairs`` one; 0 where there are fewer."""
    for row in range(len(offsets) - 1):
        at = offsets[row]
        out[row] = ZERO
        if offsets[row + 1] - at > (1 if pairs else 0):
            first = token_value(keys[at, 0], keys[at, 1], secret[0], secret[1])
            second = token_value(keys[at + 1, 0], keys[at + 1, 1], secret[0], secret[1]) if pairs else ZERO
            out[row] = beginning(first, second)


@compiled("void(const uint64[::1], uint64[::1])")
def fill_filter(values, out):
    """Mark values in a filter, of a power of two bits."""
    shift = shift_of(64 * len(out))
    for i in range(len(values)):
        place = values[i] >> shift
        out[place >> np.uint64(6)] |= ONE << (place & np.uint64(63))


@compiled(
    "int64(const uint64[:, ::1], const int64[::1], const uint64[::1], const int64[::1], boolean, const uint64[::1], "
    "uint64[::1], int64[::1], uint64[::1])"
)
def hash_short(keys, offsets, secret, lengths, pairs, known, tokens, places, out):
    """Write where tokens in a row may be a short text, and their hash for each of the ``lengths``, ascending; return how many.

    ``known``: a filter of what these texts begin with. ``tokens``: scratch, one longer than the longest row. It stops where
    ``out`` is full.
    """
    shift = shift_of(64 * len(known))
    step = secret[2]
    count = ZERO
    room = np.uint64(len(out))
    least = np.uint64(lengths[0])
    for row in range(len(offsets) - 1):
        begin = np.uint64(offsets[row])
        size = np.uint64(offsets[row + 1]) - begin
        i = ZERO
        while i < size:
            tokens[i] = token_value(keys[begin + i, 0], keys[begin + i, 1], secret[0], secret[1])
            i += ONE
        tokens[size] = ZERO
        i = ZERO
        while i + least <= size:
            place = beginning(tokens[i], tokens[i + ONE] if pairs else ZERO) >> shift
            if (known[place >> np.uint64(6)] >> (place & np.uint64(63))) & ONE != ZERO:
                leading = ONE
                state = ZERO
                done = ZERO
                for j in range(len(lengths)):
                    length = np.uint64(lengths[j])
                    if i + length > size:
                        break
                    while done < length:
                        leading = folded(times(leading, step))
                        state = folded(times(state, step) + tokens[i + done])
                        done += ONE
                    if count < room:
                        places[count] = np.int64(begin + i)
                        out[count] = fmix64(reduced(folded(state + reduced(leading))) ^ secret[3])
                    count += ONE
            i += ONE
    return np.int64(count)


@compiled(
    "UniTuple(int64, 2)(const int64[::1], const int32[::1], Passages, float64, int64, Counts, int64, Hits, "
    "boolean[::1], boolean[::1])",
    Passages,
    Counts,
    Hits,
)
def match_rows(bounds, found, passages, threshold, covers, counts, row, hits, needed, outside):
    """Match rows of hits, those of row i from ``bounds[i]`` on, from ``row`` on; return (next row, matches): it is the end, or
    ``hits`` is full.

    A pair matches when the common values, divided by those of the passage, reach the threshold. ``needed``: the
    hits that a matching passage has; ``outside``: the first hit of each number, but not those in a matching passage that
    has ``covers`` common values or more, if that is not 0.
    """
    list_offsets, lists, scanned, hidden = passages.list_offsets, passages.lists, passages.scanned, passages.hidden
    sizes, starts, members = passages.sizes, passages.bounds, passages.members
    common, touched, later, seen = counts
    found_row, found_passage, found_common = hits
    n_found = 0
    while row < len(bounds) - 1:
        if n_found + len(sizes) > len(found_row):
            return row, n_found
        base = 3 * row
        n_touched = 0
        n_later = 0
        for i in range(bounds[row], bounds[row + 1]):
            number = found[i]
            outside[i] = seen[number] <= base
            if not outside[i]:
                continue
            seen[number] = base + 1
            if scanned[number] < list_offsets[number + 1]:
                later[n_later] = number
                n_later += 1
            for j in range(list_offsets[number], scanned[number]):
                passage = lists[j]
                if common[passage] == 0:
                    touched[n_touched] = passage
                    n_touched += 1
                common[passage] += 1
        for i in range(n_touched):
            passage = touched[i]
            both = common[passage]
            common[passage] = 0
            if hidden[passage] > 0 and n_later > 0:
                if both + min(hidden[passage], n_later) < threshold * sizes[passage] * (1.0 - 1e-12):
                    continue
                for j in range(n_later):
                    both += has(lists, scanned[later[j]], list_offsets[later[j] + 1], passage)
            if both / sizes[passage] >= threshold:
                found_row[n_found] = row
                found_passage[n_found] = passage
                found_common[n_found] = both
                n_found += 1
                mark = base + (3 if 0 < covers <= both else 2)
                for j in range(starts[passage], starts[passage + 1]):
                    if base < seen[members[j]] < mark:
                        seen[members[j]] = mark
        for i in range(bounds[row], bounds[row + 1]):
            needed[i] = seen[found[i]] > base + 1
            outside[i] = outside[i] and seen[found[i]] < base + 3
        row += 1
    return row, n_found


@typed
class Found(NamedTuple):
    """Hits of documents: number, token that it begins with, bytes of the text."""

    numbers: Annotated[np.ndarray, "const int64[::1]"]
    tokens: Annotated[np.ndarray, "const int64[::1]"]
    begins: Annotated[np.ndarray, "const int64[::1]"]
    ends: Annotated[np.ndarray, "const int64[::1]"]


@compiled(
    "void(const int64[::1], Found, const int64[::1], const int64[::1], Passages, const boolean[::1], float64, int64, "
    "int64[::1], int64[:, ::1], int64[:, ::1])",
    Passages,
    Found,
)
def judge_rows(bounds, found, match_bounds, chosen, passages, commonplace, threshold, near, seen, out, pieces):
    """Judge matches by their values that are not ``commonplace``, and find the pieces of the text that they are.

    Row i has the hits from ``bounds[i]`` on, and matches the passages ``chosen`` from ``match_bounds[i]`` on. A match stands if
    the threshold is reached by values that are not commonplace. Its hits make pieces: two of them are one piece if they begin
    at most ``near`` tokens apart. Pieces of commonplace hits alone do not count. ``out`` gets, for each match, begin and end of
    its longest piece (-1: it does not stand) and how many of all its values were found; ``pieces``, for each hit, how many
    pieces begin there, less those that end there, and the end of what the hit adds to one, or 0.
    ``seen``: zeros, for each number.
    """
    numbers, tokens, begins, ends = found
    starts, members = passages.bounds, passages.members
    stamp = 0
    for row in range(len(bounds) - 1):
        for match in range(match_bounds[row], match_bounds[row + 1]):
            passage = chosen[match]
            stamp += 2
            rare = 0
            for i in range(starts[passage], starts[passage + 1]):
                seen[members[i]] = stamp
                rare += 0 if commonplace[members[i]] else 1
            both = 0
            rare_both = 0
            for i in range(bounds[row], bounds[row + 1]):
                number = numbers[i]
                if seen[number] == stamp:
                    seen[number] = stamp + 1
                    both += 1
                    rare_both += 0 if commonplace[number] else 1
            out[match, 0] = -1
            out[match, 1] = -1
            out[match, 2] = both
            if rare_both == 0 or rare_both / rare < threshold:
                continue
            begin = -1
            last = -1
            counts = False
            longest = -1
            for i in range(bounds[row], bounds[row + 1] + 1):
                inside = i < bounds[row + 1] and seen[numbers[i]] > stamp
                if i < bounds[row + 1] and not inside:
                    continue
                if begin >= 0 and (not inside or tokens[i] - tokens[last] > near):
                    if counts:
                        pieces[begin, 0] += 1
                        pieces[last, 0] -= 1
                        end = 0
                        for j in range(begin, last + 1):
                            if seen[numbers[j]] > stamp:
                                pieces[j, 1] = ends[j]
                                end = max(end, ends[j])
                        if end - begins[begin] > longest:
                            longest = end - begins[begin]
                            out[match, 0] = begins[begin]
                            out[match, 1] = end
                    begin = -1
                    counts = False
                if inside:
                    begin = i if begin < 0 else begin
                    last = i
                    counts = counts or not commonplace[numbers[i]]
