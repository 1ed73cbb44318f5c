"""Keyed digests of documents: of a text's bytes and of what the document is compared within."""

import numpy as np

from ._compile import compiled
from .hashing import K0, K1, K2, K3, digest_bytes, fmix64


@compiled("void(const uint8[::1], const int64[::1], const uint64[:, ::1], const uint64[::1], uint64[:, ::1])")
def digest_documents(data, offsets, withins, key, out):
    """Write a 128-bit digest of each document into ``out`` of shape (documents, 2).

    ``withins`` (of shape (documents, 2), or no rows: all zeros) starts the two hashes; ``key`` (two words) enters each of their
    steps. Where both are zeros, the digest is that of ``hashing.digest_rows``.
    """
    k1 = K1 ^ key[0]
    k2 = K2 ^ key[1]
    for row in range(len(out)):
        length = np.uint64(offsets[row + 1] - offsets[row])
        a = K0 ^ length
        b = K3 ^ length
        if len(withins) > 0:
            a ^= withins[row, 0]
            b ^= withins[row, 1]
        a, b = digest_bytes(data, offsets[row], offsets[row + 1], a, b, k1, k2)
        out[row, 0] = fmix64(a ^ k2)
        out[row, 1] = fmix64(b ^ k1)
