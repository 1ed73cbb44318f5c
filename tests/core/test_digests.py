from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from naive.hashing import PRIME, keyed_digest

from lookalike.core import digest_documents
from lookalike.hashing import BLOCK_WORDS, POINTS, digest_secret

KEYS = [bytes([i]) * 16 for i in range(3)]
EXTREMES = [0, 1, (1 << 56) - 1, PRIME - 1]


def where(texts, beyond=b""):
    return np.frombuffer(b"".join(texts) + beyond, np.uint8), np.cumsum([0, *map(len, texts)]).astype(np.int64)


def digests(texts, secret, *withins, beyond=b""):
    found = digest_documents(*where(texts, beyond), np.array(secret, np.uint64), *withins)
    return [tuple(row) for row in found.tolist()]


texts_of = st.lists(st.binary(max_size=40) | st.binary(min_size=230, max_size=300) | st.binary(min_size=500, max_size=530))
below = st.integers(0, PRIME - 1)


@settings(max_examples=150)
@given(texts_of, st.sampled_from(KEYS), st.binary(max_size=20), st.tuples(below, below))
def test_digests_equal_their_twin(texts, key, beyond, within):
    secret = digest_secret(key, "tests")
    assert digests(texts, secret, beyond=beyond) == [keyed_digest(text, secret.tolist()) for text in texts]
    more = np.array([within] * len(texts), np.uint64).reshape(-1, 2)
    assert digests(texts, secret, more, beyond=beyond) == [keyed_digest(text, secret.tolist(), within) for text in texts]
    assert digests(texts, secret, more[:0]) == digests(texts, secret)


def test_the_largest_numbers_do_not_overflow():
    """There sums of products are largest."""
    for byte, point in product([0, 255], EXTREMES):
        powers = [pow(point, i, PRIME) for i in (1, 2, 3)]
        for word in (0, (1 << 64) - 1):
            secret = [*powers, *powers, *[word] * BLOCK_WORDS]
            texts = [bytes([byte]) * n for n in (15, 16, 255, 256, 257, 800)]
            assert digests(texts, secret) == [keyed_digest(text, secret) for text in texts]
            with_within = [keyed_digest(text, secret, (PRIME - 1, 0)) for text in texts]
            assert digests(texts, secret, np.array([(PRIME - 1, 0)] * len(texts), np.uint64)) == with_within


def test_secrets_of_other_keys_and_purposes_have_nothing_in_common():
    made = [digest_secret(key, purpose) for key in KEYS for purpose in ("tokens", "documents")]
    for i, one in enumerate(made):
        powers = one[:POINTS].tolist()
        assert powers == [pow(powers[j], n, PRIME) for j in (0, 3) for n in (1, 2, 3)]
        assert all(not np.isin(one, other).any() for other in made[:i])
    assert (digest_secret(KEYS[0], "tokens") == made[0]).all()
