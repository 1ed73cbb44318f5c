"""Minwise hashing: k hash functions, fast similarity sketching, the bins of one hash function, true and linear permutations.

Fast similarity sketching (Dahlgaard, Knudsen, Thorup, FOCS 2017) makes k slots of about max(n, k ln k) hashes. In round r < k
each element goes to one random slot, in round r >= k all go to slot r - k, until none is empty; a slot keeps the smallest
(round, value). Round 0 is one permutation hashing. A slot is a 32-bit number that orders as (round, value): round 0 has the
lower half of the range, so that long texts keep 31 bits; the later rounds, which only short texts reach, share the upper half
evenly.
"""

import numpy as np

from .compiler import compiled
from .constants import EMPTY, FULL, GOLDEN, LOW31, LOW32, ODD, ONE, S32, WIDE_EMPTY, ZERO
from .hashing import fmix64, is_new

_HALF = np.uint64(0x80000000)
_AT_ONCE, _FEWEST = 128, 8  # hashes of a short row that are computed together, and the rounds that these must make
_HIGH32 = np.uint64(0xFFFFFFFF00000000)


@compiled("void(const uint64[::1], const int64[::1], int64, int64, const uint64[::1], const uint64[::1], uint32[:, ::1])")
def sign_independently(values, offsets, start, stop, multipliers, increments, out):
    """Write the k minima of rows ``[start, stop)`` into ``out`` of shape (rows, k), uint32; an empty row keeps ``EMPTY``.

    Function j is the multiply-shift hash ``(multipliers[j] * x + increments[j]) >> 32`` of the upper 32 bits x of a well-mixed
    value.
    """
    k = out.shape[1]
    for row in range(start, stop):
        slots = out[row - start]
        slots[:] = EMPTY
        for i in range(offsets[row], offsets[row + 1]):
            key = values[i] >> S32
            for j in range(k):
                slots[j] = min(slots[j], np.uint32((multipliers[j] * key + increments[j]) >> S32))


@compiled("void(const uint64[::1], int64, int64, uint32[::1], uint64, const uint64[::1], int64, uint64[::1])")
def fill_empty_slots(values, begin, end, slots, seed, salts, missing, placed):
    """Run the rounds after round 0 on one row's slots until none of the ``missing`` is left. ``salts`` are those of the rounds
    before k; ``placed`` is scratch.

    A round changes no slot that an earlier one filled, so a row of few values runs many at a time: the hashes of one value in
    all of them are computed side by side.
    """
    k = len(slots)
    slot_count = np.uint64(k)
    share = _HALF // np.uint64(2 * k)
    done = 1
    most = min(_AT_ONCE, len(placed)) // (end - begin)
    if most >= _FEWEST:
        while missing > 0 and done < k:
            rounds = min(most, k - done)
            count = 0
            for i in range(begin, end):
                value, some, there = values[i], salts[done : done + rounds], placed[count : count + rounds]
                for each in range(len(there)):
                    mixed = fmix64(value ^ some[each])
                    key = _HALF + np.uint64(done + each - 1) * share + ((mixed & LOW32) * share >> S32)
                    there[each] = ((mixed >> S32) * slot_count & _HIGH32) | key
                count += rounds
            for i in range(count):
                slot = placed[i] >> S32
                old = slots[slot]
                missing -= old == EMPTY
                slots[slot] = min(old, np.uint32(placed[i]))
            done += rounds
    for turn in range(done, 2 * k):
        if missing == 0:
            return
        base = _HALF + np.uint64(turn - 1) * share
        if turn < k:
            salt = salts[turn]
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
            salt = fmix64(seed + np.uint64(turn) * GOLDEN)
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
    "uint64[::1], uint32[:, ::1])"
)
def sign_by_rounds(values, offsets, start, stop, seed, spread, table, distinct, placed, salts, out):
    """Write the slots of rows ``[start, stop)`` of well-mixed 64-bit ``values``, with or without repeats, into ``out``; an
    empty row keeps ``EMPTY``. A long row that leaves slots empty must repeat itself: later rounds run over its distinct values,
    for which ``table`` and ``distinct`` are scratch (see ``gather_distinct``), as is ``placed`` (of any length): slots and keys
    of a block of hashes, and ``salts`` of k. No slot depends on ``spread`` (see ``is_new``)."""
    slot_count = np.uint64(out.shape[1])
    for turn in range(len(salts)):
        salts[turn] = fmix64(seed + np.uint64(turn) * GOLDEN)
    salt = salts[0]
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
                    fill_empty_slots(distinct, 0, count, slots, seed, salts, missing, placed)
                else:
                    fill_empty_slots(values, begin, end, slots, seed, salts, missing, placed)


@compiled("void(const uint64[::1], const int64[::1], uint64, uint32[:, ::1])")
def sign_bins(values, offsets, seed, out):
    """Write the least value of each bin of each row into ``out`` (rows, bins), uint32; bins without one keep ``EMPTY``."""
    bins = np.uint64(out.shape[1])
    salt = fmix64(seed)
    for row in range(len(offsets) - 1):
        slots = out[row]
        slots[:] = EMPTY
        for i in range(offsets[row], offsets[row + 1]):
            mixed = (values[i] ^ salt) * ODD
            slot = np.int64((mixed >> S32) * bins >> S32)
            slots[slot] = min(slots[slot], np.uint32(mixed & LOW31))


@compiled("void(const uint64[::1], const int64[::1], uint64, uint64[:, ::1])")
def cut_places(places, offsets, width, out):
    """Write the least place within each bin of ``width`` places of each row into ``out`` (rows, bins), uint64. Bins without one
    keep ``WIDE_EMPTY``."""
    for row in range(len(offsets) - 1):
        slots = out[row]
        slots[:] = WIDE_EMPTY
        for i in range(offsets[row], offsets[row + 1]):
            slot = np.int64(places[i] // width)
            slots[slot] = min(slots[slot], places[i] % width)


@compiled("void(const uint64[::1], uint64, uint64, const uint64[::1], uint64[::1])")
def permute(keys, universe, half_bits, round_keys, out):
    """A keyed permutation of [0, universe), without a table: a Feistel network, walked until it lands inside. The network
    permutes [0, 4^half_bits), at most four times the universe (``universe`` 0 stands for 2^64)."""
    mask = (ONE << half_bits) - ONE
    for i in range(len(keys)):
        value = keys[i]
        while True:
            left = value >> half_bits
            right = value & mask
            for r in range(len(round_keys)):
                left, right = right, left ^ (fmix64(right ^ round_keys[r]) & mask)
            value = (left << half_bits) | right
            if universe == 0 or value < universe:
                break
        out[i] = value


@compiled("void(const uint64[::1], const int64[::1], uint64, uint64, const uint64[:, ::1], uint64[:, ::1])")
def sign_with_permutations(values, offsets, universe, half_bits, round_keys, out):
    """Write the least image of each row under each of k keyed permutations into ``out`` (rows, k), uint64. ``round_keys`` of
    shape (k, rounds); an empty row keeps 2^64 - 1."""
    mask = (ONE << half_bits) - ONE
    for row in range(len(offsets) - 1):
        for j in range(out.shape[1]):
            least = FULL
            for i in range(offsets[row], offsets[row + 1]):
                value = values[i]
                while True:
                    left = value >> half_bits
                    right = value & mask
                    for r in range(round_keys.shape[1]):
                        left, right = right, left ^ (fmix64(right ^ round_keys[j, r]) & mask)
                    value = (left << half_bits) | right
                    if universe == 0 or value < universe:
                        break
                least = min(least, value)
            out[row, j] = least
