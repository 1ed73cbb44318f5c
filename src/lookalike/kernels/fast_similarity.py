"""Fast similarity sketching (Dahlgaard, Knudsen, Thorup, FOCS 2017): k slots in about max(n, k ln k) hashes.

In round r < k each element goes to one random slot, in round r >= k all go to slot r - k, until none is empty; a slot keeps the
smallest (round, value). Round 0 is one permutation hashing. A slot is a 32-bit number that orders as (round, value): round 0
has the lower half of the range, so that long texts keep 31 bits; the later rounds, which only short texts reach, share the
upper half evenly.
"""

import numpy as np

from .compiler import compiled
from .constants import EMPTY, GOLDEN, LOW31, LOW32, ODD, S32, ZERO
from .hashing import fmix64, is_new

_HALF = np.uint64(0x80000000)
_HIGH32 = np.uint64(0xFFFFFFFF00000000)


@compiled("void(const uint64[::1], int64, int64, uint32[::1], uint64, int64, uint64[::1])")
def fill_empty_slots(values, begin, end, slots, seed, missing, placed):
    """Run the rounds after round 0 on one row's slots until none of the ``missing`` is left; ``placed`` is scratch."""
    k = len(slots)
    slot_count = np.uint64(k)
    share = _HALF // np.uint64(2 * k)
    for turn in range(1, 2 * k):
        if missing == 0:
            return
        salt = fmix64(seed + np.uint64(turn) * GOLDEN)
        base = _HALF + np.uint64(turn - 1) * share
        if turn < k:
            for first in range(begin, end, len(placed)):
                some = values[first : min(end, first + len(placed))]
                for i in range(len(some)):
                    mixed = fmix64(some[i] ^ salt)
                    key = base + ((mixed & LOW32) * share >> S32)
                    placed[i] = ((mixed >> S32) * slot_count & _HIGH32) | key
                for i in range(len(some)):
                    slot = placed[i] >> S32
                    old = slots[slot]
                    missing -= old == EMPTY
                    slots[slot] = min(old, np.uint32(placed[i]))
        elif slots[turn - k] == EMPTY:
            smallest = EMPTY
            for i in range(begin, end):
                mixed = fmix64(values[i] ^ salt)
                smallest = min(smallest, np.uint32(base + ((mixed & LOW32) * share >> S32)))
            slots[turn - k] = smallest
            missing -= 1


@compiled("int64(const uint64[::1], int64, int64, uint64, uint64[::1], uint64[::1])")
def gather_distinct(values, begin, end, spread, table, out):
    """Write the distinct values of ``[begin, end)`` into ``out``; return their number, or -1 if they do not fit. ``table``
    (uint64, a power of two long, at least twice ``out``) is overwritten. ``spread``: see ``is_new``."""
    table[:] = ZERO
    count = 0
    for i in range(begin, end):
        if is_new(table, values[i], spread):
            if count == len(out):
                return -1
            out[count] = values[i]
            count += 1
    return count


@compiled(
    "void(const uint64[::1], const int64[::1], int64, int64, uint64, uint64, uint64[::1], uint64[::1], uint64[::1], "
    "uint32[:, ::1])"
)
def sign_rows(values, offsets, start, stop, seed, spread, table, distinct, placed, out):
    """Write the slots of rows ``[start, stop)`` of well-mixed 64-bit ``values``, with or without repeats, into ``out``; an
    empty row keeps ``EMPTY``. A long row that leaves slots empty must repeat itself: later rounds run over its distinct values,
    for which ``table`` and ``distinct`` are scratch (see ``gather_distinct``), as is ``placed`` (of any length): slots and keys
    of a block of hashes. No slot depends on ``spread`` (see ``is_new``)."""
    slot_count = np.uint64(out.shape[1])
    salt = fmix64(seed)
    for row in range(start, stop):
        slots = out[row - start]
        slots[:] = EMPTY
        begin = offsets[row]
        end = offsets[row + 1]
        for first in range(begin, end, len(placed)):
            some = values[first : min(end, first + len(placed))]
            for i in range(len(some)):  # apart, so that it is done for several at a time
                mixed = (some[i] ^ salt) * ODD
                placed[i] = ((mixed >> S32) * slot_count & _HIGH32) | (mixed & LOW31)
            for i in range(len(some)):  # without a branch: which value is smaller is unpredictable
                slot = placed[i] >> S32
                slots[slot] = min(slots[slot], np.uint32(placed[i]))
        if end > begin:
            missing = 0
            for slot in range(len(slots)):
                missing += slots[slot] == EMPTY
            if missing > 0:
                count = -1
                if end - begin > 4 * len(slots):
                    count = gather_distinct(values, begin, end, spread, table, distinct)
                if count >= 0:
                    fill_empty_slots(distinct, 0, count, slots, seed, missing, placed)
                else:
                    fill_empty_slots(values, begin, end, slots, seed, missing, placed)
