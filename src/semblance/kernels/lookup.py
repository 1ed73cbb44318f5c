"""Look-up in sorted tables of keys that lie in files.

A table holds keys in ascending order, the row of each, and where each run of keys that begin alike starts. A row is found if
some table holds a key of it that differs from the query's in at most ``radius`` bits and begins alike: with radius 0 equal
band keys, else fingerprints turned so that one of their blocks comes first.
"""

import numpy as np

from ._compile import compiled, popcount, prefetch

_ONE = np.uint64(1)
_AHEAD = 8  # queries whose runs are fetched at once


@compiled
def start_runs(keys, prefix_bits, out):
    """Write where the sorted keys of each prefix start into ``out`` (uint32, 2^prefix_bits + 1)."""
    shift = np.uint64(63) - prefix_bits
    prefix = 0
    for i in range(len(keys)):
        mine = np.int64((keys[i] >> _ONE) >> shift)
        while prefix <= mine:
            out[prefix] = i
            prefix += 1
    while prefix < len(out):
        out[prefix] = len(keys)
        prefix += 1


@compiled
def fetch_runs(query_keys, begin, end, keys, rows, starts, prefix_bits, runs):
    """Write where the runs of some queries start and end in each table into ``runs``, and ask for what lies there.

    A look at a table waits for memory three times; so many at once wait hardly longer than one.
    """
    shift = np.uint64(63) - prefix_bits
    for query in range(begin, end):
        for table in range(len(keys)):
            prefix = np.int64((query_keys[query, table] >> _ONE) >> shift)
            runs[query - begin, table, 0] = prefix
            prefetch(starts[table], prefix)
    for query in range(begin, end):
        for table in range(len(keys)):
            prefix = runs[query - begin, table, 0]
            run = np.int64(starts[table, prefix])
            runs[query - begin, table, 0] = run
            runs[query - begin, table, 1] = np.int64(starts[table, prefix + 1])
            prefetch(keys[table], run)
            prefetch(rows[table], run)


@compiled
def collect_rows(key, radius, keys, rows, begin, end, found, n_found):
    """Add the rows of one run that match a key; return (array of found rows, perhaps a larger one, their number)."""
    for i in range(begin, end):
        if popcount(keys[i] ^ key) <= radius:
            if n_found == len(found):
                larger = np.empty(2 * len(found), np.int64)
                larger[:n_found] = found
                found = larger
            found[n_found] = rows[i]
            n_found += 1
    return found, n_found


@compiled
def search(
    query_keys, query_codes, radius, least, differing, first_only, keys, rows, starts, prefix_bits, codes, removed,
    query, found_query, found_row, found_score,
):  # fmt: skip
    """Look up queries from ``query`` on; return (next query, matches): it is the end, or ``found_*`` is full.

    ``query_keys`` has the shape (n_queries, n_tables); ``keys``, ``rows`` and ``starts`` hold a row for each table. The
    score of a row is the number of equal codes (uint16), or, where ``differing``, minus the number of differing bits; those
    below ``least`` and rows whose ``removed`` is set do not count. With ``first_only`` a query ends with its first match.
    Where not even ``query`` got an answer it has more candidates than ``found_*`` has room for. The next query is -1 where a
    run does not lie in its table or a row not in ``codes``: the file is damaged.
    """
    n_out = 0
    near = np.empty(256, np.int64)
    runs = np.empty((_AHEAD, len(keys), 2), np.int64)
    first = query
    fetched = query
    while query < len(query_keys):
        if query == fetched:
            first = query
            fetched = min(query + _AHEAD, len(query_keys))
            fetch_runs(query_keys, query, fetched, keys, rows, starts, prefix_bits, runs)
        place = query - first
        n_near = 0
        for table in range(len(keys)):
            begin = runs[place, table, 0]
            end = runs[place, table, 1]
            if begin > end or end > keys.shape[1]:
                return -1, n_out
            near, n_near = collect_rows(query_keys[query, table], radius, keys[table], rows[table], begin, end, near, n_near)
        if n_out + n_near > len(found_row):
            return query, n_out
        near[:n_near].sort()
        for i in range(n_near):
            row = near[i]
            if row >= len(codes):
                return -1, n_out
            if (i > 0 and near[i - 1] == row) or (len(removed) > 0 and removed[row]):
                continue
            score = 0
            if differing:
                for j in range(query_codes.shape[1]):
                    score -= popcount(np.uint64(codes[row, j] ^ query_codes[query, j]))
            else:
                for j in range(query_codes.shape[1]):
                    score += codes[row, j] == query_codes[query, j]
            if score >= least:
                found_query[n_out] = query
                found_row[n_out] = row
                found_score[n_out] = score
                n_out += 1
                if first_only:
                    break
        query += 1
    return query, n_out
