"""Hashes under a key equal their twin; sets under different keys have nothing in common, and cannot be compared."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import hashing as naive_hashing
from naive import keyed as naive

import lookalike as la
from lookalike.core import hash_keys
from lookalike.errors import EncodingError, IncompatibleSketchError, InputDataError, ParameterError
from lookalike.sketches import DocumentFrequencies, FastSimilarity, load, save
from lookalike.text.hashes import KeyedHashes, shingle_secret
from lookalike.text.shingle import Shingling
from lookalike.text.texts import from_strings

KEY, OTHER = bytes(range(16)), bytes(range(64))
TEXTS = ["", " ", "one", "One two THREE four five six", "x" * 15, "x" * 16, "y" * 700 + " b", "naïve café Straße", "天地玄黃 ab",
         "line one\nline two\n\n  line   three  ", "a b " * 30, "\x00 \x00\x00"]  # fmt: skip
# In the fixed family both have one hash; found by a search, as anybody can.
FORGED = "ca2036 he8et6 bi6jxy jo12n8 friend", "Vote for the mayor"


def found(shingling, key, texts):
    values, offsets = KeyedHashes(shingling, key).hashes(from_strings(texts))
    return [values[begin:end].tolist() for begin, end in pairwise(offsets)]


@pytest.mark.parametrize("unit", ["word", "char", "byte", "line"])
@pytest.mark.parametrize(("width", "key"), [(1, KEY), (2, OTHER), (5, KEY), (40, OTHER)])
def test_hashes_equal_twin(unit, width, key):
    for fold_case in (True, False):
        shingling = Shingling(unit=unit, width=width, normalization="none", fold_case=fold_case)
        assert found(shingling, key, TEXTS) == [naive.hashes(text, unit, width, key, fold_case) for text in TEXTS]


WORDS = st.one_of(st.integers(0, (1 << 128) - 1), st.sampled_from([0, 1, (1 << 56) - 1, (1 << 112) - 1, (1 << 128) - 1]))


@settings(max_examples=200)
@given(st.lists(st.lists(WORDS, max_size=30), max_size=4), st.integers(1, 20), st.binary(min_size=16, max_size=16))
def test_any_words_equal_twin(rows, width, key):
    """The kernel, over tokens of any two words."""
    flat = [word for row in rows for word in row]
    keys = np.array([[word & naive_hashing.MASK, word >> 64] for word in flat], np.uint64).reshape(-1, 2)
    offsets = np.cumsum([0, *map(len, rows)])
    out = np.empty(len(flat), np.uint64)
    bounds = hash_keys(keys, offsets, width, shingle_secret(key), out)
    point, word = naive.secret_words(key, "shingles", 2)
    expected = [naive.shingles(row, width, point % naive.P, word) for row in rows]
    assert [out[a:b].tolist() for a, b in pairwise(bounds)] == expected


@pytest.mark.parametrize("point", [0, 1, naive.P - 1])
@pytest.mark.parametrize("size", [1, 2, 17])
def test_odd_points_and_the_largest_words_equal_twin(point, size):
    """Where numbers come nearest to their limits, and points at which polynomials are of no use."""
    secret = np.array([*(pow(point, power, naive.P) for power in (1, 2, 3)), 5], np.uint64)
    for word in (0, (1 << 128) - 1):
        keys = np.full((size + 1, 2), word & naive_hashing.MASK, np.uint64)
        out = np.empty(size + 1, np.uint64)
        assert hash_keys(keys, np.array([0, size + 1]), size, secret, out).tolist() == [0, 2]
        assert out[:2].tolist() == naive.shingles([word] * (size + 1), size, point, 5)


def test_texts_that_have_one_hash_for_everybody_have_two_under_a_key():
    plain = la.shingle(FORGED)
    assert plain.resemblance(0, 1) == 1.0, "in the fixed family a collision can be made"
    for key in (KEY, OTHER):
        assert la.shingle(FORGED, key=key).resemblance(0, 1) == 0.0


def test_a_text_longer_than_what_is_worked_on_at_once():
    text = "a bc " * 90_000
    shingles = la.shingle(["x y", text, "bc a bc a bc"], key=KEY)
    assert shingles.sizes.tolist() == [1, 2, 1] and shingles.containment(2, 1) == 1.0


def test_a_tokenizer_has_keyed_hashes_too():
    texts = ["a b c", "", "a" * 20 + " b c"]
    by_tokenizer = la.shingle(texts, width=2, tokenizer=str.split, key=KEY)
    assert by_tokenizer.values.tolist() == la.shingle(texts, width=2, key=KEY).values.tolist()
    with pytest.raises(InputDataError, match="row 1: the tokenizer failed"):
        la.shingle(["a", "b"], tokenizer={"a": ["a"]}.__getitem__, key=KEY)


def test_invalid_bytes_are_refused_unless_they_are_to_be_replaced():
    for tokenizer in (None, str.split):
        with pytest.raises(EncodingError, match="row 1"):
            la.shingle(["a", b"b\xff"], key=KEY, tokenizer=tokenizer)
    assert la.shingle([b"b\xff"], key=KEY, encoding_errors="replace").sizes.tolist() == [1]


@pytest.mark.parametrize(
    ("key", "said"), [("k" * 16, "got str"), (b"short", "it has 5"), (b"k" * 65, "it has 65"), (bytearray(16), "got bytearray")]
)
def test_what_is_no_key_is_refused_and_not_shown(key, said):
    with pytest.raises(ParameterError, match="key must .*" + said) as error:
        la.shingle(["a"], key=key)
    assert "kkk" not in str(error.value)


def test_sketches_under_different_keys_cannot_be_compared(tmp_path):
    scheme = FastSimilarity(permutations=16)
    plain, one, same, other = (scheme.sign(la.shingle(["a b c"], key=key)) for key in (None, KEY, bytes(KEY), OTHER))
    assert one.estimated_resemblance(0, 0, other=same) == 1.0
    for a, b in ((plain, one), (one, plain), (one, other)):
        with pytest.raises(IncompatibleSketchError):
            a.estimated_resemblance(0, 0, other=b)
    save(one, tmp_path / "one.sig")
    loaded = load(tmp_path / "one.sig")
    assert loaded.estimated_resemblance(0, 0, other=one) == 1.0
    with pytest.raises(IncompatibleSketchError):
        loaded.estimated_resemblance(0, 0, other=other)


def test_a_key_is_kept_nowhere(tmp_path):
    key = b"a very secret secret"
    shingles = la.shingle(["a b c"], key=key)
    signatures = FastSimilarity(permutations=16).sign(shingles)
    save(signatures, tmp_path / "file.sig")
    seen = [repr(shingles).encode(), repr(shingles.parameters).encode(), pickle.dumps(shingles),
            pickle.dumps(signatures), (tmp_path / "file.sig").read_bytes()]  # fmt: skip
    assert not any(part in content for content in seen for part in (key, key.hex().encode(), key[:8]))
    assert "key_fingerprint" in repr(shingles.parameters) and "key" not in repr(la.shingle(["a"]).parameters)
    with pytest.raises(IncompatibleSketchError, match="under a key"):
        shingles.parameters.hashes(from_strings(["a"]))
    with pytest.raises(ParameterError, match="key_fingerprint"):
        Shingling(key_fingerprint="abc")


def test_document_frequencies_under_different_keys_are_told_apart():
    counts = [DocumentFrequencies.collect(la.shingle(["a b c"], key=key)) for key in (None, KEY, OTHER)]
    for a, b in ((0, 1), (1, 2)):
        with pytest.raises(ParameterError):
            counts[a].merge(counts[b])
