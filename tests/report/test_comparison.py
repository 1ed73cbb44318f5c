"""Two texts beside each other: what is shown, what is left out, and how much room it takes."""

import html
import json

import pytest

from lookalike.report.comparison import DIFFERS, SHARED, begin_of, compare, ops_of, redactor_of
from lookalike.report.page import as_json
from lookalike.text.shingle import Shingling

LEFT = "One two three four five six seven eight nine ten.\nThe second line is here, and it stays the same.\n"


def shown(compared, side):
    """The text of one side, without what is left out."""
    rows = (row[min(side, len(row) - 1)] for row in compared.rows if not isinstance(row, int))
    return "".join(text for row in rows for text in row[1::2])


def test_short_texts_are_shown_whole_and_what_differs_is_marked():
    right = LEFT.replace("four", "FOUR").replace("stays", "will remain")
    found = compare(LEFT.encode(), right.encode(), Shingling(), 10_000)
    assert (shown(found, 0), shown(found, 1)) == (LEFT, right)
    differing = [
        text for row in found.rows for runs in row for code, text in zip(runs[::2], runs[1::2], strict=True) if code & DIFFERS
    ]
    assert [text.strip() for text in differing] == ["four", "FOUR", "stays", "will remain"]
    assert [kind for kind, _ in found.inline if kind != "same"] == ["right", "left", "right", "left"]
    assert "".join(text for kind, text in found.inline if kind != "left").replace("  ", " ") == right
    assert found.shaded and not found.cut


def test_shared_shingles_are_marked_on_words_that_differ_in_case_only():
    found = compare(LEFT.encode(), LEFT.upper().encode(), Shingling(), 10_000)
    runs = [run for row in found.rows for side in row for run in zip(side[::2], side[1::2], strict=True)]
    codes = {code for code, text in runs if text.strip(". \n")}
    assert codes <= {SHARED, SHARED | DIFFERS}


def test_long_equal_stretches_are_left_out():
    words = [f"w{i}" for i in range(1000)]
    right = [*words[:500], "new", *words[500:]]
    found = compare(" ".join(words).encode(), " ".join(right).encode(), Shingling(), 10_000)
    left_out = [row for row in found.rows if isinstance(row, int)]
    assert len(left_out) == 2 and sum(left_out) > 900
    assert sum(left_out) + len(shown(found, 0).split()) == 1000
    assert "new" in shown(found, 1) and found.common == 1000


def test_equal_texts_show_how_they_begin():
    words = " ".join(f"w{i}" for i in range(1000)).encode()
    found = compare(words, words, Shingling(), 10_000)
    assert [kind for kind, _ in found.inline if kind != "same"] == ["left out"] and shown(found, 0).startswith("w0 w1 ")
    assert compare(b"a b", b"a b c", Shingling(), 99).inline == [("same", "a b "), ("right", "c")]


def test_lines_of_code_begin_with_their_indentation():
    code = "def f(x):\n    if x:\n\n        return 1\n\treturn 2\n"
    found = compare(code.encode(), code.replace("if x", "if y").encode(), Shingling(), 10_000)
    assert found.code and shown(found, 0) == code and not compare(b"a\nb\nc", b"a\nb\nc", Shingling(), 100).code
    begins = [row[0][1][: len(row[0][1]) - len(row[0][1].lstrip())] for row in found.rows]
    assert begins == ["", "    ", "        ", "\t"]


def test_every_word_is_in_one_stretch():
    for left, right in (("a b c", "a x c"), ("", "a"), ("", ""), ("a " * 200, "a " * 200 + "b")):
        ops = ops_of(left.split(), right.split())
        for side, words in (("left", left.split()), ("right", right.split())):
            bounds = [getattr(op, side) for op in ops]
            assert [w for begin, end in bounds for w in words[begin:end]] == words
        for op in ops:
            same = left.split()[slice(*op.left)] == right.split()[slice(*op.right)]
            assert same == (op.kind != "differs")


HOSTILE = [
    b"<script>alert(1)</script>" * 2_000, b"W" * 1_000_000, b"a b\n" * 9_000, "\u202e\u2028".encode() * 200_000,
    b"'\"&<>" * 9_000, b"\xff\xfe" * 100_000, "שלום ".encode() * 5_000, b"", b" \n ", b"x <b>",
    "".join(chr(i) for i in range(1, 3000)).encode(),
]  # fmt: skip


@pytest.mark.parametrize("most", [100, 7_000])
def test_no_text_takes_more_room_than_it_is_given(most):
    for left in HOSTILE:
        for right in HOSTILE[::5]:
            found = compare(left, right, Shingling(), most)
            size = len(as_json(found.rows).encode())
            inline = sum(len(html.escape(text).encode()) + 12 for _, text in found.inline)
            assert size <= 2 * most + 1_000 and inline <= 2 * most + 1_000
            json.dumps(found.to_dict())


def test_what_is_cut_is_said():
    left = " ".join(f"a{i}" for i in range(5000)).encode()
    right = " ".join(f"b{i}" for i in range(5000)).encode()
    assert "the view is cut here" in compare(left, right, Shingling(), 500).cut
    long = compare(b"ab " * 100_000, b"ab " * 100_000, Shingling(), 5_000)
    assert long.cut == "only the first 100,000 characters were compared"


def test_hashes_hide_words_but_not_which_are_equal():
    left, right = b"secret words are here, and secret ones", b"secret words were here, and secret twos"
    hide = redactor_of(b"key")
    found = compare(left, right, Shingling(width=1), 10_000, hide)
    told = json.dumps([found.rows, found.inline])
    assert not any(word in told for word in ("secret", "words", "here", "ones", "twos", "were"))
    said = shown(found, 0).split()
    assert said[0] == said[6] and len(set(said)) == len(said) - 1
    assert hide("secret") != redactor_of(b"other")("secret")


def test_how_a_text_begins_is_said_in_words():
    assert begin_of("Terms of Use\n============\n\n*  We  are\u202e") == "Terms of Use We are⟨U+202E⟩"
    assert begin_of("=== ---") == "=== ---" and begin_of("") == ""
    assert begin_of("word " * 100) == ("word " * 14).strip() + "…"
