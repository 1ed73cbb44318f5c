"""Long texts in lines of JSON are decoded part by part, to what they are as a whole."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from lookalike.formats import jsonl, rows
from lookalike.formats.rows import text_of


@given(
    st.text(st.sampled_from('ab"\\\n/é中𝄞\ud83d😀\u2028') | st.characters(exclude_categories=["Cs"])),
    st.booleans(),
    st.integers(1, 20),
)
def test_cut_anywhere(text, escaped, chunk):
    text = text.replace("\ud83d", "")
    line = json.dumps(text, ensure_ascii=escaped).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "CHUNK", chunk)
        assert text_of(msgspec.Raw(line)) == text.encode()


@pytest.mark.parametrize("line", [b"1", b"[]", b'"\\ud83d"', b'"\\ude00 x"', b'"\xff"', b'"a\\q"', b'"a\x00"'])
def test_what_is_no_text_is_refused(line):
    assert text_of(msgspec.Raw(b"null")) is None
    with pytest.raises((msgspec.DecodeError, UnicodeError)):
        text_of(msgspec.Raw(line))


@pytest.mark.parametrize("value", ["null", "5", '"a \\ud83d b"', '"\\ud83d\\ude00 \\\\ud83d é"', '"\xff"'])
@pytest.mark.parametrize("errors", ["strict", "replace"])
def test_long_lines_are_read_as_short_ones(tmp_path, monkeypatch, value, errors):
    """The same texts, or the same error."""
    (tmp_path / "in.jsonl").write_bytes(f'{{"id": 7, "text": {value}}}\n'.encode("latin-1" if "\xff" in value else "utf-8"))
    found = []
    for long in (1 << 20, 3):
        monkeypatch.setattr(jsonl, "LONG", long)
        try:
            found.append(la.dedup(tmp_path / "in.jsonl", id="id", encoding_errors=errors).decisions.to_pylist())
        except la.InputDataError as error:
            found.append(str(error))
    assert found[0] == found[1]
