from naive.hashing import EMPTY, GOLDEN, K0, MASK, derive, fmix64, fold_multiply


def fast_similarity(values, k, seed):
    slots = [EMPTY] * k
    if not values:
        return slots
    share = (1 << 31) // (2 * k)
    for turn in range(2 * k):
        for x in values:
            if turn == 0:
                h = ((x ^ fmix64(seed)) * 0xD6E8FEB86659FD93) & MASK
                key = h & 0x7FFFFFFF
            else:
                h = fmix64(x ^ fmix64((seed + turn * GOLDEN) & MASK))
                key = (1 << 31) + (turn - 1) * share + (((h & 0xFFFFFFFF) * share) >> 32)
            slot = ((h >> 32) * k) >> 32 if turn < k else turn - k
            slots[slot] = min(slots[slot], key)
        if EMPTY not in slots:
            return slots
    raise AssertionError("a slot stayed empty")


def minhash(values, k, seed):
    a, b = derive(seed, "multipliers", k), derive(seed, "increments", k)
    return [min([(((a[j] | 1) * (x >> 32) + b[j]) & MASK) >> 32 for x in values], default=EMPTY) for j in range(k)]


def band_keys(slots, group, bands, rows):
    out = []
    for band in range(bands):
        state = K0 ^ group
        for slot in slots[band * rows : (band + 1) * rows]:
            state = fold_multiply(state ^ slot, K0 + band)
        out.append(fmix64(state))
    return out
