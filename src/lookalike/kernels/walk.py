"""The greedy walk: a document is removed if and only if an earlier kept one matches it. All rows of a bundle are there, and
come in keep order; who is kept is known of all rows before the one whose turn it is."""

from .compiler import compiled
from .resemblance import Rows, score


@compiled(
    "int64(const int64[::1], const int64[::1], const int64[::1], const int64[::1], Rows, int64, float64, boolean, "
    "boolean[::1], int64[::1], int64[::1], float64[::1])",
    Rows,
)
def walk_bundles(
    bounds, orders, partner_offsets, partners, rows, boundary, threshold, all_pairs, removed, left, right, scores,
):  # fmt: skip
    """Compare each row with its partners that are kept, or with ``all_pairs`` also with removed ones, bundle after bundle;
    return the number of matches. Bundle i has the rows ``[bounds[i], bounds[i + 1])``, ascending in ``orders``; ``partners``
    are orders of rows before in the bundle. Orders below ``boundary`` are references: kept, not compared with each other.
    ``removed`` receives who is removed; ``left``, ``right`` and ``scores`` (as long as ``partners``) the matches. -1: a partner
    is not in the bundle."""
    n_found = 0
    for bundle in range(len(bounds) - 1):
        begin = bounds[bundle]
        for row in range(begin, bounds[bundle + 1]):
            removed[row] = False
            if orders[row] < boundary:
                continue
            for p in range(partner_offsets[row], partner_offsets[row + 1]):
                other = begin
                past = row
                while other < past:
                    middle = (other + past) >> 1
                    if orders[middle] < partners[p]:
                        other = middle + 1
                    else:
                        past = middle
                if other == row or orders[other] != partners[p]:
                    return -1
                if removed[other] and not all_pairs:
                    continue
                found = score(other, row, rows, threshold)
                if found >= threshold:
                    left[n_found] = orders[other]
                    right[n_found] = orders[row]
                    scores[n_found] = found
                    n_found += 1
                    if not removed[other]:
                        removed[row] = True
    return n_found


@compiled("void(const int64[::1], const int64[::1], int64, uint8[::1], boolean[::1])")
def resolve(left, right, boundary, removed, kept):
    """Tell which matches, sorted by right, have a kept left, where the matches of all documents before them went by.

    ``removed`` (uint8, a bit for each order) is read and brought up to date; ``kept`` (bool, a match each) is written.
    Documents with an order below ``boundary`` are never removed.
    """
    for pair in range(len(left)):
        a = left[pair]
        b = right[pair]
        kept[pair] = (removed[a >> 3] >> (a & 7)) & 1 == 0
        if kept[pair] and b >= boundary:
            removed[b >> 3] |= 1 << (b & 7)
