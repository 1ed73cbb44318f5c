"""The mixers and the digest equal their twins."""

import numpy as np
import pytest
from conftest import MODE
from naive import hashing as naive

from lookalike.kernels import hashing

EDGES = [0, 1, 2, 63, 64, 65, (1 << 31) - 1, 1 << 32, (1 << 63) - 1, 1 << 63, (1 << 64) - 2, (1 << 64) - 1]


@pytest.mark.parametrize("x", EDGES)
def test_fmix64_equals_big_integers(x):
    assert int(hashing.fmix64(np.uint64(x))) == naive.fmix64(x)


@pytest.mark.parametrize("a", EDGES)
@pytest.mark.parametrize("b", [0, 1, naive.K1, (1 << 64) - 1])
def test_fold_multiply_equals_big_integers(a, b):
    assert int(hashing.fold_multiply(np.uint64(a), np.uint64(b))) == naive.fold_multiply(a, b)


def test_digest_equals_twin_at_all_lengths():
    data = np.frombuffer(bytes((37 * i + 11) % 256 for i in range(70 * 35)), np.uint8)
    offsets = np.cumsum([0, *range(70)]).astype(np.int64)
    out = np.empty((70, 2), np.uint64)
    hashing.digest_rows(data, offsets, 0, 70, out)
    for row in range(70):
        assert tuple(map(int, out[row])) == naive.digest(data[offsets[row] : offsets[row + 1]].tobytes())


def test_digests_of_nearly_equal_texts_differ():
    texts = [b"", b"\0", b"\0\0", b"a" * 16, b"a" * 17, b"a" * 16 + b"\0", b"b" * 16, b"ab" * 8, b"ba" * 8]
    offsets = np.cumsum([0, *map(len, texts)]).astype(np.int64)
    out = np.empty((len(texts), 2), np.uint64)
    hashing.digest_rows(np.frombuffer(b"".join(texts), np.uint8), offsets, 0, len(texts), out)
    assert len(np.unique(out[:, 0])) == len(np.unique(out[:, 1])) == len(texts)


def test_mix_keys_is_one_to_one():
    keys = np.arange(5000, dtype=np.uint64)
    out = np.empty_like(keys)
    hashing.mix_keys(keys, out)
    assert len(np.unique(out)) == 5000
    assert int(out[7]) == naive.fmix64(7 + naive.K0)


@pytest.mark.skipif(MODE == "library", reason="the library has kernels only, which hold these")
def test_instructions_have_the_meaning_of_their_twins():
    from numba import njit

    from lookalike.kernels.compiler import load64, multiply_high, popcount, trailing_zeros

    @njit
    def run(data, a, b):
        return multiply_high(a, b), load64(data, 1), popcount(a), trailing_zeros(b), trailing_zeros(np.uint64(0))

    data = np.arange(1, 20, dtype=np.uint8)
    high, word, count, zeros, none = run(data, np.uint64((1 << 64) - 3), np.uint64(40))
    assert int(high) == ((1 << 64) - 3) * 40 >> 64
    assert int(word) == int.from_bytes(bytes(range(2, 10)), "little")
    assert (count, zeros, none) == (63, 3, 64)
