"""Sketches of weighted sets."""

import math

import numpy as np

from .compiler import compiled
from .constants import FULL, GOLDEN, S32
from .hashing import fmix64

_S11 = np.uint64(11)
_UNIT = 2.0**-53
LEAST_WEIGHT = 2.0**-40
MOST_WEIGHT = 2.0**500  # so that no sum, and no strip of weights, is infinite


@compiled("float64(uint64, int64)")
def uniform(key, turn):
    """A number in (0, 1) for a key and a turn."""
    return min((np.float64(fmix64(key + np.uint64(turn) * GOLDEN) >> _S11) + 0.5) * _UNIT, 1.0 - _UNIT)


@compiled("void(const uint64[::1], const float64[::1], const int64[::1], uint64, float64[::1], uint64[:, ::1])")
def sign_darts(values, weights, offsets, seed, ranks, out):
    """DartMinHash: a slot is the first dart to hit it below the weights. Darts of an element are a Poisson process over weight
    and rank, in strips of weight [0, 2^-40), [2^-40, 2^-36), ... [2^-4, 1), [1, 2), [2, 4) and so on, by rank in each. Those of
    ranks below a limit are thrown, which doubles until all slots are hit. ``ranks`` is scratch of one float64 a slot."""
    k = out.shape[1]
    for row in range(len(offsets) - 1):
        out[row, :] = FULL
        total = 0.0
        for i in range(offsets[row], offsets[row + 1]):
            total += weights[i]
        limit = (math.log(k) + 2.0) * k / total if total > 0.0 else 0.0
        hit = k if total == 0.0 else 0
        while hit < k:
            ranks[:] = np.inf
            hit = 0
            for i in range(offsets[row], offsets[row + 1]):
                key = fmix64(values[i] ^ seed)
                low = 0.0
                high = LEAST_WEIGHT
                strip = 0
                while low < weights[i]:
                    strip += 1
                    strip_key = fmix64(key + np.uint64(strip) * GOLDEN)
                    rank = 0.0
                    turn = 0
                    while True:
                        turn += 1
                        dart = fmix64(strip_key + np.uint64(turn) * GOLDEN)
                        rank -= math.log(uniform(dart, 1)) / (high - low)
                        if rank >= limit:
                            break
                        if low + uniform(dart, 2) * (high - low) < weights[i]:
                            slot = np.int64((fmix64(dart + np.uint64(3) * GOLDEN) >> S32) * np.uint64(k) >> S32)
                            if ranks[slot] == np.inf:
                                hit += 1
                            if rank < ranks[slot]:
                                ranks[slot] = rank
                                out[row, slot] = dart
                    low = high
                    high *= 16.0 if high < 1.0 else 2.0
            limit *= 2.0
