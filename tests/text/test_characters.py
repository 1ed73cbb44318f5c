"""Normal forms of texts that lie anywhere in their array."""

import unicodedata

import pytest

from semblance.text.shingle import Shingling
from semblance.text.texts import Texts, from_strings


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
