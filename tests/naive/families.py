import math
from itertools import count

from naive.hashing import EMPTY, GOLDEN, MASK, derive, fmix64


def multiply_shift(key, seed):
    a, b = derive(seed, "multiply-shift", 2)
    return ((a * (key & 0xFFFFFFFF) + b) & MASK) >> 32


def four_universal(key, seed):
    t = derive(seed, "four-universal", 1 << 18)
    x, y = key & 0xFFFF, (key >> 16) & 0xFFFF
    return t[x] ^ t[(1 << 16) + y] ^ t[(1 << 17) + x + y]


def mixed_tabulation(key, seed):
    t = derive(seed, "mixed tabulation", 3 * 2048)
    value = derived = 0
    for c in range(8):
        byte = (key >> (8 * c)) & 0xFF
        value ^= t[c * 256 + byte]
        derived ^= t[2048 + c * 256 + byte]
    for c in range(8):
        value ^= t[4096 + c * 256 + ((derived >> (8 * c)) & 0xFF)]
    return value


def permute(key, universe, round_keys):
    half = max(1, ((universe - 1).bit_length() + 1) // 2)
    mask = (1 << half) - 1
    while True:
        left, right = key >> half, key & mask
        for k in round_keys:
            left, right = right, left ^ (fmix64(right ^ k) & mask)
        key = left << half | right
        if key < universe:
            return key


def codes(slots, bits, remix):
    return [(fmix64(s ^ fmix64(j + 1)) if remix else s) % 2**bits for j, s in enumerate(slots)]


def mixture(slots, shares, remix):
    """``shares`` are (bits, slots), bits of 1 / m standing for XORs of m."""
    parts, mixed = [], codes(slots, 64, remix)
    for bits, n in shares:
        some, mixed, m = mixed[:n], mixed[n:], max(1, round(1 / bits))
        parts.append(
            [sum(value % 2 for value in some[at : at + m]) % 2 if m > 1 else some[at] % 2**bits for at in range(0, n, m)]
        )
    return parts


def one_permutation(values, bins, seed):
    """The upper half of a hash tells the bin, its lowest 31 bits the value."""
    out = [EMPTY] * bins
    for x in values:
        mixed = ((x ^ fmix64(seed)) * 0xD6E8FEB86659FD93) & MASK
        place = (mixed >> 32) * bins >> 32
        out[place] = min(out[place], mixed & 0x7FFFFFFF)
    return out


def cut_places(places, bins, universe):
    width = universe // bins
    return [min([p % width for p in places if p // width == b], default=2**64 - 1) for b in range(bins)]


def uniform(key, turn):
    return ((fmix64((key + turn * GOLDEN) & MASK) >> 11) + 0.5) / (1 << 53)


def darts(weighted, slots, seed):
    """DartMinHash: of all darts below the weights, up to ranks that reach each slot for sure, the first of each slot."""
    limit, thrown = 60 * slots / sum(weighted.values()), []
    for x, weight in weighted.items():
        key, strips = fmix64(x ^ seed), [(0.0, 2.0**-40), *((2.0**e, 2.0 ** (e + 4)) for e in range(-40, 0, 4))]
        strips += [(2.0**e, 2.0 ** (e + 1)) for e in range(64)]
        for strip, (low, high) in enumerate(strips, 1):
            if low >= weight:
                break
            strip_key, rank, turn = fmix64((key + strip * GOLDEN) & MASK), 0.0, 0
            while rank < limit:
                turn += 1
                dart = fmix64((strip_key + turn * GOLDEN) & MASK)
                rank -= math.log(uniform(dart, 1)) / (high - low)
                if low + uniform(dart, 2) * (high - low) < weight:
                    slot = (fmix64((dart + 3 * GOLDEN) & MASK) >> 32) * slots >> 32
                    thrown.append((slot, rank, dart))
    return [min((rank, dart) for slot, rank, dart in thrown if slot == j)[1] for j in range(slots)]


def rotate(slots):
    out = list(slots)
    for j in range(len(slots)):
        ahead = slots[j:] + slots[:j]
        d = next((d for d, value in enumerate(ahead) if value != EMPTY), 0)
        if d:
            out[j] = fmix64(ahead[d] | (d << 32)) >> 32
    return out


def try_bins(j, attempt, bins, seed):
    return (fmix64((seed + (attempt << 32) + j * GOLDEN) & MASK) >> 32) * bins >> 32


def fill_optimally(bins, seed):
    if {*bins} == {EMPTY}:
        return list(bins)

    def drawn(j):
        found = (bins[try_bins(j, attempt, len(bins), seed)] for attempt in count(1))
        return next(value for value in found if value != EMPTY)

    return [drawn(j) if value == EMPTY else value for j, value in enumerate(bins)]


def fill_in_reverse(bins, seed):
    out, attempt = list(bins), 0
    while EMPTY in out and {*bins} != {EMPTY}:
        attempt += 1
        for j, value in enumerate(bins):
            target = try_bins(j, attempt, len(bins), seed)
            if value != EMPTY and out[target] == EMPTY:
                out[target] = value
    return out
