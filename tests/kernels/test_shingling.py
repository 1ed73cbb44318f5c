"""Tokenising and shingling equal their twins on hand-picked and random texts."""

import unicodedata

import numpy as np
import pytest
from conftest import JIT_OFF
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import text as naive

from semblance.text.shingle import UNICODE_VERSION, Shingling, normalize
from semblance.text.texts import from_strings

same_unicode = pytest.mark.skipif(
    unicodedata.unidata_version != UNICODE_VERSION, reason=f"the twin needs an interpreter with Unicode {UNICODE_VERSION}"
)
TEXTS = [
    "", " ", "\n\t ", "!?", "a", "A", "ab", "one two three four five six", "One, TWO;three-four_five",
    "x" * 7, "x" * 8, "x" * 9, "x" * 16, "x" * 17, "12345678 1234567 123456789 " * 3, "don't stop",
    "naïve café", "cafe\u0301 noir", "Straße STRASSE", "ﬁne ﬀ", "İstanbul ıI", "ΐΐΐ ἀρχή", "Привет, мир!",
    "天地玄黃宇宙洪荒", "ab天地cd", "これはペンです。", "สวัสดีครับ", "ກຂຄ", "ភាសាខ្មែរ", "မြန်မာ", "한국어 텍스트", "e\u0301天\u0301",
    "\u0301abc", "a\u0323\u0307b\u0307\u0323", "emoji 😀 text 👩‍👩‍👧", "line one\nline two\r\n\r\n  line three  ",
    "tab\tand\u00a0space\u2003em\u3000wide", "mixed\u2028line\u2029sep\x85nel", "a" * 63, "a" * 64, "b " * 65,
    "abcdefg\u00e9hijklmnop" * 9, "ABCDEFGH" * 8 + "\u00c9", "\u212b\u2126 \u00c5", "\x00\x01", "z\x00z", "가\u11a8",
]  # fmt: skip


def found(shingling, text):
    values, offsets = shingling.hashes(from_strings([text]))
    assert offsets.tolist() == [0, len(values)]
    return [int(v) for v in values]


@same_unicode
@pytest.mark.parametrize("unit", ["word", "char", "byte", "line"])
@pytest.mark.parametrize("width", [1, 2, 5])
def test_shingles_equal_twin(unit, width):
    for text in TEXTS:
        assert found(Shingling(unit=unit, width=width), text) == naive.hashes(text, unit, width), repr(text)


@same_unicode
@pytest.mark.parametrize("normalization", ["none", "NFC", "NFKC"])
@pytest.mark.parametrize("fold_case", [True, False])
def test_normalisation_and_case_equal_twin(normalization, fold_case):
    for unit in ("word", "char", "line"):
        shingling = Shingling(unit=unit, width=2, normalization=normalization, fold_case=fold_case)
        for text in TEXTS:
            assert found(shingling, text) == naive.hashes(text, unit, 2, normalization, fold_case), repr(text)


@same_unicode
@settings(max_examples=20 if JIT_OFF else 400)
@given(st.text(max_size=60), st.sampled_from(["word", "char", "byte", "line"]), st.integers(1, 6))
def test_random_texts_equal_twin(text, unit, width):
    assert found(Shingling(unit=unit, width=width), text) == naive.hashes(text, unit, width)


@same_unicode
@settings(max_examples=20 if JIT_OFF else 300)
@given(st.text(st.characters(categories=["M", "L", "Zs"]), max_size=40), st.sampled_from(["NFC", "NFKC"]))
def test_random_marks_equal_twin(text, form):
    shingling = Shingling(unit="char", width=1, normalization=form)
    assert found(shingling, text) == naive.hashes(text, "char", 1, form)


PIECES = ["a", "word", "Eightlet", "ninelette", "SIXTEENLETTERSXX", "seventeenletters7", "x" * 70, " ", "  ", "   ", ".", "\n", "\t", "\x00",
          "\u2019", "\u00e9", "\u00c9COLE", "\u6f22", "\u6f22\u5b57", "e\u0301", "\u0130", " " * 63, "-" * 64, "12"]  # fmt: skip


@same_unicode
@settings(max_examples=20 if JIT_OFF else 400)
@given(
    st.lists(st.lists(st.sampled_from(PIECES), max_size=40), min_size=1, max_size=3),
    st.sampled_from(["word", "char", "line"]),
    st.booleans(),
)
def test_long_texts_equal_twin(texts, unit, fold_case):
    """Blocks of 64 bytes, and what falls on their borders: ends of tokens, runs of blanks, characters beyond ASCII."""
    shingling = Shingling(unit=unit, width=1, fold_case=fold_case)
    joined = ["".join(pieces) for pieces in texts]
    values, offsets = shingling.hashes(from_strings(joined))
    for row, text in enumerate(joined):
        expected = naive.hashes(text, unit, 1, "NFC", fold_case)
        assert values[offsets[row] : offsets[row + 1]].tolist() == expected


@same_unicode
@pytest.mark.parametrize("width", [15, 16, 17, 30])
def test_wide_shingles_equal_twin(rng, width):
    """Up to 16 tokens coefficient by coefficient, beyond that rolled."""
    text = " ".join(f"w{i}" for i in rng.integers(0, 50, 1200 if not JIT_OFF else 60))
    assert found(Shingling(width=width), text) == naive.hashes(text, "word", width)


def test_rows_do_not_run_into_each_other():
    shingling = Shingling(width=2)
    values, offsets = shingling.hashes(from_strings(["one two", "three", "", "cafe\u0301", "one two three"]))
    assert np.diff(offsets).tolist() == [1, 1, 0, 1, 2]
    assert values[0] == values[-2]


def test_invalid_utf8_separates_words_and_counts_as_a_character():
    import pyarrow as pa

    from semblance.text.texts import from_arrow_array

    bad = [b"ab\xffcd", b"ab\xe2\x82", b"\xed\xa0\x80x", b"\xc0\xafx", b"\xf4\x90\x80\x80"]
    texts = from_arrow_array(pa.array(bad, pa.binary()))
    assert texts.find_invalid() == (0, 2)
    values, offsets = Shingling(width=1).hashes(texts)
    assert np.diff(offsets).tolist() == [2, 1, 1, 1, 0]
    assert int(values[0]) == naive.hashes("ab", width=1)[0]
    values, offsets = Shingling(unit="char", width=1).hashes(texts)
    assert [int(v) for v in values[:5]] == naive.hashes("ab\ufffdcd", "char", 1)


@pytest.mark.parametrize("position", range(20))
def test_invalid_bytes_are_found_where_they_are(position):
    import pyarrow as pa

    from semblance.text.texts import from_arrow_array

    good, bad = "säfe täxt ".encode(), b"a" * position + b"\x80" + b"b" * 20
    assert from_arrow_array(pa.array([good, bad, good], pa.binary())).find_invalid() == (1, position)


@same_unicode
def test_tables_are_those_of_the_pinned_unicode_version():
    from semblance.text.shingle import _tables

    pages, kinds, folds, fold_bytes = _tables()
    for point in [*range(0x3000), *range(0x3000, 0x110000, 97)]:
        if 0xD800 <= point < 0xE000:
            continue
        c = chr(point)
        entry = int(pages[point >> 7]) * 128 + (point & 127)
        category = unicodedata.category(c)[0]
        expected = 4 if naive.is_space(c) else 3 if category == "M" else 0
        if category in "LN":
            expected = 2 if unicodedata.name(c, "").startswith(naive.SPACELESS) else 1
        assert int(kinds[entry]) & 7 == expected, hex(point)
        fold = int(fold_bytes[folds[entry]])
        folded = (fold & ((1 << 56) - 1)).to_bytes(7, "little")[: fold >> 56] if fold else c.encode()
        assert folded == c.casefold().encode(), hex(point)


def test_characters_unknown_to_the_pinned_version_stay_as_they_are(monkeypatch):
    from semblance.text import shingle

    monkeypatch.setattr(shingle, "_unassigned", lambda: frozenset([0x00C5]))
    assert normalize("e\u0301\u00c5\u0301A\u030a", "NFC") == "\u00e9\u00c5\u0301\u00c5"
