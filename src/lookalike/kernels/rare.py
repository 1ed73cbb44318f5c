"""The rare codes of crowded documents, the links of documents that hold the same one, and couples of codes. As in ``crowds``,
links are written until ``left`` and ``right`` are full; ``at`` says where to go on."""

import numpy as np

from .compiler import compiled, inlined
from .constants import S32
from .hashing import K0, fold_multiply

ANY = (1 << 63) - 1


@compiled("int64(const int64[::1], const boolean[::1], const int64[:, ::1], int64, int64, int64)")
def count_holder_links(orders, within, bounds, heads, boundary, done):
    """Number of links that ``holder_links`` writes, without those of the first ``done`` members of the first group."""
    total = 0
    for group in range(len(bounds)):
        for row in range(bounds[group, 0] + done, bounds[group, 1]):
            if orders[row] >= boundary:
                member = row - bounds[group, 0]
                total += member if within[row] else min(member, heads)
        done = 0
    return total


@compiled("int64(const int64[::1], const boolean[::1], const int64[:, ::1], int64, int64, int64[::1], int64[::1], int64[::1])")
def holder_links(orders, within, bounds, heads, boundary, at, left, right):
    """Write the links of holders of one code from (group, member, partner) ``at`` on; return how many. A holder is linked with
    all earlier ones if the code is ``within`` its budget, else with the first ``heads``."""
    count = 0
    group = at[0]
    member = at[1]
    partner = at[2]
    while group < len(bounds):
        begin = bounds[group, 0]
        while begin + member < bounds[group, 1]:
            order = orders[begin + member]
            partners = member if within[begin + member] else min(member, heads)
            if order < boundary:
                partners = 0
            end = min(partners, partner + len(left) - count)
            while partner < end:
                left[count] = orders[begin + partner]
                right[count] = order
                count += 1
                partner += 1
            if partner < partners:
                at[0] = group
                at[1] = member
                at[2] = partner
                return count
            member += 1
            partner = 0
        group += 1
        member = 0
    return count


@compiled("void(const uint16[:, ::1], int32[:, ::1])")
def count_codes(codes, total):
    """Add the codes (uint16) of each row to the table ``total`` of shape (slots, 65536)."""
    for row in range(len(codes)):
        for slot in range(codes.shape[1]):
            total[slot, codes[row, slot]] += 1


@inlined("int64(const uint16[::1], const int32[:, ::1], int64, int64[::1])")
def choose(codes, counts, most, best):
    """Write (count << 20 | slot) of the codes with the smallest counts from 2 to ``most``, ascending; return their number."""
    used = 0
    for slot in range(len(codes)):
        count = np.int64(counts[slot, codes[slot]])
        entry = count << 20 | slot
        if count < 2 or count > most or (used == len(best) and entry >= best[used - 1]):
            continue
        if used < len(best):
            used += 1
        place = used - 1
        while place > 0 and best[place - 1] > entry:
            best[place] = best[place - 1]
            place -= 1
        best[place] = entry
    return used


@compiled(
    "int64(const uint16[:, ::1], const int64[::1], const int32[:, ::1], int64, int64[::1], "
    "int64[::1], int64[::1], int64[::1], boolean[::1])"
)
def choose_codes(codes, orders, counts, budget, best, out_codes, out_orders, out_counts, out_within):
    """Write the codes that each row holds, the smallest counts first; return how many. ``best``: room for those of a row."""
    written = 0
    for row in range(len(codes)):
        used = choose(codes[row], counts, ANY, best)
        spent = 0
        for i in range(used):
            slot = best[i] & 0xFFFFF
            count = best[i] >> 20
            spent += count
            out_codes[written] = slot << 16 | np.int64(codes[row, slot])
            out_orders[written] = orders[row]
            out_counts[written] = count
            out_within[written] = spent <= budget
            written += 1
    return written


@compiled(
    "int64(const uint16[:, ::1], const int64[::1], const int32[:, ::1], int64, int64, int64, int64[::1], "
    "int64[::1], int64[::1])"
)
def choose_couples(codes, orders, counts, chosen, budget, most, best, out_keys, out_orders):
    """Write 32 bits of a hash of each couple of codes of each row; return how many.

    Those of the first ``chosen`` codes that are within the budget enter none, nor does one of a count above ``most``. ``best``
    has room for ``chosen`` codes of a row, and for those that make couples.
    """
    written = 0
    taken = len(best) - chosen
    for row in range(len(codes)):
        used = choose(codes[row], counts, max(most, budget), best)  # no other code matters
        begin = 0
        spent = 0
        while begin < min(used, chosen) and spent + (best[begin] >> 20) <= budget:
            spent += best[begin] >> 20
            begin += 1
        end = begin
        while end < min(used, begin + taken) and best[end] >> 20 <= most:
            end += 1
        for i in range(begin, end):
            for j in range(begin, end):
                first = best[i] & 0xFFFFF
                second = best[j] & 0xFFFFF
                if first < second:
                    couple = (first << 16 | np.int64(codes[row, first])) << 32 | second << 16 | np.int64(codes[row, second])
                    out_keys[written] = np.int64(fold_multiply(np.uint64(couple), K0) >> S32)
                    out_orders[written] = orders[row]
                    written += 1
    return written


@compiled("void(const uint16[:, ::1], const int32[:, ::1], int64, int64, int64[::1], boolean[:, :, ::1], boolean[:, ::1])")
def mark_own(codes, counts, budget, most, best, own, crowded):
    """Mark the codes of each row that are single or within its budget, and the bands that may be crowds.

    ``own`` is of shape (documents, bands, rows), ``crowded`` (documents, bands). A crowd has more than ``most`` members, and
    each code of its band at least as high a count.
    """
    bands, rows = own.shape[1:]
    for document in range(len(codes)):
        for band in range(bands):
            crowded[document, band] = True
            for row in range(rows):
                slot = band * rows + row
                count = counts[slot, codes[document, slot]]
                own[document, band, row] = count < 2
                if count <= most:
                    crowded[document, band] = False
        spent = 0
        for i in range(choose(codes[document], counts, budget, best)):
            spent += best[i] >> 20
            if spent <= budget:
                slot = best[i] & 0xFFFFF
                own[document, slot // rows, slot % rows] = True
