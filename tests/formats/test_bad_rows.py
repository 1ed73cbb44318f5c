"""Rows and files that cannot be read: the error names file and row; long texts are decoded part by part, to what they are."""

import gzip
import json

import msgspec
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from row_files import A, lines, read, write

import lookalike as la
from lookalike.formats import jsonl, rows
from lookalike.formats.rows import text_of

B = "another text altogether, of nine words or so, yes"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"text": "a"}\n{"body": "b"}\n', r"row 2: field 'text' is missing; fields found: body"),
        (b'{"text": "a"}\n\n{"text": 5}\n', r"row 3: field 'text' must be a string or null; found 5"),
        (b'{"text": "a"\n', r"row 1: not valid JSON"),
        (b'["text"]\n', r"row 1: an object is expected"),
        (b'{"text": "a"}\n{"text": "ab\xffcd"}\n', r"row 2: invalid UTF-8 at byte 26 of the file"),
        (b'{"text": "\\ud800"}\n', r"row 1: field 'text' holds a lone surrogate"),
        ('{"text": "a"}'.encode("utf-16"), r"row 1: invalid UTF-8 at byte 0 of the file \(it looks like UTF-16\)"),
    ],
)
def test_jsonl_errors_name_file_and_row(tmp_path, content, message):
    source = write(tmp_path / "in.jsonl", [content])
    with pytest.raises(la.InputDataError, match=r"in\.jsonl, " + message):
        la.dedup(source)


def test_invalid_utf8_can_be_replaced(tmp_path):
    bad = b'{"text": "ab\xffcd"}\n{"text": "ab cd"}\n{"text": "x \\ud800 y"}\n'
    source = write(tmp_path / "in.jsonl", [bad])
    result = la.dedup(source, encoding_errors="replace", width=2)
    assert result.keep.tolist() == [True, False, True]
    result.write(tmp_path / "out.jsonl")
    assert read(tmp_path / "out.jsonl").splitlines()[0] == bad.splitlines()[0]
    (tmp_path / "bad.txt").write_bytes(b"ab\xffcd")
    with pytest.raises(la.InputDataError, match=r"bad\.txt: invalid UTF-8 at byte 2"):
        la.dedup(tmp_path / "bad.txt")
    assert len(la.dedup(tmp_path / "bad.txt", encoding_errors="replace")) == 1
    (tmp_path / "bad.csv").write_bytes(b"text\nok\nab\xffcd\n")
    with pytest.raises(la.InputDataError, match=r"bad\.csv, line 3: invalid UTF-8 at byte 10"):
        la.dedup(tmp_path / "bad.csv")
    binary = pa.array([b"fine", b"ab\xffcd"], pa.binary())
    with pytest.raises(la.InputDataError, match="row 1: invalid UTF-8 at byte 2 of the text"):
        la.dedup(binary)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"id,body\n1,x\n", r"header: column 'text' is missing; columns found: id, body"),
        (b"id;text\n1;x\n", r"header: column 'text' is missing; columns found: id;text; fields must be separated by ','"),
        (b"id,text\n1,x\n2\n", r"row 2: 1 fields where the header names 2"),
        (b'id,text\n1,"x\n', r"line \d: not valid CSV"),
    ],
)
def test_csv_errors(tmp_path, content, message):
    source = write(tmp_path / "in.csv", [content])
    with pytest.raises(la.InputDataError, match=r"in\.csv, " + message):
        la.dedup(source)


@pytest.mark.parametrize("ids", [["a", "b", "a"], [1, 2, 1], [1, "1", 2]])
def test_ids_are_unique(tmp_path, ids):
    rows = [{"id": i, "text": f"text {n}"} for n, i in enumerate(ids)]
    source = write(tmp_path / "in.jsonl", lines(rows))
    with pytest.raises(la.InputDataError, match=r"twice: .*in\.jsonl, row 1 and .*in\.jsonl, row [23]"):
        la.dedup(source, id="id")


@pytest.mark.parametrize("wrong", [None, 1.5, [1], True])
def test_ids_are_text_or_integers(tmp_path, wrong):
    source = write(tmp_path / "in.jsonl", lines([{"id": 1, "text": "a"}, {"id": wrong, "text": "b"}]))
    with pytest.raises(la.InputDataError, match="row 2: an id must be a str or an int"):
        la.dedup(source, id="id")


def test_ids_in_tables():
    with pytest.raises(la.InputDataError, match="row 1: the id is null"):
        la.dedup(pa.table({"text": ["a", "b"], "id": [1, None]}), id="id")
    with pytest.raises(la.InputDataError, match="holds double"):
        la.dedup(pa.table({"text": ["a", "b"], "id": [1.0, 2.0]}), id="id")
    with pytest.raises(la.InputDataError, match="column 'url' is missing; columns found: text"):
        la.dedup(pa.table({"text": ["a"]}), id="url")
    huge = pa.table({"text": [A, A], "id": pa.array([1 << 63, 5], pa.uint64())})
    assert la.dedup(huge, id="id").removed["duplicate_of"].to_pylist() == [str(1 << 63)]


def test_annotation_columns_must_be_free(tmp_path):
    source = write(tmp_path / "in.jsonl", lines([{"text": "a", "keep": 1}]))
    with pytest.raises(la.InputDataError, match="'keep' is there already"):
        la.dedup(source, annotate=True)
    assert len(la.dedup(source)) == 1
    with pytest.raises(la.InputDataError, match="row 1: the field 'keep' is there already"):
        la.dedup(source).write(tmp_path / "x.jsonl", annotate=True)
    (tmp_path / "in.csv").write_text("text,cluster\na,b\n")
    for data in (pa.table({"text": ["a"], "cluster": [1]}), tmp_path / "in.csv"):
        with pytest.raises(la.InputDataError, match="'cluster' is there already"):
            la.dedup(data, annotate=True)
        with pytest.raises(la.InputDataError, match="'cluster' is there already"):
            la.dedup(data).write(tmp_path / "x.jsonl", annotate=True)
    assert not (tmp_path / "x.jsonl").exists()


LINES = [b'{"id": "a", "text": "one two three four five six"}\n', b'{"id": "b", "text": "else"}\n']


@pytest.mark.parametrize("name", ["in.parquet", "in.jsonl.gz", "in.jsonl.zst"])
def test_damaged_files(tmp_path, name):
    (tmp_path / name).write_bytes(b"not what it says")
    with pytest.raises(la.InputDataError, match=name):
        la.dedup(tmp_path / name)


def test_cut_short_gzip(tmp_path):
    data = gzip.compress(b"".join(LINES * 100))
    (tmp_path / "in.jsonl.gz").write_bytes(data[: len(data) // 2])
    with pytest.raises(la.InputDataError, match="damaged or cut short"):
        la.dedup(tmp_path / "in.jsonl.gz")


def test_gzip_of_several_members(tmp_path):
    (tmp_path / "in.jsonl.gz").write_bytes(b"".join(gzip.compress(line) for line in LINES))
    assert len(la.dedup(tmp_path / "in.jsonl.gz")) == 2


def test_missing_and_unknown_inputs(tmp_path):
    for path, message in (
        ("none.jsonl", "no file of that name"),
        ("*.jsonl", "no file matches"),
        (".", "no file with a known"),
    ):
        with pytest.raises(la.InputDataError, match=message):
            la.dedup(str(tmp_path / path))
    (tmp_path / "data.xyz").write_text("x")
    with pytest.raises(la.InputDataError, match="unrecognized suffix"):
        la.dedup(str(tmp_path / "data.xyz"))
    source = tmp_path / "in.jsonl"
    source.write_bytes(b"".join(LINES))
    with pytest.raises(la.InputDataError, match="given twice"):
        la.dedup([source, source])


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
