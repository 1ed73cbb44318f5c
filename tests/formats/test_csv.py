import csv
import io
import pickle
import tempfile
from pathlib import Path

import pyarrow.csv
from formats.format_samples import sample
from formats.jobs import put, reasons, refused_option
from hypothesis import given, settings
from hypothesis import strategies as st

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
    return [row for row in csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""), strict=True) if row]


def by_arrow(data, names):
    text = pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(names, "string"), strings_can_be_null=False)
    parse = pyarrow.csv.ParseOptions(newlines_in_values=True)
    table = pyarrow.csv.read_csv(io.BytesIO(data), convert_options=text, parse_options=parse)
    return [table.column_names, *([str(value) for value in row.values()] for row in table.to_pylist())]


@settings(max_examples=60)
@given(data=st.data(), mark=st.sampled_from(["", "\ufeff"]), form=st.sampled_from(["csv", "jsonl", "parquet"]))
def test_any_reader_takes_records_apart_as_they_were(data, mark, form):
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


def test_a_delimiter_is_known_wherever_texts_are_read_again(tmp_path):
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


def test_what_is_no_delimiter(tmp_path):
    path = put(tmp_path / "in.csv", "text\na\n")
    for mark in ["", ";;", *'"a7.-\n\r\0\ufeff\ud800']:
        refused_option("delimiter must be one character", la.dedup, path, delimiter=mark)


def test_the_byte_that_is_not_utf8_is_named_after_records_that_were_left_out(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr("lookalike.formats.format.BLOCK", 0)
    for large in ("x" * 300, '"' + "x\n" * 200 + '"', "x" * (3 << 20)):
        data = f"id,text\n1,{large}\n2,short\n3,of its own\n4,".encode() + b"\xff\n"
        path = put(tmp_path / "in.csv", data)
        assert reasons(path, max_document="100B", on_error="skip") == ["skipped", "kept", "kept", "skipped"]
        assert f"invalid UTF-8 at byte {data.index(0xFF)} of the file" in caplog.text
