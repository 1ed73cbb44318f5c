import unicodedata

import numpy as np
import pytest
from naive.text import collapsed, decoded, fold, pieces, shown

from lookalike.text.shingle import Shingling
from lookalike.text.texts import from_bytes

ALPHABET = [
    *"abAZ09_-.\n\t éßİŉΐ漢字かがカ゛ไทยｶﾞ½ﬁ™…\u0301\u0323\u3099\u1fef\u212b\u2028\x85한한ﷺ", "e\u0301", "c\u0327\u0301", "\u00ad", "\u200b", "\u200d", "e\u034f\u0301", "\ufe0f", "\v", "\f", "\r", "\u2029", b"\xff", b"\xe3\x81",
    "plain words and more 12 of_them " * 9,
]  # fmt: skip


def texts(rng, n):
    for _ in range(n):
        some = [ALPHABET[i] for i in rng.integers(0, len(ALPHABET), rng.integers(0, 120))]
        yield b"".join(one if isinstance(one, bytes) else one.encode() for one in some)


def normal(text, form):
    return text if form == "none" else unicodedata.normalize(form, text)


@pytest.mark.parametrize("unit", ["word", "char", "byte", "line"])
@pytest.mark.parametrize(("form", "fold_case"), [("none", True), ("NFC", True), ("NFC", False), ("NFKC", False)])
def test_a_place_holds_its_token(rng, unit, form, fold_case):
    shingling, made = Shingling(unit=unit, width=1, normalization=form, fold_case=fold_case), [*texts(rng, 150)]
    where = from_bytes(made)
    offsets = shingling.hashes(where)[1]
    tokens = np.concatenate([np.arange(n) for n in np.diff(offsets)])
    begins, ends = shingling.places(where, np.repeat(np.arange(len(where)), np.diff(offsets)), tokens, tokens)
    for data, first, last in zip(made, offsets[:-1], offsets[1:], strict=True):
        wanted = [*data] if unit == "byte" else pieces(normal(shown(decoded(data), unit), form), unit, fold_case)
        assert len(wanted) == last - first and (np.diff(begins[first:last]) >= 0).all()
        for token, begin, end in zip(wanted, begins[first:last], ends[first:last], strict=True):
            if unit == "byte":
                assert data[begin:end] == bytes([token])
                continue
            plain = shown(decoded(data[begin:end]), unit)
            there = normal(plain, form)
            if unit == "char":
                assert token in fold(there, fold_case) or token == collapsed(f"a{there}a", False)[1:-1]
            else:
                found = pieces(there, unit, fold_case)
                assert found == [token] or (there != plain and token in "".join(found))
