"""Codes and keyed digests equal twins written from their formulas."""

import numpy as np
import pytest
from conftest import JIT_OFF
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import hashing as naive
from naive.sketches import band_keys

from semblance.kernels.codes import keys_and_codes
from semblance.kernels.digests import digest_documents

EDGES = [0, 1, 63, 64, 65, (1 << 31) - 1, 1 << 31, (1 << 32) - 1]
words = st.integers(0, (1 << 64) - 1)


def made(slots, groups, bands, rows):
    """Keys and codes of some signatures."""
    keys, codes = np.empty((len(slots), bands), np.uint64), np.empty((len(slots), bands * rows), np.uint16)
    keys_and_codes(np.array(slots, np.uint32), np.array(groups, np.uint64), bands, rows, keys, codes)
    return keys, codes


def code(slot, group, i):
    """The upper 16 bits of the folded product of the slot, its group and its place."""
    return naive.fold_multiply(slot ^ group, naive.K0 + i) >> 48


@settings(max_examples=20 if JIT_OFF else 100)
@given(st.data(), st.integers(1, 5), st.integers(1, 4), st.integers(0, 3))
def test_keys_and_codes_equal_their_twins(data, bands, rows, beyond):
    slot = st.sampled_from(EDGES) | st.integers(0, (1 << 32) - 1)
    width = bands * rows + beyond
    documents = data.draw(st.lists(st.tuples(words, st.lists(slot, min_size=width, max_size=width)), min_size=1, max_size=5))
    groups, slots = zip(*documents, strict=True)
    keys, codes = made(slots, groups, bands, rows)
    for row, (group, some) in enumerate(documents):
        assert keys[row].tolist() == band_keys(some, group, bands, rows)
        assert codes[row].tolist() == [code(s, group, i) for i, s in enumerate(some[: bands * rows])]


def test_codes_of_other_groups_and_slots_agree_by_chance_only(rng):
    """Unequal ones agree with probability 2^-16: of 40,000 pairs less than one, at most 4 (5 standard errors)."""
    n = 20 if JIT_OFF else 400
    slots = rng.integers(0, 1 << 32, (2, n, 100), dtype=np.uint32)
    _, ours = made(slots[0], np.zeros(n), 50, 2)
    _, others = made(slots[0], rng.integers(0, 1 << 63, n), 50, 2)
    assert (ours == others).sum() <= 4
    _, others = made(slots[1], np.zeros(n), 50, 2)
    assert (ours == others).sum() <= 4
    _, others = made(slots[0] ^ np.uint32(1), np.zeros(n), 50, 2)
    assert (ours == others).sum() <= 4


@pytest.mark.parametrize("n", [0, 1])
def test_no_or_one_document(n):
    keys, codes = made(np.zeros((n, 6)), np.zeros(n), 3, 2)
    assert keys.shape == (n, 3) and codes.shape == (n, 6)


def digest(data, within, key):
    """The digest, written from its description: blocks of 16 bytes, then words of 8, two hashes side by side."""
    k1, k2 = naive.K1 ^ key[0], naive.K2 ^ key[1]
    a, b = naive.K0 ^ len(data) ^ within[0], naive.K3 ^ len(data) ^ within[1]
    whole = len(data) // 16 * 16
    blocks = [(data[i : i + 8], data[i + 8 : i + 16]) for i in range(0, whole, 16)]
    for left, right in [(int.from_bytes(x, "little"), int.from_bytes(y, "little")) for x, y in blocks]:
        a, b = naive.fold_multiply(a ^ left, right ^ k1), (naive.fold_multiply(b ^ right, left ^ k2) + left) & naive.MASK
    for word in [int.from_bytes(data[i : i + 8], "little") for i in range(whole, len(data), 8)]:
        a, b = naive.fold_multiply(a ^ word, k1), (naive.fold_multiply(b ^ word, k2) + word) & naive.MASK
    return naive.fmix64(a ^ k2), naive.fmix64(b ^ k1)


def digests(texts, withins, key):
    """The compiled ones."""
    out = np.empty((len(texts), 2), np.uint64)
    offsets = np.cumsum([0, *map(len, texts)]).astype(np.int64)
    data = np.frombuffer(b"".join(texts) or b"-", np.uint8)
    digest_documents(data, offsets, np.array(withins, np.uint64).reshape(-1, 2), np.array(key, np.uint64), out)
    return [tuple(row) for row in out.tolist()]


@settings(max_examples=20 if JIT_OFF else 100)
@given(st.lists(st.tuples(st.binary(max_size=70), words, words), min_size=1, max_size=6), st.tuples(words, words))
def test_keyed_digests_equal_their_twin(documents, key):
    texts, withins = [d[0] for d in documents], [d[1:] for d in documents]
    assert digests(texts, withins, key) == [digest(*each, key) for each in zip(texts, withins, strict=True)]
    assert digests(texts, [], key) == [digest(text, (0, 0), key) for text in texts]


def test_without_key_and_within_a_digest_is_that_of_the_text():
    texts = [bytes(range(7, 7 + n)) for n in range(70)]
    assert digests(texts, [], (0, 0)) == [naive.digest(text) for text in texts]


def test_text_within_and_each_word_of_the_key_enter_the_digest():
    text = b"x" * 100
    variants = [((0, 0), (0, 0)), ((1, 0), (0, 0)), ((0, 1), (0, 0)), ((0, 0), (1, 0)), ((0, 0), (0, 1))]
    found = [digests([some], [within], key)[0] for some in (text, text[1:], b"x") for within, key in variants]
    assert len(set(found)) == 15
    assert len(set(digests([b""] * 3, [(0, 0), (1, 0), (0, 1)], (5, 7)))) == 3


def test_a_block_that_wipes_out_the_state_does_so_without_a_key_only():
    """A product with zero forgets what came before; whoever does not know the key cannot write the block that makes it."""
    block = naive.K2.to_bytes(8, "little") + naive.K1.to_bytes(8, "little")
    texts = [b"a" * 16 + block, b"b" * 16 + block]
    assert len(set(digests(texts, [], (0, 0)))) == 1
    assert len(set(digests(texts, [], (5, 7)))) == 2
