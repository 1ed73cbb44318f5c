"""Tokenizing and shingling equal their twins on hand-picked and random texts."""

import unicodedata

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import text as naive

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
    """Bytes, perhaps invalid, as texts."""
    return from_arrow_array(pa.array(data, pa.large_binary()))


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
def test_normalization_and_case_equal_twin(normalization, fold_case):
    for unit in ("word", "char", "line"):
        shingling = Shingling(unit=unit, width=2, normalization=normalization, fold_case=fold_case)
        for text in TEXTS:
            assert found(shingling, text) == naive.hashes(text, unit, 2, normalization, fold_case), repr(text)


@same_unicode
@settings(max_examples=400)
@given(st.text(max_size=60), st.sampled_from(["word", "char", "byte", "line"]), st.integers(1, 6))
def test_random_texts_equal_twin(text, unit, width):
    assert found(Shingling(unit=unit, width=width), text) == naive.hashes(text, unit, width)


@same_unicode
@settings(max_examples=300)
@given(st.text(st.characters(categories=["M", "L", "Zs"]), max_size=40), st.sampled_from(["NFC", "NFKC"]))
def test_random_marks_equal_twin(text, form):
    shingling = Shingling(unit="char", width=1, normalization=form)
    assert found(shingling, text) == naive.hashes(text, "char", 1, form)


PIECES = ["a", "word", "Eightlet", "ninelette", "SIXTEENLETTERSXX", "seventeenletters7", "x" * 70, " ", "  ", "   ", ".", "\n", "\t", "\x00",
          "\u2019", "\u00e9", "\u00c9COLE", "\u6f22", "\u6f22\u5b57", "e\u0301", "\u0130", " " * 63, "-" * 64, "12"]  # fmt: skip


@same_unicode
@settings(max_examples=400)
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


def test_stretches_equal_twin(rng):
    """As many tokens as bytes allow, and tokens that begin in one stretch of bytes and end in another."""
    for sizes in [(1, 2), (1, 9), (7, 30), (3000, 9000)]:
        text = " ".join("x" * size for size in rng.integers(*sizes, 30_000 // sizes[0]).tolist())
        for width in (1, 2, 5):
            assert found(Shingling(width=width), text) == naive.hashes(text, "word", width)


@settings(max_examples=300)
@given(
    st.lists(st.sampled_from(["a", "a", "\n", "\n", "B", " ", "\t", "\r", "\u00e9", "\u2028"]), max_size=200),
    st.integers(0, 70),
)
def test_lines_equal_twin(pieces, before):
    """Line feeds alone, beside other white space, at both ends and on the borders of blocks."""
    text = "x" * before + "".join(pieces)
    for unit in ("line", "char"):
        assert found(Shingling(unit=unit, width=1), text) == naive.hashes(text, unit, 1)


@same_unicode
@pytest.mark.parametrize("width", [15, 16, 17, 30])
def test_wide_shingles_equal_twin(rng, width):
    """Up to 16 tokens coefficient by coefficient, beyond that rolled."""
    text = " ".join(f"w{i}" for i in rng.integers(0, 50, 1200))
    assert found(Shingling(width=width), text) == naive.hashes(text, "word", width)


ANYTHING = ["a", "Z", "7", "word", " ", "-", "\n", "\t", "\x00", "\u00e9", "\u00c9", "\u0390", "\u0130", "\u4e2d", "\u304b", "\u30fc",
            "\uff76", "\uff9e", "\u0e01", "\u0e47", "\u0301", "\u3000", "\u2028", "\u00a0", "\u2019", "\U0001f600", "\U00020000", "\u3005",
            "\u3007", "\U0001b002", "\u00ad", "\u200b", "\u200c", "\u200d", "\u202e", "\ufeff", "\ufe0f", "\U000e0020", "\uac00", "\u1100", "\u1161", "\u11a8", "\ufb03", "\u0345", b"\xff", b"\xe4\xb8",
            b"\xf0\x9f\x98", b"\xed\xa0\x80", b"\xc0\xaf"]  # fmt: skip


def in_bytes(piece):
    """UTF-8, or bytes as they are."""
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
    """Every kind of character, invalid bytes too, beside every other and at every place in a block."""
    data = [b"".join(in_bytes(piece) * times for piece, times in row) for row in rows]
    shingling = Shingling(unit=unit, width=1, normalization=normalization, fold_case=fold_case)
    values, offsets = shingling.hashes(texts_of(data))
    for row, text in enumerate(data):
        expected = naive.hashes(naive.decoded(text), unit, 1, normalization, fold_case)
        assert values[offsets[row] : offsets[row + 1]].tolist() == expected


KINDS = ["abc", "7", "\u00e9", "\u4e2d", "\U00020000", "\u0e01", "\u0301", "\u304b\u3099", "\u3000", "-", "\u2019", "\U0001f600", "\u0390",
         "\u0130", "\u1100\u1161\u11a8", b"\xff", b"\xe4\xb8"]  # fmt: skip


@pytest.mark.parametrize("unit", ["word", "char", "line"])
def test_hashes_do_not_depend_on_where_a_word_stands(unit):
    """Two characters side by side make the same shingles at every distance from the beginning and the end of a buffer."""
    shingling = Shingling(unit=unit, width=1)
    around = range(131)
    for first in map(in_bytes, KINDS):
        for second in map(in_bytes, KINDS):
            core = b"abc" + first + second + b"xyz" + first + b" one"
            data = [b" " * before + core + b" " * after for before in around for after in (0, 3, 100)]
            # one buffer for all, and each text at the end of a buffer of its own
            values, offsets = shingling.hashes(texts_of(data))
            expected = values[: offsets[1]].tolist()
            assert values.tolist() == expected * len(data), core
            for text in data[::17]:
                alone, _ = shingling.hashes(texts_of([text]))
                assert alone.tolist() == expected, core


DAMAGE = [b"\x80", b"\xc0\x80", b"\xc1\xbf", b"\xc3", b"\xe0\x9f\xbf", b"\xe4\xb8", b"\xed\xa0\x80", b"\xf0\x8f\xbf\xbf", b"\xf4\x90\x80\x80", b"\xf5",
          b"\xf0\x9f\x98"]  # fmt: skip


def test_invalid_bytes_are_found_beside_characters_of_every_size():
    """At every place of a block, at the end of a text in the middle of a buffer, too."""
    for around in ["a", "\u044f", "\u4e2d", "\U0001f600"]:
        for before in range(70):
            for damage in DAMAGE:
                text = around.encode() * before + damage
                with pytest.raises(UnicodeDecodeError) as error:
                    text.decode()
                for after in (b"", around.encode() * 70):
                    assert texts_of([around.encode(), text + after, b"\x80"]).find_invalid() == (1, error.value.start), (
                        before,
                        damage,
                    )


def test_values_stay_as_they_are_when_others_are_made():
    """What Python still refers to is not used again."""
    first, _ = Shingling().hashes(from_strings(["one two three four five six"]))
    kept = first.tolist()
    Shingling().hashes(from_strings(["other words, and more of them than there were before"]))
    assert first.tolist() == kept


def test_letters_before_ideographs_survive_long_runs_of_ascii():
    """A block of ASCII that ends right before an ideograph loses no letter and joins no words."""
    text = "\u4e2d" + "a" * 64 + "\u4e2d" + "b" * 128 + "\u4e2d" + " " * 200
    assert found(Shingling(width=1), text) == naive.hashes(text, "word", 1)


def test_characters_that_fold_to_three_have_room():
    """Two bytes can fold to three characters; no value is written beyond an array."""
    text = "\u0390\u03b0" * 200_000
    values, offsets = Shingling(unit="char", width=1).hashes(from_strings([text]))
    assert offsets.tolist() == [0, 3 * len(text)]
    assert values[:6].tolist() == naive.hashes("\u0390\u03b0", "char", 1)


@pytest.mark.parametrize(
    ("script", "sample"),
    [
        ("Han", "\u4e00\u3400\u9fff\uf900\U00020000\U0002a700\U0002f800\U00030000"),
        ("Han numerals and iteration marks", "\u3005\u3006\u3007\u303b\u3021\u3029\u3038\u303a\U00016fe3\u3220\u3280\u3192"),
        ("Hiragana", "\u3042\u3041\u309d\u309e\u309f\U0001b001\U0001b002\U0001b11e\U0001b11f\U0001b150"),
        ("Katakana", "\u30a2\u30a1\u30fc\u30fd\u30fe\u30ff\u31f0\uff71\uff70\U0001b000\U0001b120\U0001b164\U0001aff0"),
        ("Bopomofo", "\u3105\u31a0"),
        ("Yi", "\ua000\ua015\ua48c"),
        ("Tangut", "\U00017000\U000187f7\U00018800\U00018d00\U00016fe0"),
        ("Nushu", "\U0001b170\U0001b2fb\U00016fe1"),
        ("Thai", "\u0e01\u0e30\u0e46\u0e51"),
        ("Lao", "\u0e81\u0eb0\u0ec6\u0ed1"),
        ("Khmer", "\u1780\u17d7\u17e1"),
        ("Myanmar", "\u1000\u103f\u1041\ua9e0\uaa60"),
        ("Tai", "\u1950\u1970\u1980\u19b0\u19d1\u1a20\u1a80\uaa80\uaadb\U00011700\U00011730"),
    ],
)
def test_each_letter_of_a_script_without_spaces_is_a_word(script, sample):
    """After a Latin word, after each other, and with the mark that follows."""
    values = found(Shingling(width=1, normalization="none"), "abc" + "".join(c + "\u0301" for c in sample) + "xyz")
    expected = [*found(Shingling(width=1, normalization="none"), " ".join(["abc", *(c + "\u0301" for c in sample), "xyz"]))]
    assert len(values) == len(sample) + 2
    assert values == expected


def test_scripts_with_spaces_or_separators_join():
    """Korean, Khitan, Tibetan and Lisu, and Latin of full width, make words of several letters."""
    for sample in [
        "\ud55c\uad6d\uc5b4",
        "\u1100\u1161",
        "\uffa1\uffc2",
        "\U00018b00\U00018b01",
        "\u0f40\u0f41",
        "\uff21\uff11",
        "\ua4d0\ua4d1",
    ]:
        assert len(found(Shingling(width=1), "abc" + sample + "xyz")) == 1


def test_halfwidth_voicing_marks_belong_to_their_kana():
    assert len(found(Shingling(width=1), "\uff76\uff9e\uff8a\uff9f")) == 2


def test_rules_of_an_earlier_version_name_a_sketch_but_shingle_nothing():
    old = Shingling(rules=1)
    assert old != Shingling() == Shingling(rules=3)
    assert old.to_dict()["rules"] == 1 and Shingling().to_dict()["rules"] == 3
    for shingle in (old.hashes, old.normalized):
        with pytest.raises(IncompatibleSketchError, match=r"rules 1: sketch the texts again with this version"):
            shingle(from_strings(["a"]))
    for rules in (0, 4, None, "3"):
        with pytest.raises(ParameterError, match=r"rules must be in 1\.\.3; got"):
            Shingling(rules=rules)


def test_rows_do_not_run_into_each_other():
    shingling = Shingling(width=2)
    values, offsets = shingling.hashes(from_strings(["one two", "three", "", "cafe\u0301", "one two three"]))
    assert np.diff(offsets).tolist() == [1, 1, 0, 1, 2]
    assert values[0] == values[-2]


def test_invalid_utf8_separates_words_and_counts_as_a_character():
    texts = texts_of([b"ab\xffcd", b"ab\xe2\x82", b"\xed\xa0\x80x", b"\xc0\xafx", b"\xf4\x90\x80\x80", b"\xc3\xe2\x80\x8d\x88"])
    assert texts.find_invalid() == (0, 2)
    values, offsets = Shingling(width=1).hashes(texts)
    assert np.diff(offsets).tolist() == [2, 1, 1, 1, 0, 0]
    assert values[0] == naive.hashes("ab", width=1)[0]
    values = Shingling(unit="char", width=1).hashes(texts)[0]
    assert values[:5].tolist() == naive.hashes("ab\ufffdcd", "char", 1)


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
