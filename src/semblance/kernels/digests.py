"""Keyed digests of documents: of a text's bytes and of what the document is compared within."""

import numpy as np

from ._compile import compiled, load64
from .hashing import K0, K1, K2, K3, fmix64, fold_multiply

_EIGHT = np.uint64(8)


@compiled
def digest_documents(data, offsets, withins, key, out):
    """Write a 128-bit digest of each document into ``out`` of shape (documents, 2).

    ``withins`` (uint64 of shape (documents, 2), or no rows: all zeros) starts the two hashes; ``key`` (two words of uint64)
    enters each of their steps. Where both are zeros, the digest is that of ``hashing.digest_rows``.
    """
    k1 = K1 ^ key[0]
    k2 = K2 ^ key[1]
    for row in range(len(out)):
        position = offsets[row]
        end = offsets[row + 1]
        a = K0 ^ np.uint64(end - position)
        b = K3 ^ np.uint64(end - position)
        if len(withins) > 0:
            a ^= withins[row, 0]
            b ^= withins[row, 1]
        while position + 16 <= end:
            left = load64(data, position)
            right = load64(data, position + 8)
            a = fold_multiply(a ^ left, right ^ k1)
            b = fold_multiply(b ^ right, left ^ k2) + left
            position += 16
        while position < end:
            word = np.uint64(0)
            for i in range(min(8, end - position)):
                word |= np.uint64(data[position + i]) << (_EIGHT * np.uint64(i))
            a = fold_multiply(a ^ word, k1)
            b = fold_multiply(b ^ word, k2) + word
            position += 8
        out[row, 0] = fmix64(a ^ k2)
        out[row, 1] = fmix64(b ^ k1)
