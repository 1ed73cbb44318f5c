"""SimHash: each bit of a fingerprint is the sign of a sum of weights, plus or minus by the bits of the features' hashes."""

import numpy as np

from ._compile import compiled
from .hashing import fmix64

_ONE = np.uint64(1)
_ZERO = np.uint64(0)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@compiled
def sign_rows(values, weights, offsets, bits, salt, ties, sums, margins, out):
    """Write a fingerprint of ``bits`` bits of each row into ``out`` (rows, words), uint64.

    ``weights`` (float64) has one entry a value, or none for equal weights. A sum of zero takes its bit from ``ties``
    (words). ``sums`` (float64, 64 entries a word) is scratch; ``margins`` (rows, bits), float32, receives the sums unless
    it has no row.
    """
    words = out.shape[1]
    for row in range(len(offsets) - 1):
        sums[:] = 0.0
        for i in range(offsets[row], offsets[row + 1]):
            weight = weights[i] if len(weights) > 0 else 1.0
            for word in range(words):
                mixed = fmix64(values[i] ^ fmix64(salt + np.uint64(word) * _GOLDEN))
                base = word * 64
                for j in range(64):
                    sums[base + j] += weight if (mixed >> np.uint64(j)) & _ONE != _ZERO else -weight
        for word in range(words):
            value = _ZERO
            for j in range(min(64, bits - word * 64)):
                total = sums[word * 64 + j]
                bit = _ONE if total > 0.0 else _ZERO if total < 0.0 else (ties[word] >> np.uint64(j)) & _ONE
                value |= bit << np.uint64(j)
                if len(margins) > 0:
                    margins[row, word * 64 + j] = total
            out[row, word] = value
