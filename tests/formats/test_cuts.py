"""Rows of which a part of the text is left out: in every format, and where one is converted into another."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from formats.format_samples import SAMPLES, TESTED
from formats.test_protocol import ROWS, contents, texts, written
from hypothesis import given
from hypothesis import strategies as st
from json_lines import read_lines, write_lines
from samples import one_in

import lookalike as la
from lookalike.formats.cuts import TextEdits
from lookalike.formats.format import Selection
from lookalike.formats.memory import as_sources
from lookalike.formats.registry import format_named
from lookalike.formats.sources import open_sources
from lookalike.formats.writers import check_shortening, table_of, write_rows

pytestmark = pytest.mark.usefixtures("toy")
MASK = np.arange(len(ROWS)) % 5 != 1


def ranges_of(i, text):
    """Some ranges of every third text: its first and last words, and what is between it and the middle."""
    data = (text or "").encode()
    if i % 3 or not data:
        return None if i % 2 else []
    middle = data.index(b"words")
    return [0, 3, middle, middle + 5, len(data) - 4, len(data)] if i % 2 else [middle, middle + 5]


def shortened(i, text, replacement):
    """What is left, piece by piece."""
    data, ranges = (text or "").encode(), ranges_of(i, text) or []
    for begin, end in reversed(list(zip(ranges[::2], ranges[1::2], strict=True))):
        data = data[:begin] + replacement.encode() + data[end:]
    return data.decode()


def selections(path, column="text", replacement="", mask=MASK, rows=ROWS, added=None):
    made = pa.array([ranges_of(i, row["text"]) for i, row in enumerate(rows)], pa.list_(pa.int64()))
    found = []
    for split in open_sources([path]):
        cuts = TextEdits(
            column=column, ranges=lambda first, last: iter([made.slice(first, last - first)]), replacement=replacement
        )
        found.append(Selection(split, mask, added, "strict", cuts))
    return found


WANTED = [(i, row) for i, (row, kept) in enumerate(zip(ROWS, MASK, strict=True)) if kept]


@pytest.mark.parametrize("replacement", ["", "[…]"])
@pytest.mark.parametrize(("name", "suffix"), [(name, suffix) for name in SAMPLES for suffix in TESTED[name]])
def test_a_part_of_the_text_is_left_out(tmp_path, name, suffix, replacement):
    path = written(tmp_path / "in", name, suffix)
    write_rows(tmp_path / "out/", selections(path, replacement=replacement), {})
    assert texts(open_sources([tmp_path / "out"])) == [shortened(i, row["text"], replacement) for i, row in WANTED]
    if format_named(name).has_columns:
        assert [row["id"] for row in contents(tmp_path / "out")] == [row["id"] for _, row in WANTED]


OUTPUTS = ["out.jsonl", "out.json", "out.csv", "out.tsv.gz", "out.parquet", "out.arrow", "out.orc"]


@pytest.mark.parametrize(("name", "output"), one_in(3, SAMPLES, OUTPUTS))
def test_and_of_rows_that_are_converted(tmp_path, name, output):
    def added(first, last):
        return pa.table({"double": pa.array([2 * i for i in range(first, last)], pa.int64())})

    path = written(tmp_path / "in", name, TESTED[name][0])
    write_rows(tmp_path / output, selections(path, replacement="#", added=added), {})
    found = contents(tmp_path / output)
    assert [row["text"] or "" for row in found] == [shortened(i, row["text"], "#") for i, row in WANTED]
    assert [int(row["double"]) for row in found] == [2 * i for i, _ in WANTED]


@pytest.mark.parametrize("name", ["jsonl", "json", "csv", "tsv"])
def test_other_rows_keep_their_bytes(tmp_path, name):
    rows = [f'{{"text":  "row {i}  words of it {i}", "x": 1e{i}}}' for i in range(9)]
    if "json" not in name:
        mark = {"csv": ",", "tsv": "\t"}[name]
        rows = [f'"row {i}  words of it {i}"{mark}"{i}"' for i in range(9)]
    head = {"jsonl": "", "json": "[\n", "csv": "text,x\r\n", "tsv": "text\tx\n"}[name]
    feed, tail = {"json": (",\n", "\n]\n"), "csv": ("\r\n", "\r\n")}.get(name, ("\n", "\n"))
    (tmp_path / f"in.{name}").write_bytes((head + feed.join(rows) + tail).encode())
    same = [{"text": f"row {i}  words of it {i}"} for i in range(9)]
    path = tmp_path / f"out.{name}"
    write_rows(path, selections(tmp_path / f"in.{name}", mask=np.ones(9, np.bool_), rows=same), {})
    found = path.read_bytes().decode().removeprefix(head).removesuffix(tail).split(feed)
    assert [line for i, line in enumerate(found) if i % 3] == [line for i, line in enumerate(rows) if i % 3]
    assert texts(open_sources([path])) == [shortened(i, row["text"], "") for i, row in enumerate(same)]


def test_types_of_columns_stay():
    for kind in [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string()), pa.string_view()]:
        texts_ = [row["text"] for row in ROWS]
        table = pa.table({"text": pa.array(texts_, pa.string()).cast(kind), "x": range(len(ROWS))})
        selection = selections_of_table(table)
        out = table_of([selection])
        assert out.schema.field("text").type == kind
        assert [text or "" for text in out["text"].to_pylist()] == [shortened(i, text, "") for i, text in enumerate(texts_)]


@pytest.mark.parametrize("index", [pa.int8(), pa.uint8()])
@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_dictionaries_have_room_for_what_is_left_of_texts(tmp_path, suffix, index):
    """A text that comes often can be cut in as many ways; also where it is inside another field, and where none is cut."""
    n, whole = 300, " ".join(f"w{i}" for i in range(200))
    coded = pa.array([whole] * n).dictionary_encode().cast(pa.dictionary(index, pa.string()))
    doc = pa.StructArray.from_arrays([coded, pa.array(range(n))], ["text", "n"])
    table = pa.table({"text": coded, "doc": doc, "same": coded})
    with pa.ipc.new_file(tmp_path / "in.arrow", table.schema) as out:
        out.write_table(table, max_chunksize=n // 3)
    for column, cut in (("text", n), ("doc.text", n), ("text", 0)):
        made = pa.array([[0, 1 + i % 250, 255 + i // 250, 600] if i < cut else None for i in range(n)], pa.list_(pa.int64()))
        cuts = TextEdits(column=column, ranges=lambda first, last, made=made: iter([made.slice(first, last - first)]))
        wanted = [whole[1 + i % 250 : 255 + i // 250] + whole[600:] if i < cut else whole for i in range(n)]
        for data in (as_sources(table), open_sources([tmp_path / "in.arrow"])):
            path = tmp_path / f"{column}-{cut}-{len(data[0].places)}.{suffix}"
            write_rows(path, [Selection(data[0], np.ones(n, np.bool_), None, "strict", cuts)], {})
            found = pq.read_table(path) if suffix == "parquet" else pa.ipc.open_file(path).read_all()
            texts_ = found["text"] if column == "text" else found["doc"].combine_chunks().field("text")
            assert texts_.to_pylist() == wanted
            kinds = texts_.type, found.schema.field("same").type
            decoded = pa.string(), pa.string()  # as Arrow files are written
            assert kinds == ((pa.dictionary(pa.int32(), pa.string()), coded.type) if suffix == "parquet" else decoded)


def selections_of_table(table, column="text"):
    made = pa.array([ranges_of(i, row["text"]) for i, row in enumerate(ROWS)], pa.list_(pa.int64()))
    cuts = TextEdits(column=column, ranges=lambda first, last: iter([made.slice(first, last - first)]))
    (split,) = as_sources(table)
    return Selection(split, np.ones(len(ROWS), np.bool_), None, "strict", cuts)


@pytest.mark.parametrize("suffix", ["parquet", "jsonl"])
def test_text_inside_another_field(tmp_path, suffix):
    rows = [{"id": i, "doc": {"lang": "de", "in": {"text": row["text"], "n": i}}} for i, row in enumerate(ROWS)]
    rows[2]["doc"] = None
    if suffix == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), tmp_path / "in.parquet")
    else:
        write_lines(tmp_path / "in.jsonl", rows)
    (selection,) = selections(tmp_path / f"in.{suffix}", "doc.in.text", mask=np.ones(len(ROWS), np.bool_))
    path = tmp_path / f"out.{suffix}"
    write_rows(path, [selection], {})
    found = pq.read_table(path).to_pylist() if suffix == "parquet" else read_lines(path)
    for i, row in enumerate(rows):
        if row["doc"] is not None and ranges_of(i, ROWS[i]["text"]):
            row["doc"]["in"]["text"] = shortened(i, ROWS[i]["text"], "")
    assert found == rows


def test_documents_of_parsers_are_not_cut(tmp_path):
    (tmp_path / "page.html").write_text("<p>some text of a page</p>")
    with pytest.raises(la.errors.OutputError, match=r"page\.html: parts .* cannot be removed in the format html"):
        check_shortening(tmp_path / "out/", open_sources([tmp_path]))
    check_shortening(tmp_path / "out.jsonl", open_sources([tmp_path]))


def test_a_format_that_writes_lines_and_cannot_cut_them_says_so(tmp_path):
    path = written(tmp_path / "in", "jsonl", ".jsonl")
    (selection,) = selections(path)
    lines = selection.lines(path.read_bytes().splitlines(keepends=True), lambda line, added: line)
    with pytest.raises(
        la.errors.OutputError, match=r"in\.jsonl: this format cannot leave out a part of a text; write \.jsonl instead"
    ):
        list(lines)


@given(st.text(max_size=30), st.lists(st.integers(0, 30), max_size=8), st.text(max_size=3))
def test_cutting_is_what_it_says(text, places, replacement):
    data = text.encode()
    bounds = sorted({min(place, len(data)) for place in places})
    ranges = bounds[: len(bounds) // 2 * 2]
    cut = TextEdits(column="text", ranges=lambda first, last: iter([]), replacement=replacement)
    inside = set().union(*(range(begin, end) for begin, end in zip(ranges[::2], ranges[1::2], strict=True)))
    wanted = b"".join(
        (replacement.encode() if i in ranges[::2] else b"") + (data[i : i + 1] if i not in inside else b"")
        for i in range(len(data) + 1)
    )
    assert cut.bytes(data, ranges) == wanted
