import unicodedata
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import text as naive
from raising import assert_raises

from lookalike.errors import IncompatibleSketchError, ParameterError
from lookalike.text.characters import UNICODE_VERSION, native_characters, normalize
from lookalike.text.shingle import Shingling
from lookalike.text.texts import from_arrow_array, from_strings

same_unicode = pytest.mark.skipif(
    unicodedata.unidata_version != UNICODE_VERSION, reason=f"the twin needs an interpreter with Unicode {UNICODE_VERSION}"
)
TEXTS = [
    "", " ", "\n\t ", "!?", "a", "A", "ab", "one two three four five six", "One, TWO;three-four_five",
    "x" * 7, "x" * 8, "x" * 9, "x" * 16, "x" * 17, "12345678 1234567 123456789 " * 3, "don't stop",
    "naïve café", "cafe\u0301 noir", "Straße STRASSE", "ﬁne ﬀ", "İstanbul ıI", "ΐΐΐ ἀρχή", "Привет, мир!",
    "天地玄黃宇宙洪荒", "ab天地cd", "これはペンです。", "สวัสดีครับ", "ກຂຄ", "ភាសាខ្មែរ", "မြန်မာ", "한국어 텍스트", "e\u0301天\u0301",
    "\u0301abc", "a\u0323\u0307b\u0307\u0323", "emoji 😀 text 👩‍👩‍👧", "line one\nline two\r\n\r\n  line three  ",
    "tab\tand\u00a0space\u2003em\u3000wide", "mixed\u2028line\u2029sep\x85nel", "W\u00f6r\u00adter\u200b\u0645\u06cc\u200c\u062e", "\ufeff\u200e \n\u2060\n", "e\u00ad\u0301\u034f\u0323",
    "\u2764\ufe0f x", "\u06dd12\u1820\u180b\U000e0101", "a" * 63, "a" * 64, "b " * 65,
    "abcdefg\u00e9hijklmnop" * 9, "ABCDEFGH" * 8 + "\u00c9", "\u212b\u2126 \u00c5", "\x00\x01", "z\x00z", "가\u11a8",
]  # fmt: skip


def texts_of(data):
    return from_arrow_array(pa.array(data, pa.large_binary()))


def found(shingling, text):
    values, offsets = shingling.hashes(from_strings([text]))
    assert offsets.tolist() == [0, len(values)]
    return [int(v) for v in values]


@same_unicode
def test_shingles_equal_twin():
    for unit, width, text in product(["word", "char", "byte", "line"], [1, 2, 5], TEXTS):
        assert found(Shingling(unit=unit, width=width), text) == naive.hashes(text, unit, width)


@same_unicode
def test_wide_shingles_and_stretches_equal_twin(rng):
    """As many tokens as bytes allow, tokens that end in another stretch of bytes; beyond 16 tokens shingles are rolled."""
    for low, high, n in [(1, 2, 30_000), (1, 9, 10_000), (7, 30, 4000), (3000, 9000, 10)]:
        text = " ".join("x" * size for size in rng.integers(low, high, n).tolist())
        for width in (1, 5, 16, 17, 30):
            assert found(Shingling(width=width), text) == naive.hashes(text, "word", width)


ANYTHING = ["a", "Z", "7", "word", "Eightlet", "ninelette", "SIXTEENLETTERSXX", "seventeenletters7", " ", "-", "\n", "\t", "\r", "\x00", "\u00e9", "\u00c9", "\u0390", "\u0130", "\u4e2d", "\u304b", "\u30fc",
            "\uff76", "\uff9e", "\u0e01", "\u0e47", "\u0301", "\u3000", "\u2028", "\u00a0", "\u2019", "\U0001f600", "\U00020000", "\u3005",
            "\u3007", "\U0001b002", "\u00ad", "\u200b", "\u200c", "\u200d", "\u202e", "\ufeff", "\ufe0f", "\U000e0020", "\uac00", "\u1100", "\u1161", "\u11a8", "\ufb03", "\u0345", b"\xff", b"\xe4\xb8",
            b"\xf0\x9f\x98", b"\xed\xa0\x80", b"\xc0\xaf"]  # fmt: skip


def in_bytes(piece):
    return piece if isinstance(piece, bytes) else piece.encode()


@same_unicode
@settings(max_examples=400)
@given(
    st.lists(
        st.lists(st.tuples(st.sampled_from(ANYTHING), st.sampled_from([1, 1, 1, 2, 3, 8, 60, 61, 62, 63, 64, 65, 130])), max_size=12),
        min_size=1, max_size=3,
    ),
    st.sampled_from(["word", "char", "line"]), st.sampled_from(["none", "NFC", "NFKC"]), st.booleans(),
)  # fmt: skip
def test_any_bytes_equal_twin(rows, unit, normalization, fold_case):
    """Every kind of character beside every other and at every place in a block."""
    data = [b"".join(in_bytes(piece) * times for piece, times in row) for row in rows]
    shingling = Shingling(unit=unit, width=1, normalization=normalization, fold_case=fold_case)
    values, offsets = shingling.hashes(texts_of(data))
    for row, text in enumerate(data):
        expected = naive.hashes(naive.decoded(text), unit, 1, normalization, fold_case)
        assert values[offsets[row] : offsets[row + 1]].tolist() == expected


KINDS = ["abc", "7", "\u00e9", "\u4e2d", "\U00020000", "\u0e01", "\u0301", "\u304b\u3099", "\u3000", "-", "\u2019", "\U0001f600", "\u0390",
         "\u0130", "\u1100\u1161\u11a8", b"\xff", b"\xe4\xb8"]  # fmt: skip


def test_hashes_do_not_depend_on_where_a_word_stands():
    """At every distance from the beginning and the end of a buffer."""
    for unit, first, second in product(["word", "char", "line"], map(in_bytes, KINDS), map(in_bytes, KINDS)):
        core = b"abc" + first + second + b"xyz" + first + b" one"
        data = [b" " * before + core + b" " * after for before in range(131) for after in (0, 3, 100)]
        # one buffer for all, and each text at the end of a buffer of its own
        shingling = Shingling(unit=unit, width=1)
        values, offsets = shingling.hashes(texts_of(data))
        expected = values[: offsets[1]].tolist()
        assert values.tolist() == expected * len(data)
        for text in data[::17]:
            assert shingling.hashes(texts_of([text]))[0].tolist() == expected


DAMAGE = [b"\x80", b"\xc0\x80", b"\xc1\xbf", b"\xc3", b"\xe0\x9f\xbf", b"\xe4\xb8", b"\xed\xa0\x80", b"\xf0\x8f\xbf\xbf", b"\xf4\x90\x80\x80", b"\xf5",
          b"\xf0\x9f\x98"]  # fmt: skip


def test_invalid_bytes_are_found_beside_characters_of_every_size():
    for around, before, damage in product(["a", "\u044f", "\u4e2d", "\U0001f600"], range(70), DAMAGE):
        text, more = around.encode() * before + damage, around.encode() * 70
        with pytest.raises(UnicodeDecodeError) as error:
            text.decode()
        for after in (b"", more):
            assert texts_of([around.encode(), text + after, b"\x80"]).find_invalid() == (1, error.value.start)


def test_values_stay_as_they_are_when_others_are_made():
    """What Python still refers to is not used again."""
    first, _ = Shingling().hashes(from_strings(["one two three four five six"]))
    kept = first.tolist()
    Shingling().hashes(from_strings(["other words, and more of them than there were before"]))
    assert first.tolist() == kept


def test_characters_that_fold_to_three_have_room():
    """Two bytes can fold to three characters."""
    text = "\u0390\u03b0" * 200_000
    values, offsets = Shingling(unit="char", width=1).hashes(from_strings([text]))
    assert offsets.tolist() == [0, 3 * len(text)]
    assert values[:6].tolist() == naive.hashes("\u0390\u03b0", "char", 1)


def test_rules_of_an_earlier_version_name_a_sketch_but_shingle_nothing():
    old = Shingling(rules=1)
    assert old != Shingling() == Shingling(rules=3) and (old.to_dict()["rules"], Shingling().to_dict()["rules"]) == (1, 3)
    for shingle in (old.hashes, old.normalized):
        assert_raises(
            IncompatibleSketchError, "rules 1: sketch the texts again with this version", shingle, from_strings(["a"])
        )
    for rules in (0, 4, None, "3"):
        with pytest.raises(ParameterError) as error:
            Shingling(rules=rules)
        assert error.value.name == "rules"


@same_unicode
def test_tables_are_those_of_the_pinned_unicode_version():
    every = [chr(point) for point in range(0x110000) if not 0xD800 <= point < 0xE000]
    kinds = native_characters().kinds(np.array([ord(c) for c in every], np.uint32)).tolist()
    numbers = {"mark": 3, "single": 2, "letter": 1}
    for c, kind in zip(every, kinds, strict=True):
        part = "mark" if naive.hidden(c) else naive.part(c)
        assert kind & 7 == numbers.get(part, 4 if naive.is_space(c) else 0), c
        assert kind >> 5 & 3 == naive.hidden(c) + 2 * (c == "\u200b"), c
        assert kind >> 8 == unicodedata.combining(c), c
    text = "|".join(every)
    folded, same = (Shingling(unit="char", width=1, normalization="none", fold_case=folds) for folds in (True, False))
    assert found(folded, text) == found(same, text.casefold())


def test_characters_unknown_to_the_pinned_version_stay_as_they_are():
    """Later versions of Unicode decompose, or compose, all but the first two."""
    for later in ("e\u0301 \U000105c9 \U000105d2\u0307", "\U0001e030", "\U000105d2\u0307"):
        for form in ("NFC", "NFKC"):
            assert normalize(later, form) == later.replace("e\u0301", "\u00e9")
