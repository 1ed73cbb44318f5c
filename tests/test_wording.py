import pickle
import unicodedata

import pytest
import wording

import lookalike as la
from lookalike.errors import EncodingError, LookalikeError, RowError
from lookalike.wording import plural, printable, text_size

RANGES = ((0, 0x20), (0x7F, 0xA0), (0x61C, 0x61D), (0x200B, 0x2010), (0x2028, 0x202F), (0x2060, 0x206A))
HOSTILE = [*(chr(code) for ends in RANGES for code in range(*ends)), *"\ufeff\ud800\udcff\u0378\ue000\U000e0001\U0010fffd"]


def test_what_is_not_printable_is_an_escape():
    for character in HOSTILE:
        said = printable(f"a{character}b")
        assert said.isascii() and said.isprintable() and said != "ab"
        assert said[1:-1].encode().decode("unicode_escape") == character
        assert printable(said) == said


def test_no_character_steers_a_terminal():
    """What is left is a letter, a mark, a number, punctuation, a symbol or the space."""
    left, others = [], []
    for c in map(chr, range(0x110000)):
        (left if unicodedata.category(c)[0] in "LMNPS" or c == " " else others).append(c)
    assert printable("".join(left)) == "".join(left)
    escaped = printable("".join(others))
    assert escaped.isascii() and escaped.isprintable() and escaped.count("\\") == len(others)


def test_visible_text_stays():
    for text in ["", "plain", "café Ünï", "日本語の文書", "העברית العربية", "हिन्दी ไทย", "𝒳 😀", r"\x1b[2J"]:
        assert printable(text) == text


def test_counts_and_sizes():
    assert (plural(1, "match", "matches"), plural(2000, "match", "matches")) == ("1 match", "2,000 matches")
    assert (text_size(12), text_size(270_400_000)) == ("12 bytes of text", "270.4 MB of text")


def copies(error):
    return error, pickle.loads(pickle.dumps(error))


def test_the_text_of_an_error_is_one_line_without_escape_sequences():
    said = "no\x1b[2J\u202egp\n.error: all is well"
    for kind in (LookalikeError, *LookalikeError.__subclasses__()):
        for found in copies(kind(said)):
            assert str(found) == r"no\x1b[2J\u202egp\n.error: all is well" and found.args == (said,)
    assert str(RowError(4, 5, "a\x07b")) == r"row 5: a\x07b"
    assert str(EncodingError(4, 5)).startswith("row 4: invalid UTF-8 at byte 5")


def test_errors_have_what_they_are_about(tmp_path):
    for name, data, row, column in (
        ("in.jsonl", b'{"text": "a"}\n{"text": 3}\n', 2, "text"),
        ("in.json", b'[{"text": "a"}, {"text": "b"} x', 3, None),
        ("in.csv", b"text\na\nb,c\n", 2, None),
        ("in.tsv", b"id\tbody\n1\ta\n", None, "text"),
    ):
        path = tmp_path / name
        path.write_bytes(data)
        with pytest.raises(la.errors.InputDataError) as caught:
            la.dedup(path)
        for found in copies(caught.value):
            assert (found.path, found.row, found.column) == (str(path), row, column)
            assert str(found) == str(caught.value) and str(found).startswith(str(path)) and str(path) not in found.reason


def test_errors_about_parameters_name_them():
    for name, value in {"threshold": 2, "unit": "wrd", "tokenizer": 4, "keep": "longst"}.items():
        with pytest.raises(la.errors.ParameterError) as caught:
            la.dedup(["a"], **{name: value})
        _, again = copies(caught.value)
        assert (again.name, again.value, str(again)) == (name, value, str(caught.value))


def test_all_wording_is_in_one_file():
    assert wording.wording() == wording.STORED.read_text(encoding="utf-8"), "run: make wording"


def test_public_functions_say_so():
    for name in ["dedup", "pairs", "decontaminate", "plan", "foresee"]:
        function = getattr(la, name)
        with pytest.raises(TypeError, match="did you mean 'threshold'"):
            function(treshold=0.8)
        assert pickle.loads(pickle.dumps(function)) is function
