import html
import json
from itertools import product

from lookalike.report.comparison import DIFFERS, SHARED, begin_of, compare, redactor_of
from lookalike.report.page import as_json
from lookalike.text.shingle import Shingling

LEFT = "One two three four five six seven eight nine ten.\nThe second line is here, and it stays the same.\n"


def compared(left, right, most=10_000):
    return compare(left.encode(), right.encode(), Shingling(), most)


def sides_of(found):
    rows = [row for row in found.rows if not isinstance(row, int)]
    return tuple("".join(text for row in rows for text in row[min(side, len(row) - 1)][1::2]) for side in (0, 1))


def runs_of(found):
    return [run for row in found.rows for side in row for run in zip(side[::2], side[1::2], strict=True)]


def test_short_texts_are_shown_whole_and_what_differs_is_marked():
    right = LEFT.replace("four", "FOUR").replace("stays", "will remain")
    found = compared(LEFT, right)
    assert sides_of(found) == (LEFT, right) and found.shaded and not found.cut
    assert [text.strip() for code, text in runs_of(found) if code & DIFFERS] == ["four", "FOUR", "stays", "will remain"]
    assert [kind for kind, _ in found.inline if kind != "same"] == ["right", "left", "right", "left"]
    assert "".join(text for kind, text in found.inline if kind != "left").replace("  ", " ") == right
    assert compared("a b", "a b c").inline == [("same", "a b "), ("right", "c")]
    found = compared(LEFT, LEFT.upper())
    assert {code for code, text in runs_of(found) if text.strip(". \n")} <= {SHARED, SHARED | DIFFERS}, "shingles fold case"


def test_long_equal_stretches_are_left_out():
    words = [f"w{i}" for i in range(1000)]
    found = compared(" ".join(words), " ".join([*words[:500], "new", *words[500:]]))
    left_out = [row for row in found.rows if isinstance(row, int)]
    left, right = sides_of(found)
    assert len(left_out) == 2 and sum(left_out) > 900 and sum(left_out) + len(left.split()) == 1000
    assert "new" in right and found.common == 1000
    same = compared(" ".join(words), " ".join(words))  # how they begin is shown
    assert [kind for kind, _ in same.inline] == ["same", "left out"] and sides_of(same)[0].startswith("w0 w1 ")


def test_lines_of_code_begin_with_their_indentation():
    code = "def f(x):\n    if x:\n\n        return 1\n\treturn 2\n"
    found = compared(code, code.replace("if x", "if y"))
    assert found.code and sides_of(found)[0] == code and not compared("a\nb\nc", "a\nb\nc").code
    begins = [row[0][1][: len(row[0][1]) - len(row[0][1].lstrip())] for row in found.rows]
    assert begins == ["", "    ", "        ", "\t"]


HOSTILE = [
    b"<script>alert(1)</script>" * 2_000, b"W" * 200_000, b"a b\n" * 9_000, "\u202e\u2028".encode() * 60_000,
    b"'\"&<>" * 9_000, b"\xff\xfe" * 100_000, "שלום ".encode() * 5_000, b"", b" \n ", b"x <b>",
    "".join(chr(i) for i in range(1, 3000)).encode(),
]  # fmt: skip


def test_no_text_takes_more_room_than_it_is_given():
    for most, left, right in product((100, 7_000), HOSTILE, HOSTILE[::5]):
        found = compare(left, right, Shingling(), most)
        inline = sum(len(html.escape(text).encode()) + 12 for _, text in found.inline)
        assert max(len(as_json(found.rows).encode()), inline) <= 2 * most + 1_000
        json.dumps(found.to_dict())
    left, right = (" ".join(f"{letter}{i}" for i in range(5000)) for letter in "ab")
    assert "the view is cut here" in compared(left, right, 500).cut
    assert compared(*["ab " * 100_000] * 2, 5_000).cut == "only the first 100,000 characters were compared"


def test_hashes_hide_words_but_not_which_are_equal():
    left, right = "secret words are here, and secret ones", "secret words were here, and secret twos"
    hide, other = redactor_of(b"key"), redactor_of(b"other")
    found = compare(left.encode(), right.encode(), Shingling(width=1), 10_000, hide)
    told, said = json.dumps([found.rows, found.inline]), sides_of(found)[0].split()
    assert not any(word in told for word in (left + right).replace(",", "").split())
    assert said[0] == said[6] and len(set(said)) == len(said) - 1 and hide("secret") != other("secret")


def test_how_a_text_begins_is_said_in_words():
    for text, begun in (
        ("Terms of Use\n============\n\n*  We  are\u202e", "Terms of Use We are⟨U+202E⟩"), ("=== ---", "=== ---"), ("", ""),
        ("word " * 100, "word " * 13 + "word…"),
    ):  # fmt: skip
        assert begin_of(text) == begun
