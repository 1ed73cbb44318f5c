"""Band keys and 16-bit codes of signatures, made in one pass over the slots."""

import numpy as np

from ._compile import compiled
from .hashing import K0, fmix64, fold_multiply

_S48 = np.uint64(48)


@compiled("void(const uint32[:, ::1], const uint64[::1], int64, int64, uint64[:, ::1], uint16[:, ::1])")
def keys_and_codes(slots, groups, bands, rows, keys, codes):
    """Write a 64-bit key of each band into ``keys``, and a 16-bit code of each slot of the bands into ``codes``.

    Documents of different ``groups`` (uint64) get different keys and codes. The keys are those of ``banding.band_keys``; the
    two products of a slot do not wait for each other, so that the codes cost little beside the keys.
    """
    for document in range(len(slots)):
        group = groups[document]
        for band in range(bands):
            salt = K0 + np.uint64(band)
            state = K0 ^ group
            for i in range(band * rows, (band + 1) * rows):
                slot = np.uint64(slots[document, i])
                state = fold_multiply(state ^ slot, salt)
                codes[document, i] = np.uint16(fold_multiply(slot ^ group, K0 + np.uint64(i)) >> _S48)
            keys[document, band] = fmix64(state)
