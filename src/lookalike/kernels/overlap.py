"""Common shingles of documents and of passages that are known beforehand, by an inverted list of the passages."""

from typing import Annotated, NamedTuple

import numpy as np

from .compiler import compiled, inlined, prefetch, typed
from .constants import ONE, ZERO
from .hashing import K0, shift_of
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


@compiled("void(const int32[::1], const int32[::1], int32[::1], int64[::1], int32[::1])")
def fill_lists(numbers, passages, last, ends, lists):
    """Write the passages of each number, once each, to where its list begins; ``ends`` (that, first) tells where it ends then.
    As for ``count_lists``, ``last`` holds -1."""
    for i in range(len(numbers)):
        if last[numbers[i]] != passages[i]:
            last[numbers[i]] = passages[i]
            lists[ends[numbers[i]]] = passages[i]
            ends[numbers[i]] += 1


@typed
class Passages(NamedTuple):
    """An inverted list: a table of values (filled with ``spread``), their numbers, the ``lists``
    ``[list_offsets[i], list_offsets[i + 1])`` of passages that hold value i, and ``sizes``, how many values each passage has. A
    list is gone through up to ``scanned`` of its number; passages after that, ascending, match no row by such values alone.
    ``hidden``: how many values of a passage are there."""

    table: Annotated[np.ndarray, "const uint64[::1]"]
    numbers: Annotated[np.ndarray, "const int32[::1]"]
    list_offsets: Annotated[np.ndarray, "const int64[::1]"]
    lists: Annotated[np.ndarray, "const int32[::1]"]
    scanned: Annotated[np.ndarray, "const int64[::1]"]
    hidden: Annotated[np.ndarray, "const int64[::1]"]
    sizes: Annotated[np.ndarray, "const int64[::1]"]
    spread: Annotated[np.uint64, "uint64"]


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


@compiled(
    "UniTuple(int64, 2)(const uint64[::1], const int64[::1], Passages, boolean, float64, int64[::1], int64[::1], int64[::1], "
    "int64, Hits)",
    Passages,
    Hits,
)
def match_rows(values, offsets, passages, contained, threshold, common, touched, later, row, hits):
    """Match rows of distinct values from ``row`` on; return (next row, matches): it is the end, or ``hits`` is full.

    A pair matches when the common values, divided by those of the union or, if ``contained``, of the passage, reach the
    threshold. ``common`` (one entry a passage) holds zeros; ``touched`` has room for all passages, ``later`` for the values of
    a row whose lists are not gone through to the end.
    """
    table, numbers, list_offsets, lists, scanned, hidden, sizes, spread = passages
    found_row, found_passage, found_common = hits
    mask = np.uint64(len(table) - 1)
    shift = shift_of(len(table))
    n_found = 0
    while row < len(offsets) - 1:
        if n_found + len(sizes) > len(found_row):
            return row, n_found
        n_touched = 0
        n_later = 0
        for i in range(offsets[row], offsets[row + 1]):
            prefetch(table, np.int64((values[min(i + np.int64(_AHEAD), len(values) - 1)] * spread) >> shift))
            value = values[i] if values[i] != ZERO else K0
            place = (value * spread) >> shift
            while table[place] != ZERO and table[place] != value:
                place = (place + ONE) & mask
            if table[place] == ZERO:
                continue
            number = numbers[place]
            if scanned[number] < list_offsets[number + 1]:
                later[n_later] = number
                n_later += 1
            for j in range(list_offsets[number], scanned[number]):
                passage = lists[j]
                if common[passage] == 0:
                    touched[n_touched] = passage
                    n_touched += 1
                common[passage] += 1
        size = offsets[row + 1] - offsets[row]
        for i in range(n_touched):
            passage = touched[i]
            both = common[passage]
            common[passage] = 0
            if hidden[passage] > 0 and n_later > 0:
                most = both + min(hidden[passage], n_later)
                if most < threshold * (sizes[passage] if contained else size + sizes[passage] - most) * (1.0 - 1e-12):
                    continue
                for j in range(n_later):
                    both += has(lists, scanned[later[j]], list_offsets[later[j] + 1], passage)
            whole = sizes[passage] if contained else size + sizes[passage] - both
            if both / whole >= threshold:
                found_row[n_found] = row
                found_passage[n_found] = passage
                found_common[n_found] = both
                n_found += 1
        row += 1
    return row, n_found
