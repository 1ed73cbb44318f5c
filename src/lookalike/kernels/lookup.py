"""Look-up in sorted tables, in files, of keys in ascending order, the row of each, and where each run of keys that begin alike
starts. A row is found if some table holds a key of it that differs from the query's in at most ``radius`` bits and begins
alike: with radius 0 equal band keys, else fingerprints turned so that one block comes first. Or one table holds plain
fingerprints, and a query says with which prefixes a key may begin: its own, and those with weak bits flipped."""

from typing import Annotated, NamedTuple

import numpy as np

from .compiler import compiled, inlined, popcount, prefetch, typed
from .constants import ONE
from .scratch import Hits
from .sorting import sort_range

AHEAD = 8  # queries whose runs are fetched at once
_FEW_ROWS = 64  # that many may wait to be sorted among those of other tables


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


@typed
class Tables(NamedTuple):
    """Sorted tables, a row each: keys, rows, where runs start; the bits of a run; the codes of all rows; which are removed."""

    keys: Annotated[np.ndarray, "const uint64[:, :]"]
    rows: Annotated[np.ndarray, "const uint32[:, :]"]
    starts: Annotated[np.ndarray, "const uint32[:, :]"]
    prefix_bits: Annotated[np.uint64, "uint64"]
    codes: Annotated[np.ndarray, "const uint16[:, ::1]"]
    removed: Annotated[np.ndarray, "const boolean[::1]"]


@compiled(
    "void(const uint64[:, ::1], const uint32[:, ::1], int64, int64, Tables, int64[:, :, ::1])",
    Tables,
)
def fetch_runs(query_keys, wanted, begin, end, tables, runs):
    """Write where the runs of some queries start and end into ``runs``, and ask for what lies there. A look at a table waits
    for memory twice; this many at once take hardly longer than one."""
    shift = np.uint64(63) - tables.prefix_bits
    n_runs = runs.shape[1]
    probing = len(wanted) > 0  # one table, many runs; otherwise a run of each table
    for query in range(begin, end):
        for i in range(n_runs):
            table = 0 if probing else i
            prefix = np.int64(wanted[query, i]) if probing else np.int64((query_keys[query, table] >> ONE) >> shift)
            runs[query - begin, i, 0] = prefix
            prefetch(tables.starts[table], prefix)
    for query in range(begin, end):
        for i in range(n_runs):
            table = 0 if probing else i
            prefix = runs[query - begin, i, 0]
            run = np.int64(tables.starts[table, prefix])
            runs[query - begin, i, 0] = run
            runs[query - begin, i, 1] = np.int64(tables.starts[table, prefix + 1])
            prefetch(tables.keys[table], run)  # and not the rows: few runs hold the key of a query


@inlined("uint64(int64)")
def lowest_of(lane):
    """The lowest bit of each lane of 1, 2, 4 or 8 bits in 16."""
    return np.uint64(0xFFFF) // ((ONE << np.uint64(lane)) - ONE)


@inlined("int64(const uint16[:, ::1], int64, const uint16[:, ::1], int64, int64)")
def score_of(codes, row, query_codes, query, lane):
    """Return how many codes of a row and a query are equal, or, of codes of fewer than 16 bits, minus how many differ. ``lane``
    is the bits of a code. A lane differs if any of its bits does: these are folded onto its lowest bit."""
    score = 0
    if lane == 16:
        for j in range(query_codes.shape[1]):
            score += codes[row, j] == query_codes[query, j]
        return score
    lowest = lowest_of(lane)
    pairs = np.uint64(lane > 1)
    fours = np.uint64(2 * (lane > 2))
    eights = np.uint64(4 * (lane > 4))
    for j in range(query_codes.shape[1]):
        differ = np.uint64(codes[row, j] ^ query_codes[query, j])
        differ |= differ >> pairs
        differ |= differ >> fours
        differ |= differ >> eights
        score -= popcount(differ & lowest)
    return score


@compiled("int64(uint64, int64, const uint64[:], const uint32[:], int64, int64, int64[::1], int64)")
def collect_rows(key, radius, keys, rows, begin, end, near, n_near):
    """Add the rows of one run that match a key to ``near``; return their number, also where not all have room."""
    for i in range(begin, end):
        if popcount(keys[i] ^ key) <= radius:
            if n_near < len(near):
                near[n_near] = rows[i]
            n_near += 1
    return n_near


@compiled("int64(uint64, int64, const uint64[:], const uint32[:], int64, int64, int64[::1], int64)")
def collect_first_rows(key, bound, keys, rows, begin, end, near, n_near):
    """As ``collect_rows`` with radius 0, without rows beyond ``bound``: those of a key ascend."""
    for i in range(begin, end):
        if keys[i] == key:
            if rows[i] > bound:
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


@compiled(
    "int64(uint64, int64, int64, int64, Tables, int64, int64, const uint16[:, ::1], int64)",
    Tables,
)
def last_needed(key, enough, most, lane, tables, begin, end, query_codes, query):
    """Return the last of the first ``most`` rows of a key in table 0, if the scores of all these are ``enough``, or -1. Rows
    that are removed do not count. Of many copies a query needs no more."""
    keys, rows, codes, removed = tables.keys, tables.rows, tables.codes, tables.removed
    i = begin
    while i < end and keys[0, i] < key:
        i += 1
    if i + most >= end or keys[0, i + most] != key:
        return -1
    while i < end and keys[0, i] == key and rows[0, i] < len(codes):
        row = np.int64(rows[0, i])
        if len(removed) == 0 or not removed[row]:
            if score_of(codes, row, query_codes, query, lane) < enough:
                return -1
            most -= 1
            if most == 0:
                return row
        i += 1
    return -1


@compiled(
    "UniTuple(int64, 2)(const uint64[:, ::1], const uint16[:, ::1], const uint32[:, ::1], int64, int64, int64, int64, Tables, "
    "int64[::1], int64[:, :, ::1], int64, Hits)",
    Tables,
    Hits,
)
def search(query_keys, query_codes, wanted, radius, least, lane, most, tables, near, runs, query, hits):
    """Look up queries from ``query`` on; return (next query, matches): it is the end, or there is too little room; if not even
    ``query`` got an answer, ``near`` or ``hits`` cannot hold its candidates. The next query is -1 if a run is not in its table
    or a row not among the codes: the file is damaged. Where ``wanted`` has rows, there is one table, and they are the distinct
    prefixes to look at, (n_queries, n_probes). Scores are ``score_of``, for codes of ``lane`` bits; those below ``least`` and
    removed rows do not count. ``most``: with 1 or more, a query's best matches, that many, are among those it gets, of equal
    scores the first; with 0 it gets all, with -1 the first only. ``near`` and ``runs`` (AHEAD, n_tables or n_probes, 2) are
    scratch."""
    found_query, found_row, found_score = hits
    codes, removed = tables.codes, tables.removed
    enough = least if most < 0 else query_codes.shape[1] if lane == 16 else 0  # no score is above it, or none needs to be
    lowest = lowest_of(lane)
    pairs = np.uint64(lane > 1)
    fours = np.uint64(2 * (lane > 2))
    eights = np.uint64(4 * (lane > 4))
    n_out = 0
    first = query
    fetched = query
    while query < len(query_keys):
        if query == fetched:
            first = query
            fetched = min(query + len(runs), len(query_keys))
            fetch_runs(query_keys, wanted, query, fetched, tables, runs)
        place = query - first
        n_near = 0
        known = 0  # of these rows ascend, once each
        bound = -1
        for i in range(runs.shape[1]):
            table = 0 if len(wanted) > 0 else i
            begin = runs[place, i, 0]
            end = runs[place, i, 1]
            if begin > end or end > tables.keys.shape[1]:
                return -1, n_out
            key = query_keys[query, table]
            if i == 0 and radius == 0 and 0 < abs(most) < end - begin:
                bound = last_needed(key, enough, abs(most), lane, tables, begin, end, query_codes, query)
            if bound < 0:
                n_near = collect_rows(key, radius, tables.keys[table], tables.rows[table], begin, end, near, n_near)
            else:
                n_near = collect_first_rows(key, bound, tables.keys[table], tables.rows[table], begin, end, near, n_near)
            if n_near > len(near):
                return query, n_out
            if n_near - known > _FEW_ROWS:
                n_near = join_rows(near, known, n_near)
                known = n_near
        if known > 0:
            n_near = join_rows(near, known, n_near)
        else:
            sort_range(near, 0, n_near)
        if n_out + n_near > len(found_row):
            return query, n_out
        for i in range(n_near):
            row = near[i]
            if row >= len(codes):
                return -1, n_out
            if (i > 0 and near[i - 1] == row) or (len(removed) > 0 and removed[row]):
                continue
            score = 0  # as ``score_of``: a call with arrays would cost as much as the work
            if lane == 16:
                for j in range(query_codes.shape[1]):
                    score += codes[row, j] == query_codes[query, j]
            else:
                for j in range(query_codes.shape[1]):
                    differ = np.uint64(codes[row, j] ^ query_codes[query, j])
                    differ |= differ >> pairs
                    differ |= differ >> fours
                    differ |= differ >> eights
                    score -= popcount(differ & lowest)
            if score >= least:
                found_query[n_out] = query
                found_row[n_out] = row
                found_score[n_out] = score
                n_out += 1
                if most < 0:
                    break
        query += 1
    return query, n_out
