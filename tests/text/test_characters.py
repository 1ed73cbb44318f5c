import unicodedata

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.text import characters
from lookalike.text.shingle import Shingling
from lookalike.text.texts import Texts, from_arrow_array

same_unicode = pytest.mark.skipif(
    unicodedata.unidata_version != characters.UNICODE_VERSION,
    reason=f"needs an interpreter with Unicode {characters.UNICODE_VERSION}",
)
FORMS = ("NFC", "NFKC")
MARKS = "\u0301\u0316\u0344\u0345\u0338\u05b0\u0651\u1dca\u3099\u0f73\u0f75\u0f81\uff9e\uff9f\u1161\u11a8\u0308\u0303"
PIECES = [*"a\u1e69\u0627\u304b\uff76\u4e00 \ud7a3\uac00\u1100\ufb2c\U0001d160", *MARKS]


@pytest.mark.parametrize("form", FORMS)
@given(st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from([1, 2, 23, 24, 25, 50])), max_size=8), st.randoms())
def test_runs_of_marks_in_any_order_have_the_normal_form_of_python(form, pieces, chance):
    marks = [chance.choice(MARKS) for _ in range(chance.choice([0, 24, 25, 80]))]
    text = "".join([piece * times for piece, times in pieces] + marks)
    assert characters.normalize(text, form) == unicodedata.normalize(form, text)


def test_a_long_run_of_marks_takes_no_longer_than_others():
    n = 1 << 18
    assert characters.normalize("\udc80e\u0301\ud800\u0301", "NFC") == "\udc80\u00e9\ud800\u0301", "surrogates stay"
    assert characters.normalize("a" + "\u0301\u0316" * n, "NFC") == "\u00e1" + "\u0316" * n + "\u0301" * (n - 1)


@same_unicode
@pytest.mark.parametrize("form", FORMS)
def test_tables_of_normal_forms_are_those_of_the_pinned_version(form):
    every = [chr(point) for point in range(0x110000) if not 0xD800 <= point < 0xE000]
    classes = {unicodedata.combining(c): c for c in every}
    marks = "".join(classes[order] for order in sorted(classes, reverse=True) if order)
    for text in ("\n".join(every), "\n".join(f"-{c}{marks}" for c in every if unicodedata.combining(c))):
        assert characters.normalize(text, form) == unicodedata.normalize(form, text)


BROKEN = [b"\xff", b"\xc3", b"\xa9", b"\xed\xa0\x80", b"\xe2\x82", b"\xf0\x9f", b"\xcc\x81", b"\xf5", b"\xc0\x80"]
ROWS = st.lists(st.tuples(st.sampled_from([*PIECES, "e\u0301", "e", *BROKEN]), st.sampled_from([1, 2, 40, 70])), max_size=9)


@given(st.lists(ROWS, max_size=4))
def test_texts_have_the_normal_form_of_each_alone(rows):
    data = [b"".join((p if isinstance(p, bytes) else p.encode()) * times for p, times in row) for row in rows]
    texts = from_arrow_array(pa.array(data, "large_binary"))
    expected = [unicodedata.normalize("NFC", text.decode("utf-8", "surrogateescape")) for text in data]
    for first in {0, len(data) // 2}:  # texts behind others, too
        found = Shingling().normalized(Texts(texts.data, texts.offsets[first:]))
        assert [found.row(i).decode("utf-8", "surrogateescape") for i in range(len(found))] == expected[first:]
    found = Shingling().normalized(texts)
    assert Shingling().normalized(found) is found, "texts that are normal are the very same"
