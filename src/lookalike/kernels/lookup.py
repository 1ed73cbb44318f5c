"""Look-up in sorted tables, in files, of keys in ascending order, the row of each, and where each run of keys that begin alike
starts. A row is found if some table holds a key of it that differs from the query's in at most ``radius`` bits and begins
alike: with radius 0 equal band keys, else fingerprints turned so that one block comes first. Or a query says with which
prefixes such a fingerprint may begin in one table, or in a few, which take turns: its own, and those with weak bits flipped.

Files have tables each, and a query looks into all of them by one call: kernels are told where in memory tables lie."""

from typing import Annotated, NamedTuple

import numpy as np

from .compiler import array_at, compiled, inlined, popcount, prefetch, typed
from .constants import ONE
from .sorting import sort_range

AHEAD = 8  # queries whose runs are fetched at once
KEYS, ROWS, STARTS, CODES, REMOVED, STEPS, N_KEYS, N_ROWS, BITS, FIRST = 0, 1, 2, 3, 4, 5, 8, 9, 10, 11  # columns of places
_FEW_ROWS = 64  # that many may wait to be sorted among those of other tables
_ROW_BITS = np.int64(46)  # of the number of a row among those of all files, which fit into 2^47 bytes of addresses


@compiled("void(const uint64[::1], uint64, uint32[::1])")
def start_runs(keys, prefix_bits, out):
    """Write where the sorted keys of each prefix start into ``out`` (uint32, 2^prefix_bits + 1)."""
    shift = np.uint64(63) - prefix_bits
    prefix = 0
    for i in range(len(keys)):
        mine = np.int64((keys[i] >> ONE) >> shift)
        while prefix <= mine:
            out[prefix] = i
            prefix += 1
    while prefix < len(out):
        out[prefix] = len(keys)
        prefix += 1


class Tables(NamedTuple):
    """The tables of one file, a row each: keys, rows, where runs start; the bits of a run; the codes of all rows, without gaps;
    which are removed, or none."""

    keys: np.ndarray
    rows: np.ndarray
    starts: np.ndarray
    prefix_bits: np.uint64
    codes: np.ndarray
    removed: np.ndarray


def places_of(files: "list[Tables]") -> "np.ndarray[tuple[int, ...], np.dtype[np.int64]]":
    """Return where the tables of files lie, a row for each, as ``search`` takes it; they must be held as long."""
    out, first = np.zeros((len(files), FIRST + 1), np.int64), 0
    for place, (keys, rows, starts, prefix_bits, codes, removed) in zip(out, files, strict=True):
        place[:STEPS] = [array.ctypes.data for array in (keys, rows, starts, codes, removed)]
        place[REMOVED] *= len(removed) > 0
        place[STEPS:N_KEYS] = [array.strides[0] for array in (keys, rows, starts)]
        place[N_KEYS:] = keys.shape[1], len(codes), prefix_bits, first
        first += len(codes)
    return out


@typed
class Asked(NamedTuple):
    """Queries: keys, codes, which have none, and the distinct prefixes to look at in each table, if any."""

    keys: Annotated[np.ndarray, "const uint64[:, ::1]"]
    codes: Annotated[np.ndarray, "const uint16[:, ::1]"]
    empty: Annotated[np.ndarray, "const boolean[::1]"]
    wanted: Annotated[np.ndarray, "const uint32[:, ::1]"]


@inlined("int64(const int64[:, ::1], int64, int64, int64)")
def table_at(places, file, column, table):
    """Return where a table of a file begins: its keys, rows or starts."""
    return places[file, column] + places[file, STEPS + column] * table


@compiled("void(Asked, int64, int64, const int64[:, ::1], int64, int64[:, :, :, ::1])", Asked)
def fetch_starts(asked, begin, end, places, file, runs):
    """Write the prefixes of some queries into ``runs``, and ask for the starts of their runs. A look at a table waits for
    memory twice; this many at once take hardly longer than one."""
    shift = np.uint64(63) - np.uint64(places[file, BITS])
    probing = len(asked.wanted) > 0  # many runs of one table; otherwise a run of each table
    for query in range(begin, end):
        for i in range(runs.shape[2]):
            table = i % asked.keys.shape[1]
            prefix = np.int64(asked.wanted[query, i]) if probing else np.int64((asked.keys[query, table] >> ONE) >> shift)
            runs[file, query - begin, i, 0] = prefix
            prefetch(array_at(table_at(places, file, STARTS, table), 1, np.uint32), prefix)


@compiled("void(Asked, int64, const int64[:, ::1], int64, int64[:, :, :, ::1])", Asked)
def fetch_runs(asked, count, places, file, runs):
    """Write where the runs of some queries start and end into ``runs``, and ask for their keys, and not for their rows: few
    runs hold the key of a query."""
    size = (np.int64(1) << places[file, BITS]) + 1
    for query in range(count):
        for i in range(runs.shape[2]):
            table = i % asked.keys.shape[1]
            starts = array_at(table_at(places, file, STARTS, table), size, np.uint32)
            prefix = runs[file, query, i, 0]
            run = np.int64(starts[prefix])
            runs[file, query, i, 0] = run
            runs[file, query, i, 1] = np.int64(starts[prefix + 1])
            prefetch(array_at(table_at(places, file, KEYS, table), 1, np.uint64), run)


@inlined("UniTuple(uint64, 4)(int64)")
def folds_of(lane):
    """Steps by which the bits of a lane of 1, 2, 4 or 8 bits come onto its lowest, and the lowest bits of all lanes in 16."""
    lowest = np.uint64(0xFFFF) // ((ONE << np.uint64(lane)) - ONE)
    return np.uint64(lane > 1), np.uint64(2 * (lane > 2)), np.uint64(4 * (lane > 4)), lowest


@inlined("int64(uint64, UniTuple(uint64, 4))")
def lanes_with_bits(word, folds):
    """How many lanes of a word have any bit: all of these are folded onto its lowest."""
    word |= word >> folds[0]
    word |= word >> folds[1]
    word |= word >> folds[2]
    return popcount(word & folds[3])


@inlined("int64(const uint16[::1], const uint16[:, ::1], int64, int64)")
def score_of(row_codes, query_codes, query, lane):
    """Return how many codes of a row and a query are equal, or, of codes of fewer than 16 bits, minus how many differ. A code,
    which is a ``lane`` of so many bits, differs if any of its bits does."""
    score = 0
    if lane == 16:
        for j in range(query_codes.shape[1]):
            score += row_codes[j] == query_codes[query, j]
        return score
    folds = folds_of(lane)
    for j in range(query_codes.shape[1]):
        score -= lanes_with_bits(np.uint64(row_codes[j] ^ query_codes[query, j]), folds)
    return score


@compiled("int64(uint64, int64, int64, const int64[:, ::1], int64, int64, int64, int64, int64[::1], int64)")
def collect_rows(key, radius, bound, places, file, table, begin, end, near, n_near):
    """Add the rows of one run that match a key to ``near``; return their number, also where not all have room. With a ``bound``
    of 0 or more the radius is 0, and rows beyond it are left out: those of a key ascend."""
    keys = array_at(table_at(places, file, KEYS, table), end, np.uint64)
    rows = array_at(table_at(places, file, ROWS, table), end, np.uint32)
    for i in range(begin, end):
        if popcount(keys[i] ^ key) <= radius:
            if 0 <= bound < np.int64(rows[i]):
                break
            if n_near < len(near):
                near[n_near] = rows[i]
            n_near += 1
    return n_near


@inlined("int64(int64[::1], int64, int64)")
def join_rows(near, known, n_near):
    """Sort ``near[known:n_near]`` into the ascending ``near[:known]``, once each; return how many there are then. Copies have
    the same rows in every table: where rows ascend, and are known, that is one step for each."""
    for i in range(known + 1, n_near):
        if near[i] < near[i - 1]:
            sort_range(near, known, n_near)
            break
    place = 0
    left = known
    for i in range(known, n_near):
        row = near[i]
        while place < known and near[place] < row:
            place += 1
        if (place == known or near[place] != row) and (left == known or near[left - 1] != row):
            near[left] = row
            left += 1
    if 0 < known < left and near[known] < near[known - 1]:
        sort_range(near, 0, left)
    return left


@compiled("int64(Asked, int64, int64, int64, int64, const int64[:, ::1], int64, int64, int64)", Asked)
def last_needed(asked, query, enough, most, lane, places, file, begin, end):
    """Return the last of the first ``most`` rows with the query's key in table 0, if the scores of all these are ``enough``, or
    -1. Rows that are removed do not count. Of many copies a query needs no more."""
    key, n_rows, width = asked.keys[query, 0], places[file, N_ROWS], asked.codes.shape[1]
    keys, rows = array_at(places[file, KEYS], end, np.uint64), array_at(places[file, ROWS], end, np.uint32)
    removed = array_at(places[file, REMOVED], n_rows if places[file, REMOVED] else 0, np.uint8)
    i = begin
    while i < end and keys[i] < key:
        i += 1
    if i + most >= end or keys[i + most] != key:
        return -1
    while i < end and keys[i] == key and rows[i] < n_rows:
        row = np.int64(rows[i])
        if len(removed) == 0 or not removed[row]:
            codes = array_at(places[file, CODES] + 2 * width * row, width, np.uint16)
            if score_of(codes, asked.codes, query, lane) < enough:
                return -1
            most -= 1
            if most == 0:
                return row
        i += 1
    return -1


@compiled("int64(Asked, int64, int64, int64, int64, int64, const int64[:, ::1], int64, int64[:, ::1], int64[::1])", Asked)
def near_rows(asked, query, radius, enough, most, lane, places, file, runs, near):
    """Write the rows of a file that a query is compared with into ``near``, in ascending order; return their number, also where
    not all have room, or -1 if a run is not in its table."""
    n_near = 0
    known = 0  # of these rows ascend, once each
    bound = -1
    for i in range(len(runs)):
        table = i % asked.keys.shape[1]
        begin = runs[i, 0]
        end = runs[i, 1]
        if begin > end or end > places[file, N_KEYS]:
            return -1
        if i == 0 and radius == 0 and 0 < abs(most) < end - begin:
            bound = last_needed(asked, query, enough, abs(most), lane, places, file, begin, end)
        n_near = collect_rows(asked.keys[query, table], radius, bound, places, file, table, begin, end, near, n_near)
        if n_near > len(near):
            return n_near
        if n_near - known > _FEW_ROWS:
            n_near = join_rows(near, known, n_near)
            known = n_near
    if known > 0:
        return join_rows(near, known, n_near)
    sort_range(near, 0, n_near)
    return n_near


@compiled(
    "int64(Asked, int64, int64, int64, int64, const int64[:, ::1], int64, const int64[::1], int64, int64[::1], int64)",
    Asked,
)
def match_rows(asked, query, least, most, lane, places, file, near, n_near, ranked, n_out):
    """Add the rows among ``near`` that match a query to ``ranked``, by numbers that ascend from the best; return how many there
    are then, or -1 if a row is not among the codes."""
    width, n_rows = asked.codes.shape[1], places[file, N_ROWS]
    removed = array_at(places[file, REMOVED], n_rows if places[file, REMOVED] else 0, np.uint8)
    highest = width if lane == 16 else 0
    folds = folds_of(lane)
    for i in range(n_near):
        row = near[i]
        if row >= n_rows:
            return -1
        if (i > 0 and near[i - 1] == row) or (len(removed) > 0 and removed[row]):
            continue
        codes = array_at(places[file, CODES] + 2 * width * row, width, np.uint16)
        score = 0  # as ``score_of``: a call with arrays would cost as much as the work
        if lane == 16:
            for j in range(width):
                score += codes[j] == asked.codes[query, j]
        else:
            for j in range(width):
                score -= lanes_with_bits(np.uint64(codes[j] ^ asked.codes[query, j]), folds)
        if score >= least:
            ranked[n_out] = ((highest - score) << _ROW_BITS) + places[file, FIRST] + row
            n_out += 1
            if most < 0:
                break
    return n_out


@compiled("void(const int64[:, ::1], int64, int64, int64, int64, int64[:, ::1])")
def tell_apart(places, highest, query, begin, end, hits):
    """Write query, file, row and score of some ranked matches, in place of their numbers."""
    for i in range(begin, end):
        number = hits[3, i] & ((np.int64(1) << _ROW_BITS) - 1)
        file = 0
        while file + 1 < len(places) and places[file + 1, FIRST] <= number:
            file += 1
        hits[0, i] = query
        hits[1, i] = file
        hits[2, i] = number - places[file, FIRST]
        hits[3, i] = highest - (hits[3, i] >> _ROW_BITS)


@compiled(
    "UniTuple(int64, 2)(Asked, int64, int64, int64, int64, const int64[:, ::1], int64[::1], int64[:, :, :, ::1], int64, "
    "int64[:, ::1])",
    Asked,
)
def search(asked, radius, least, lane, most, places, near, runs, query, hits):
    """Look up queries from ``query`` on in files; return (next query, matches): it is the end, or there is too little room; if
    not even ``query`` got an answer, ``near`` or ``hits`` cannot hold its candidates. The next query is -1 - file if a run of
    the file is not in its table or a row not among the codes: the file is damaged. Scores are ``score_of``; those
    below ``least`` and removed rows do not count. ``most``: with 1 or more, a query gets its best matches,
    that many; with 0 it gets all, with -1 the first only, in the first file that has one. ``hits`` (4, room) gets query, file,
    row and score of matches: of each query the best first, of equal scores by file and row. ``near`` and ``runs`` (files,
    queries that are looked up together, n_tables or n_probes, 2) are scratch."""
    n_queries = len(asked.keys)
    highest = asked.codes.shape[1] if lane == 16 else 0  # no score is above it
    enough = least if most < 0 else highest
    ranked = hits[3]
    n_out = 0
    first = query
    fetched = query
    while query < n_queries:
        if query == fetched:
            first = query
            fetched = min(query + runs.shape[1], n_queries)
            for file in range(len(places)):
                fetch_starts(asked, first, fetched, places, file, runs)
            for file in range(len(places)):
                fetch_runs(asked, fetched - first, places, file, runs)
        begin = n_out
        for file in range(len(places)):
            if asked.empty[query] or (most < 0 and n_out > begin):
                break
            n_near = near_rows(asked, query, radius, enough, most, lane, places, file, runs[file, query - first], near)
            if n_near > len(near) or n_out + n_near > len(ranked):
                return query, begin
            if n_near >= 0:
                n_out = match_rows(asked, query, least, most, lane, places, file, near, n_near, ranked, n_out)
            if min(n_near, n_out) < 0:
                return -1 - file, begin
        sort_range(ranked, begin, n_out)
        if 0 < most < n_out - begin:
            n_out = begin + most
        tell_apart(places, highest, query, begin, n_out, hits)
        query += 1
    return query, n_out
