import pickle
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from naive import hashing as naive_hashing
from naive import keyed as naive
from raising import assert_raises

import lookalike as la
from lookalike.core import hash_keys
from lookalike.errors import EncodingError, IncompatibleSketchError, ParameterError
from lookalike.sketches import DocumentFrequencies, FastSimilarity, load, save
from lookalike.text.hashes import KeyedHashes
from lookalike.text.shingle import Shingling
from lookalike.text.texts import from_strings

KEY, OTHER = bytes(range(16)), bytes(range(64))
TEXTS = ["", " ", "one", "One two THREE four five six", "x" * 15, "x" * 16, "y" * 700 + " b", "naïve café Straße", "天地玄黃 ab",
         "line one\nline two\n\n  line   three  ", "a b " * 30, "\x00 \x00\x00"]  # fmt: skip
# Tokens that end around the blocks of 64 bytes.
TEXTS += [
    start + "xyé"[n % 3] * n + end
    for start in ("", "a ")
    for end in ("", "\nb", " " * 64)
    for n in (8, 15, 16, 61, 62, 63, 64, 65, 128)
]


def found(shingling, key, texts):
    values, offsets = KeyedHashes(shingling, key).hashes(from_strings(texts))
    return [values[begin:end].tolist() for begin, end in pairwise(offsets)]


def test_hashes_equal_twin(monkeypatch):
    for unit, (width, key, most) in product(
        ["word", "char", "byte", "line"], [(1, KEY, 1), (2, OTHER, 7), (5, KEY, 1 << 16), (40, OTHER, 1 << 16)]
    ):
        monkeypatch.setattr("lookalike.text.hashes.AT_A_TIME", most)
        for fold_case in (True, False):
            shingling = Shingling(unit=unit, width=width, normalization="none", fold_case=fold_case)
            assert found(shingling, key, TEXTS) == [naive.hashes(text, unit, width, key, fold_case) for text in TEXTS]


WORDS = st.one_of(st.integers(0, (1 << 128) - 1), st.sampled_from([0, 1, (1 << 56) - 1, (1 << 112) - 1, (1 << 128) - 1]))
POINTS = st.integers(0, naive.P - 1) | st.sampled_from([0, 1, naive.P - 1])


@settings(max_examples=200)
@given(st.lists(st.lists(WORDS, max_size=30), max_size=4), st.integers(1, 20), POINTS, st.integers(0, naive_hashing.MASK))
@example([[0] * 18], 17, naive.P - 1, 5)
@example([[(1 << 128) - 1] * 18], 17, naive.P - 1, naive_hashing.MASK)
def test_any_words_equal_twin(rows, width, point, word):
    """Tokens of any two words: numbers come near their limits, and points are of no use for polynomials."""
    flat = [word for row in rows for word in row]
    keys = np.array([[word & naive_hashing.MASK, word >> 64] for word in flat], "uint64").reshape(-1, 2)
    out, secret = np.empty(len(flat), "uint64"), [*(pow(point, power, naive.P) for power in (1, 2, 3)), word]
    bounds = hash_keys(keys, np.cumsum([0, *map(len, rows)]), width, np.array(secret, "uint64"), out)
    assert [out[a:b].tolist() for a, b in pairwise(bounds)] == [naive.shingles(row, width, point, word) for row in rows]


def test_a_text_longer_than_what_is_worked_on_at_once():
    shingles = la.shingle(["x y", "a bc " * 90_000, "bc a bc a bc"], key=KEY)
    assert shingles.sizes.tolist() == [1, 2, 1] and shingles.containment(2, 1) == 1.0


def test_invalid_bytes_are_refused_unless_they_are_to_be_replaced():
    for tokenizer, key in product((None, str.split), (None, KEY)):
        assert_raises(EncodingError, "row 1", la.shingle, ["a", b"b\xff"], key=key, tokenizer=tokenizer)
        assert la.shingle([b"b\xff"], key=key, encoding_errors="replace").sizes.tolist() == [1]


def test_what_is_no_key_is_refused_and_not_shown():
    for key, said in (
        ("k" * 16, "got str"),
        (b"short", "it has 5"),
        (b"k" * 65, "it has 65"),
        (bytearray(16), "got bytearray"),
    ):
        with pytest.raises(ParameterError, match="key must .*" + said) as error:
            la.shingle(["a"], key=key)
        assert "kkk" not in str(error.value)


def test_sketches_under_different_keys_cannot_be_compared(tmp_path):
    """Nor frequencies of their shingles merged."""
    shingles = [la.shingle(["a b c"], key=key) for key in (None, KEY, bytes(KEY), OTHER)]
    plain, one, same, other = map(FastSimilarity(permutations=16).sign, shingles)
    save(one, tmp_path / "one.sig")
    loaded = load(tmp_path / "one.sig")
    assert one.estimated_resemblance(0, 0, other=same) == loaded.estimated_resemblance(0, 0, other=one) == 1.0
    for a, b in ((plain, one), (one, plain), (one, other), (loaded, other)):
        assert_raises(IncompatibleSketchError, "", a.estimated_resemblance, 0, 0, other=b)
    counts = list(map(DocumentFrequencies.collect, shingles))
    for a, b in ((0, 1), (1, 3)):
        assert_raises(ParameterError, "", counts[a].merge, counts[b])


def test_a_key_is_kept_nowhere(tmp_path):
    key = b"a very secret secret"
    shingles = la.shingle(["a b c"], key=key)
    signatures = FastSimilarity(permutations=16).sign(shingles)
    save(signatures, tmp_path / "file.sig")
    seen = [repr(shingles).encode(), repr(shingles.parameters).encode(), pickle.dumps(shingles),
            pickle.dumps(signatures), (tmp_path / "file.sig").read_bytes()]  # fmt: skip
    assert not any(part in content for content in seen for part in (key, key.hex().encode(), key[:8]))
    assert "key_fingerprint" in repr(shingles.parameters) and "key" not in repr(la.shingle(["a"]).parameters)
    assert_raises(IncompatibleSketchError, "under a key", shingles.parameters.hashes, from_strings(["a"]))
    assert_raises(ParameterError, "key_fingerprint", Shingling, key_fingerprint="abc")
