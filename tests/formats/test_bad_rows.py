"""Rows and files that cannot be read: the error names file and row; long texts are decoded part by part, to what they are."""

import gzip
import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from lookalike.formats import jsonl, rows
from lookalike.formats.rows import text_of


def test_missing_and_unknown_inputs(tmp_path):
    (tmp_path / "data.xyz").write_text("x")
    for name, message in (("*.jsonl", "no file matches"), (".", "no file with a known"), ("data.xyz", "unrecognized suffix")):
        with pytest.raises(la.errors.InputDataError, match=message):
            la.dedup(str(tmp_path / name))


@given(st.text(st.sampled_from('ab"\\\n/é中𝄞😀\u2028') | st.characters(codec="utf-8")), st.booleans(), st.integers(1, 20))
def test_cut_anywhere(text, escaped, chunk):
    line = json.dumps(text, ensure_ascii=escaped).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "CHUNK", chunk)
        assert text_of(msgspec.Raw(line)) == text.encode()


def test_what_is_no_text_is_refused():
    for line in [b"1", b"[]", b'"\\ud83d"', b'"\\ude00 x"', b'"\xff"', b'"a\\q"', b'"a\x00"']:
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
        except la.errors.InputDataError as error:
            found.append(str(error))
    assert found[0] == found[1]


TEXTS = [" ".join(f"w{number}x{word}" for word in range(400)) for number in range(20)]


def _as_csv(texts):
    return b"text\n" + b"".join(text.encode() + b"\n" for text in texts)


def _as_mailbox(texts):
    line = "From a@b Mon Jan  1 00:00:00 2001\nFrom: a\nSubject: b\n\n"
    return "".join(f"{line}{text}\n\n" for text in texts).encode()


def _as_warc(texts):
    head = "WARC/1.0\r\nWARC-Type: conversion\r\nContent-Type: text/plain\r\nContent-Length: "
    return "".join(f"{head}{len(text)}\r\n\r\n{text}\r\n\r\n" for text in texts).encode()


@pytest.mark.parametrize("make, name", [(_as_csv, "a.csv.gz"), (_as_mailbox, "a.mbox.gz"), (_as_warc, "a.warc.gz")])
def test_what_comes_before_a_cut_is_read_and_written(tmp_path, make, name):
    (tmp_path / name).write_bytes(gzip.compress(make(TEXTS))[:-200])
    result = la.dedup(tmp_path / name, on_error="skip")
    assert result.keep.sum() >= 10
    result.write(tmp_path / "out")
    written = gzip.decompress((tmp_path / "out" / name).read_bytes()).decode()
    assert sum(text in written for text in TEXTS) == result.keep.sum()


def test_a_warc_file_that_is_cut_is_written_up_to_there(tmp_path):
    whole = _as_warc(TEXTS)
    (tmp_path / "a.warc").write_bytes(whole[:-100])
    la.dedup(tmp_path / "a.warc", on_error="skip").write(tmp_path / "out")
    assert (tmp_path / "out" / "a.warc").read_bytes() == _as_warc(TEXTS[:-1])


@pytest.mark.parametrize("n_read", [0, 1, 3])
def test_messages_at_the_end_that_cannot_be_read_stay_in_the_mailbox(tmp_path, n_read):
    line = b"From a@b Mon Jan  1 00:00:00 2001\nFrom: a\nContent-Type: application/pdf\n\nMIIB\n\n"
    content = _as_mailbox(TEXTS[:n_read]) + 2 * line
    (tmp_path / "a.mbox").write_bytes(content)
    la.dedup(tmp_path / "a.mbox", on_error="skip" if n_read else None).write(tmp_path / "out")
    assert (tmp_path / "out" / "a.mbox").read_bytes() == content
