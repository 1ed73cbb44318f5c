"""CSV: what is written is taken apart by other readers as it was meant, and no field changes its column."""

import csv
import io
import pickle
import re
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pytest
from formats.format_samples import packed, sample
from formats.jobs import put, reasons, refused
from hypothesis import given, settings
from hypothesis import strategies as st
from json_lines import read_lines, write_lines
from row_files import read
from samples import one_in

import lookalike as la
from lookalike.formats.sources import open_sources
from lookalike.values.arrow import to_numpy

A = "one two three four five six seven eight"
B = "nothing that stands in here is in any of the others"
HOSTILE = ["", '"', '""', ",", "\r", "\n", "\r\n", "\ufeff", "\0", " ", " a", "a ", "\t", "'", "\\", "\\n", "é", "東", "\u2028", "\x85", "\x0b",
           "null", "NA", "=1+1", "#", ";", "a\rb", 'a"b', "a,b", "a\nb", "\ra", "a\r", '"a', 'a"', "0x1F", "007", "1e5", "true"]  # fmt: skip
cells = st.one_of(st.sampled_from(HOSTILE), st.lists(st.sampled_from(HOSTILE), max_size=4).map("".join), st.text(max_size=8))
cells = cells.filter(lambda cell: cell.encode("utf-8", "ignore").decode() == cell)


def by_python(data):
    """The records as Python's reader has them, with every complaint an error."""
    return [row for row in csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""), strict=True) if row]


def by_arrow(data, names):
    """The records as Arrow's reader has them, all of text."""
    text = pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False)
    parse = pyarrow.csv.ParseOptions(newlines_in_values=True)
    table = pyarrow.csv.read_csv(io.BytesIO(data), convert_options=text, parse_options=parse)
    return [table.column_names, *([str(value) for value in row.values()] for row in table.to_pylist())]


@settings(max_examples=60)
@given(data=st.data(), mark=st.sampled_from(["", "\ufeff"]), form=st.sampled_from(["csv", "jsonl", "parquet"]))
def test_any_reader_takes_records_apart_as_they_were(data, mark, form):
    """Copied, annotated or converted, from hostile names, ids and values."""
    n = data.draw(st.integers(1, 4))
    more = data.draw(st.lists(cells.filter(lambda c: c not in ("text", "id")), max_size=2, unique=True))
    names = data.draw(st.permutations(["text", "id", *more]))
    ids = data.draw(st.lists(cells.filter(bool), min_size=n, max_size=n, unique=True))  # an empty id is refused
    rows = [[{"text": A, "id": i}.get(name) or data.draw(cells) for name in names] for i in ids]
    with tempfile.TemporaryDirectory() as folder:
        at, how = Path(folder), {"quoting": csv.QUOTE_ALL} if form == "csv" else {}
        made = sample(form).make([dict(zip(names, row, strict=True)) for row in rows], **how)
        path = put(at / f"in.{form}", made if form == "parquet" else mark.encode() + made)
        result = la.dedup(path, id="id", threads=1)
        result.write(at / "kept.csv")
        kept = (at / "kept.csv").read_bytes()
        assert by_python(kept) == by_arrow(kept, names) == [names, rows[0]]
        result.write(at / "all.csv", annotate=True)
        written = (at / "all.csv").read_bytes()
        added = ["keep", "duplicate_of", "resemblance", "cluster"]
        if not set(added) & set(names):
            decided = [["true", "", "", ids[0]], *([["false", ids[0], "1.0", ids[0]]] * (n - 1))]
            expected = [names + added, *(row + more for row, more in zip(rows, decided, strict=True))]
            assert by_python(written) == by_arrow(written, names + added) == expected
        assert la.dedup(at / "all.csv", id="id", threads=1).keep.tolist() == [True] + [False] * (n - 1)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_short_rows_are_padded_before_columns_are_added(tmp_path, end):
    source = put(tmp_path / "in.csv", end.join(["text,b,c", f"{A},1,2", f"{B},1", "something else altogether of words"]))
    result = la.dedup(source)
    result.write(tmp_path / "kept.csv")
    assert (tmp_path / "kept.csv").read_bytes() == source.read_bytes()
    result.write(tmp_path / "all.csv", annotate=True)
    found = [row[1:4] + row[-1:] for row in by_python((tmp_path / "all.csv").read_bytes())[1:]]
    assert found == [["1", "2", "true", f"{source}:1"], ["1", "", "true", f"{source}:2"], ["", "", "true", f"{source}:3"]]
    result.write(tmp_path / "all.jsonl")
    assert [(row["b"], row["c"]) for row in read_lines(tmp_path / "all.jsonl")] == [("1", "2"), ("1", None), (None, None)]


def test_lines_in_fields_do_not_count_as_rows(tmp_path):
    source = put(tmp_path / "in.csv", f'id,text\n"a\nb","{A}\r\n\n"\nc,"{A}"\nd,x,y\n')
    refused(r"in\.csv, row 3: 3 fields", la.dedup, source)


@pytest.mark.parametrize("first", ["", "\ufeff"])
def test_byte_order_marks_stay_at_the_beginning(tmp_path, first):
    one = put(tmp_path / "one.csv", f"{first}id,text\n1,{A}")
    row = f'\ufeff2,"{B}"\n'  # here the character belongs to the id
    result = la.dedup([one, put(tmp_path / "two.csv", f'\ufeff"id",text\n{row}')], id="id")
    result.write(tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == f"{one.read_text()}\n{row}"
    result.write(tmp_path / "out.jsonl")
    assert [row["id"] for row in read_lines(tmp_path / "out.jsonl")] == ["1", "\ufeff2"]


def test_files_of_other_columns(tmp_path):
    """Values go into the column of their name; a column that the first file lacks is refused, and named."""
    rows = f"id,text,n\n1,{A},x\n", f"n,id,text\ny,2,{B}\n", "text,id\nwords of its own,3\n", "text,id,z\nof a fourth kind,4,\n"
    one, two, three, four = (put(tmp_path / f"{place}.csv", text) for place, text in enumerate(rows))
    la.dedup([one, two, three], id="id").write(tmp_path / "out.csv")
    written = by_python((tmp_path / "out.csv").read_bytes())[1:]
    assert written == [["1", A, "x"], ["2", B, "y"], ["3", "words of its own", ""]]
    said = r"3\.csv, row 1: it has fields that the first row lacks \('z'\).*write \.jsonl"
    refused(said, la.dedup([one, four], id="id").write, tmp_path / "bad.csv", error=la.errors.OutputError)
    la.dedup([three, one, four], id="id").write(tmp_path / "out.parquet")
    found = pa.parquet.read_table(tmp_path / "out.parquet").drop_columns("text").to_pydict()
    assert found == {"id": ["3", "1", "4"], "n": [None, "x", None], "z": [None, None, ""]}


def test_null_and_an_empty_text_differ(tmp_path):
    source, out = tmp_path / "in.jsonl", tmp_path / "out.csv"
    la.dedup(write_lines(source, [{"text": A, "n": None}, {"text": B, "n": ""}, {"text": None}])).write(out)
    assert out.read_text() == f'text,n\n{A},\n{B},""\n,\n'
    la.dedup(write_lines(source, [{"text": None}, {"text": "a"}])).write(out, force=True)
    assert by_python(out.read_bytes()) == [["text"], [""], ["a"]]


@pytest.mark.parametrize(("delimiter", "suffix"), one_in(2, [";", "|", "\t", r"\t", "¦", " "], [".csv", ".tsv", ".csv.bz2"]))
def test_other_delimiters_are_read_and_written_back(tmp_path, delimiter, suffix):
    mark = "\t" if delimiter == r"\t" else delimiter
    text = f'"{A}, {mark} ""x"""'
    raw = [line.replace("|", mark) for line in ('id|"text"|n\r\n', f'1|{text}|"1|5"\n', f"2|{text}|\n", "3|a,b\n")]
    path = put(tmp_path / f"in{suffix}", packed("".join(raw).encode(), suffix))
    result = la.dedup(path, id="id", delimiter=delimiter)
    assert result.keep.tolist() == [True, False, True]
    result.write(tmp_path / "out")
    result.write(tmp_path / "out.csv")
    assert read(tmp_path / "out" / path.name).decode() == read(tmp_path / "out.csv").decode() == raw[0] + raw[1] + raw[3]
    result.write(tmp_path / "all.tsv", annotate=True)
    rows = list(csv.reader(io.StringIO(read(tmp_path / "all.tsv").decode(), newline=""), delimiter="\t", strict=True))
    assert rows[0] == ["id", "text", "n", "keep", "duplicate_of", "resemblance", "cluster"]
    assert rows[2] == ["2", f'{A}, {mark} "x"', "", "false", "1", "1.0", "1"]
    assert rows[3] == ["3", "a,b", "", "true", "", "", "3"]
    assert len(la.dedup(tmp_path / "all.tsv", id="id")) == 3, "as its suffix says"


def test_a_delimiter_is_known_wherever_texts_are_read_again(tmp_path):
    """From a saved result, in another process, and by a job that goes on."""
    path = put(tmp_path / "in.csv", f"id;text\n1;{A}\n2;{B}\n")
    result = la.dedup(path, id="id", delimiter=";")
    result.save(tmp_path / "saved")
    loaded = la.Result.load(tmp_path / "saved")
    assert loaded.settings.delimiter == ";" and loaded.provenance["parameters"]["delimiter"] == ";"
    found = loaded.inputs.texts(to_numpy(loaded.decisions["position"]), loaded.settings)
    assert list(found.values()) == [A.encode(), B.encode()]
    (split,) = pickle.loads(pickle.dumps(open_sources([path], delimiter=";")))
    assert [row["text"] for _, row in split.records()] == [A, B]
    result.save_sketches(tmp_path / "sketches")
    assert la.dedup([A, "more"], against=tmp_path / "sketches").keep.tolist() == [False, True]
    assert "delimiter" not in la.dedup([A]).provenance["parameters"]


@pytest.mark.parametrize("given", ["", ";;", '"', "a", "7", ".", "-", "\n", "\r", "\0", "\ufeff", "\ud800"])
def test_what_is_no_delimiter(tmp_path, given):
    path = put(tmp_path / "in.csv", "text\na\n")
    refused("delimiter must be one character", la.dedup, path, delimiter=given, error=la.errors.ParameterError)


@pytest.mark.parametrize(
    ("header", "row", "more"),
    [("x,x,text", "b1,b2,{}", ""), ("text,x,x", "{},b1,b2", ""), ("a,text,b,b,a,", '"b 1",{},b2,,b3,', ""), ("x,text,x", "b1,{}", ",")],
)  # fmt: skip
def test_columns_of_one_name_stay_where_they_are(tmp_path, header, row, more):
    """Also in records of which a part of the text is left out."""
    shared = "These are words that stand in every page of the whole site."
    rows = [row.format(f'"{shared}\nOnly {word}, and nothing else at all."') for word in ("ants", "bees", "cats", "dogs")]
    la.repeats(put(tmp_path / "in.csv", "\n".join([header, *rows]) + "\n")).write(tmp_path / "out.csv")
    found = by_python((tmp_path / "out.csv").read_bytes())
    place = found[0].index("text")
    assert found[0] == header.split(",") and len(found) == 5
    for before, after in zip(csv.reader(rows), found[1:], strict=True):
        assert before[:place] + before[place + 1 :] == after[:place] + after[place + 1 :]
    assert shared not in found[4][place] and "Only dogs" in found[4][place]


@pytest.mark.parametrize("header", ["id," + "x" * 300 + ",text", 'id,"text', 'id,"' + "x\n" * 100 + '",text'])
@pytest.mark.parametrize("on_error", ["skip", "stop"])
def test_a_header_is_never_passed_over(tmp_path, header, on_error, caplog):
    path = put(tmp_path / "in.csv", header + "\n" + "1,2,words of a document\n" * 20)
    said = r"line \d+: the header has more than the 100 bytes"
    refused(rf"in\.csv.*{said}", la.dedup, path, max_document="100B", on_error=on_error)
    assert bool(re.search(said, caplog.text)) is (on_error == "skip")


@pytest.mark.parametrize("large", ["x" * 300, '"' + "x\n" * 200 + '"', "x" * (3 << 20)])
def test_the_byte_that_is_not_utf8_is_named_after_records_that_were_left_out(tmp_path, monkeypatch, large, caplog):
    """Which are others in each batch."""
    monkeypatch.setattr("lookalike.formats.format.BLOCK", 0)
    data = f"id,text\n1,{large}\n2,short\n3,of its own\n4,".encode() + b"\xff\n"
    path = put(tmp_path / "in.csv", data)
    assert reasons(path, max_document="100B", on_error="skip") == ["skipped", "kept", "kept", "skipped"]
    assert f"invalid UTF-8 at byte {data.index(0xFF)} of the file" in caplog.text
