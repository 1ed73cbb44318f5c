import unicodedata
from itertools import pairwise

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

import lookalike as la
from lookalike.report.diff import pieces_of, shared, shingles_of, tokens_of, visible, words_of
from lookalike.text.shingle import Shingling

TEXTS = [
    "", "one", "One two, three.", "e\u0301a b\u0301", "\u0301abc", "ไทยภาษา abc", "日本語テスト ab中c", "a\u200db c", "ÀÉ x's 1.5",
    "a  b\t\tc\n\n d ", "no\u00a0break", "한국어 조사", "\U0001f600 smile", "x" * 300 + " y", "\n \n", "\x1f\n\xa0", "a\nb\n\n  c d\n", "a\rb\r\n\vc\fd\x85e\u2028f\u2029g",
]  # fmt: skip


def many(texts):
    def decorated(test):
        for text in texts:
            test = example(text)(test)
        return test

    return decorated


@given(st.text(max_size=40))
@many(TEXTS)
def test_places_are_known_of_any_text_as_it_is(text):
    """Pieces and white space are the whole text."""
    for unit in ("word", "char", "byte", "line"):
        how = {"unit": unit, "width": 1, "normalization": "none", "fold_case": False}
        shingling, n = Shingling(**how), len(la.shingle([text], **how).values)
        values = shingles_of(text, shingling) or [np.empty(0)]
        assert len({*values[0].tolist()}) == n and len(values[0]) == len(tokens_of(text, shingling))
    spans, rest = pieces_of(text).tolist(), list(text)
    for a, b in spans:
        rest[a:b] = [" "] * (b - a)
    assert not "".join(rest).strip()
    assert all(a < b for a, b in spans) and all(x[1] <= y[0] for x, y in pairwise(spans))
    masks = shared(text, text + " z", Shingling(width=1))
    assert masks is None or (masks[0].any() and [len(mask) for mask in masks] == [len(text), len(text) + 2])


def test_a_token_of_the_text_is_where_it_is_said_to_be():
    text = "Hello, wide 世界!"
    assert [text[a:b] for a, b in words_of(text).tolist()] == ["Hello", "wide", "世", "界"]
    assert [text[a:b] for a, b in pieces_of(text).tolist()] == ["Hello", ",", "wide", "世", "界", "!"]


def covered(left, right, **how):
    masks = shared(left, right, Shingling(**how))
    return ["".join(np.array([*text])[mask]) for text, mask in zip((left, right), masks, strict=True)]


def test_shared_shingles_cover_what_both_have():
    assert covered("a b c d e f g h i j k", "x y a b c d e f z z z", width=5) == ["a b c d e f"] * 2
    texts = "One Two three four five", "one two three FOUR five"
    assert covered(*texts) == [*texts] and covered(*texts, fold_case=False) == ["", ""]


def test_it_is_said_where_shingles_have_no_places():
    assert shared("a b", "a b", Shingling(tokenizer=str.split)) is None
    assert shared("", "a b", Shingling()) is None
    assert shared("\u01c4 b c d e f", "a b c d e f g", Shingling(unit="char", normalization="NFKC")) is None


def test_what_cannot_be_seen_becomes_a_symbol():
    assert visible("a\x00\x1b[31m\u202e\u2066b\u2028\u2029\xad\ufeff\ue000\x7f\x85") == (
        "a⟨U+0000⟩⟨U+001B⟩[31m⟨U+202E⟩⟨U+2066⟩b⟨U+2028⟩⟨U+2029⟩⟨U+00AD⟩⟨U+FEFF⟩⟨U+E000⟩⟨U+007F⟩⟨U+0085⟩"
    )
    seen = "tab\tand\nline, é 世界 שלום نص\u200cها \u3000\u00a0<b>&"
    assert visible(seen) == seen
    assert visible("\ud800") == "⟨U+D800⟩" and visible("\r") == "⟨U+000D⟩"


@given(st.text(st.characters(), max_size=50))
def test_nothing_invisible_is_left(text):
    shown = visible(text)
    bad = [c for c in shown if not c.isprintable() and c not in "\n\t\u200c\u200d" and unicodedata.category(c) != "Zs"]
    assert bad == [] and visible(shown) == shown
