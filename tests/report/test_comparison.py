"""Two texts beside each other: what is shown, what is left out, and how much room it takes."""

import html
import json

import pytest

from lookalike.report.comparison import DIFFERS, SHARED, begin_of, compare, ops_of, redactor_of
from lookalike.report.page import as_json
from lookalike.text.shingle import Shingling

LEFT = "One two three four five six seven eight nine ten.\nThe second line is here, and it stays the same.\n"


def compared(left, right, most=10_000):
    """What is shown of two texts."""
    left, right = (text.encode() if isinstance(text, str) else text for text in (left, right))
    return compare(left, right, Shingling(), most)


def sides_of(found):
    """The text of each side, without what is left out."""
    rows = [row for row in found.rows if not isinstance(row, int)]
    return tuple("".join(text for row in rows for text in row[min(side, len(row) - 1)][1::2]) for side in (0, 1))


def runs_of(found):
    """(code, text) of all runs."""
    return [run for row in found.rows for side in row for run in zip(side[::2], side[1::2], strict=True)]


def kinds_of(found):
    """What there is but the same."""
    return [kind for kind, _ in found.inline if kind != "same"]


def test_short_texts_are_shown_whole_and_what_differs_is_marked():
    right = LEFT.replace("four", "FOUR").replace("stays", "will remain")
    found = compared(LEFT, right)
    assert sides_of(found) == (LEFT, right)
    assert [text.strip() for code, text in runs_of(found) if code & DIFFERS] == ["four", "FOUR", "stays", "will remain"]
    assert kinds_of(found) == ["right", "left", "right", "left"]
    assert "".join(text for kind, text in found.inline if kind != "left").replace("  ", " ") == right
    assert found.shaded and not found.cut


def test_shared_shingles_are_marked_on_words_that_differ_in_case_only():
    found = compared(LEFT, LEFT.upper())
    assert {code for code, text in runs_of(found) if text.strip(". \n")} <= {SHARED, SHARED | DIFFERS}


def test_long_equal_stretches_are_left_out():
    words = [f"w{i}" for i in range(1000)]
    found = compared(" ".join(words), " ".join([*words[:500], "new", *words[500:]]))
    left_out = [row for row in found.rows if isinstance(row, int)]
    left, right = sides_of(found)
    assert len(left_out) == 2 and sum(left_out) > 900 and sum(left_out) + len(left.split()) == 1000
    assert "new" in right and found.common == 1000


def test_equal_texts_show_how_they_begin():
    words = " ".join(f"w{i}" for i in range(1000))
    found = compared(words, words)
    assert kinds_of(found) == ["left out"] and sides_of(found)[0].startswith("w0 w1 ")
    assert compared("a b", "a b c").inline == [("same", "a b "), ("right", "c")]


def test_lines_of_code_begin_with_their_indentation():
    code = "def f(x):\n    if x:\n\n        return 1\n\treturn 2\n"
    found = compared(code, code.replace("if x", "if y"))
    assert found.code and sides_of(found)[0] == code and not compared("a\nb\nc", "a\nb\nc").code
    begins = [row[0][1][: len(row[0][1]) - len(row[0][1].lstrip())] for row in found.rows]
    assert begins == ["", "    ", "        ", "\t"]


@pytest.mark.parametrize(("left", "right"), [("a b c", "a x c"), ("", "a"), ("", ""), ("a " * 200, "a " * 200 + "b")])
def test_every_word_is_in_one_stretch(left, right):
    left, right = left.split(), right.split()
    ops = ops_of(left, right)
    for side, words in (("left", left), ("right", right)):
        assert [word for op in ops for word in words[slice(*getattr(op, side))]] == words
    for op in ops:
        assert (left[slice(*op.left)] == right[slice(*op.right)]) == (op.kind != "differs")


HOSTILE = [
    b"<script>alert(1)</script>" * 2_000, b"W" * 1_000_000, b"a b\n" * 9_000, "\u202e\u2028".encode() * 200_000,
    b"'\"&<>" * 9_000, b"\xff\xfe" * 100_000, "שלום ".encode() * 5_000, b"", b" \n ", b"x <b>",
    "".join(chr(i) for i in range(1, 3000)).encode(),
]  # fmt: skip


@pytest.mark.parametrize("most", [100, 7_000])
def test_no_text_takes_more_room_than_it_is_given(most):
    for left in HOSTILE:
        for right in HOSTILE[::5]:
            found = compared(left, right, most)
            inline = sum(len(html.escape(text).encode()) + 12 for _, text in found.inline)
            assert max(len(as_json(found.rows).encode()), inline) <= 2 * most + 1_000
            json.dumps(found.to_dict())


def test_what_is_cut_is_said():
    left, right = (" ".join(f"{letter}{i}" for i in range(5000)) for letter in "ab")
    assert "the view is cut here" in compared(left, right, 500).cut
    assert compared(b"ab " * 100_000, b"ab " * 100_000, 5_000).cut == "only the first 100,000 characters were compared"


def test_hashes_hide_words_but_not_which_are_equal():
    left, right = "secret words are here, and secret ones", "secret words were here, and secret twos"
    hide = redactor_of(b"key")
    found = compare(left.encode(), right.encode(), Shingling(width=1), 10_000, hide)
    told = json.dumps([found.rows, found.inline])
    assert not any(word in told for word in ("secret", "words", "here", "ones", "twos", "were"))
    said = sides_of(found)[0].split()
    assert said[0] == said[6] and len(set(said)) == len(said) - 1
    assert hide("secret") != redactor_of(b"other")("secret")


def test_how_a_text_begins_is_said_in_words():
    for text, begun in (
        ("Terms of Use\n============\n\n*  We  are\u202e", "Terms of Use We are⟨U+202E⟩"), ("=== ---", "=== ---"), ("", ""),
        ("word " * 100, "word " * 13 + "word…"),
    ):  # fmt: skip
        assert begin_of(text) == begun
