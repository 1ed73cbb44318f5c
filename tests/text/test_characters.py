"""Normal forms are those of Python, without the steps that grow as the square of a run of marks."""

import random
import unicodedata
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semblance.text import characters
from semblance.text.shingle import Shingling
from semblance.text.texts import Texts, from_arrow_array, from_strings

same_unicode = pytest.mark.skipif(
    unicodedata.unidata_version != characters.UNICODE_VERSION,
    reason=f"needs an interpreter with Unicode {characters.UNICODE_VERSION}",
)
MARKS = "\u0301\u0316\u0344\u0345\u0338\u05b0\u0651\u1dca\u3099" + "".join(map(chr, characters.MARKS_IN_PARTS))
PIECES = ["a", "\u1e69", "\u0627", "\u304b", "\uff76", "\u4e00", " ", *MARKS]


@pytest.mark.parametrize("form", ["NFC", "NFKC"])
@given(st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from([1, 2, 31, 32, 33, 50])), max_size=8), st.randoms())
def test_runs_of_marks_in_any_order_have_the_normal_form_of_python(form, pieces, chance):
    marks = [chance.choice(MARKS) for _ in range(chance.choice([0, 31, 33, 80]))]
    text = "".join([piece * times for piece, times in pieces] + marks)
    assert characters.normalize(text, form) == unicodedata.normalize(form, text)


def test_long_runs_come_in_order(monkeypatch):
    """What Python gets to order are marks that are in order already, and short runs."""
    given_runs = []

    def watched(form, text):
        classes = [unicodedata.combining(c) for c in text]
        given_runs.append(sum(a > b > 0 for a, b in pairwise(classes)))
        return found(form, text)

    found = unicodedata.normalize
    monkeypatch.setattr("semblance.text.characters.unicodedata.normalize", watched)
    marks = "".join(random.Random(1).choices(MARKS, k=500))
    for text in ("a" + marks + " b\u0301\u0316", marks, "a" * 40 + "\u0f73" * 500):
        given_runs.clear()
        characters.normalize(text, "NFC")
        assert max(given_runs) <= 1


@same_unicode
def test_all_that_decomposes_into_marks_counts_as_one():
    pages, kinds, *_ = characters.character_tables()
    classes = kinds[pages.astype(np.int64).repeat(128) * 128 + np.tile(np.arange(128), len(pages))] >> 8
    lacking = [
        point
        for point in np.flatnonzero(classes == 0).tolist()
        if not 0xD800 <= point < 0xE000 and unicodedata.combining(unicodedata.normalize("NFKD", chr(point))[0])
    ]
    assert lacking == list(characters.MARKS_IN_PARTS)


@given(
    st.lists(
        st.lists(
            st.tuples(st.sampled_from([*PIECES, "e\u0301", b"\xff", "\u0344"]), st.sampled_from([1, 2, 40, 70])), max_size=9
        ),
        max_size=4,
    )
)
def test_texts_have_the_normal_form_of_each_alone(rows):
    """Stretches near each other, far from each other and in different rows, invalid bytes between them."""
    data = [b"".join((p if isinstance(p, bytes) else p.encode()) * times for p, times in row) for row in rows]
    texts = from_arrow_array(pa.array(data, pa.large_binary()))
    found = Shingling().normalized(texts)
    for row, text in enumerate(data):
        expected = unicodedata.normalize("NFC", text.decode("utf-8", "surrogateescape"))
        assert found.row(row).decode("utf-8", "surrogateescape") == expected


def test_stretches_near_each_other_are_normalized_in_one_call(monkeypatch):
    calls, found = [], characters.normalize
    monkeypatch.setattr(characters, "normalize", lambda text, form: calls.append(text) or found(text, form))
    texts = from_strings(["re\u0301sume\u0301 " * 50, "a" * 99 + "e\u0301" + "b" * 99 + "e\u0301"])
    assert Shingling().normalized(texts).row(0).decode() == "r\u00e9sum\u00e9 " * 50
    assert len(calls) == 3


@pytest.mark.parametrize("first", [0, 1, 2, 3])
def test_texts_behind_others_are_normalized(first):
    strings = [
        "e\u0301t\u00e9",
        "plain, and longer than a block of sixty-four bytes can ever be, I would say",
        "A\u030a and \u212b",
        "x",
    ]
    every = from_strings(strings)
    found = Shingling(normalization="NFC").normalized(Texts(every.data, every.offsets[first:]))
    assert [found.row(i).decode() for i in range(len(found))] == [unicodedata.normalize("NFC", s) for s in strings[first:]]
