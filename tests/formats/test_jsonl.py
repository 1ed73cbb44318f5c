import json

import msgspec
import pytest
from formats.jobs import put
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from lookalike.formats import jsonl, rows
from lookalike.formats.rows import text_of


@given(st.text(st.sampled_from('ab"\\\n/é中𝄞😀\u2028') | st.characters(codec="utf-8")), st.booleans(), st.integers(1, 20))
def test_cut_anywhere(text, escaped, chunk):
    line = json.dumps(text, ensure_ascii=escaped).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "CHUNK", chunk)
        assert text_of(msgspec.Raw(line)) == text.encode()


@pytest.mark.parametrize("value", ["null", "5", '"a \\ud83d b"', '"\\ud83d\\ude00 \\\\ud83d é"', '"\xff"'])
@pytest.mark.parametrize("errors", ["strict", "replace"])
def test_long_lines_are_read_as_short_ones(tmp_path, monkeypatch, value, errors):
    line = f'{{"id": 7, "text": {value}}}\n'.encode("latin-1" if "\xff" in value else "utf-8")
    path, found = put(tmp_path / "in.jsonl", line), []
    for long in (1 << 20, 3):
        monkeypatch.setattr(jsonl, "LONG", long)
        try:
            found.append(la.dedup(path, id="id", encoding_errors=errors).decisions.to_pylist())
        except la.errors.InputDataError as error:
            found.append(str(error))
    assert found[0] == found[1]
