"""Hashes of texts equal their twin."""

from naive import hashing as naive

from lookalike.core import hash_texts
from lookalike.text.texts import from_bytes


def hashes(texts):
    where = from_bytes(texts)
    return hash_texts(where.data, where.offsets).tolist()


def test_hashes_of_texts_equal_twin_at_all_lengths():
    some = bytes((37 * i + 11) % 256 for i in range(70))
    texts = [*(some[:n] for n in range(70)), bytes(33), b"\xff" * 47]
    assert hashes(texts) == [naive.digest(text)[0] for text in texts]
    assert [hash for text in texts for hash in hashes([text])] == hashes(texts) and hashes([]) == []
