"""Hashes of integers and texts equal their twins."""

import numpy as np
from naive import hashing as naive

from lookalike.core import hash_texts, mix_keys
from lookalike.text.texts import from_bytes

EDGES = [0, 1, 2, 63, 64, 65, (1 << 31) - 1, 1 << 32, (1 << 63) - 1, 1 << 63, (1 << 64) - 2, (1 << 64) - 1]


def hashes(texts):
    where = from_bytes(texts)
    return hash_texts(where.data, where.offsets).tolist()


def test_hashes_of_texts_equal_twin_at_all_lengths():
    some = bytes((37 * i + 11) % 256 for i in range(70))
    texts = [*(some[:n] for n in range(70)), bytes(33), b"\xff" * 47]
    assert hashes(texts) == [naive.digest(text)[0] for text in texts]
    assert [hash for text in texts for hash in hashes([text])] == hashes(texts) and hashes([]) == []


def test_keys_are_mixed_one_to_one():
    keys = np.array([*EDGES, *range(3, 5000)], np.uint64)
    mixed = mix_keys(keys).tolist()
    assert mixed == [naive.fmix64((key + naive.K0) & naive.MASK) for key in keys.tolist()]
    assert len(set(mixed)) == len(set(keys.tolist()))
