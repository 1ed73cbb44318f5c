import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from formats.format_samples import SAMPLES, TESTED
from formats.jobs import refused_output
from formats.test_protocol import ROWS, contents, texts, written
from samples import one_in

from lookalike.formats.cuts import TextEdits
from lookalike.formats.format import Selection
from lookalike.formats.memory import as_sources
from lookalike.formats.registry import format_named
from lookalike.formats.sources import open_sources
from lookalike.formats.writers import table_of, write_rows

pytestmark = pytest.mark.usefixtures("toy")
MASK, ALL = np.arange(len(ROWS)) % 5 != 1, np.ones(len(ROWS), np.bool_)


def ranges_of(i, text):
    """Ranges of every third text: a word in its middle, of some also the first and the last bytes."""
    data = (text or "").encode()
    if i % 3 or not data:
        return None if i % 2 else []
    middle = data.index(b"words")
    return [0, 3, middle, middle + 5, len(data) - 4, len(data)] if i % 2 else [middle, middle + 5]


def without(data, ranges, replacement):
    for begin, end in reversed(list(zip(ranges[::2], ranges[1::2], strict=True))):
        data = data[:begin] + replacement.encode() + data[end:]
    return data


def shortened(i, text, replacement):
    return without((text or "").encode(), ranges_of(i, text) or [], replacement).decode()


def edits(ranges, column="text", replacement=""):
    made = pa.array(ranges, pa.list_(pa.int64()))
    return TextEdits(column=column, ranges=lambda first, last: iter([made.slice(first, last - first)]), replacement=replacement)


def of_rows(rows):
    return [ranges_of(i, row["text"]) for i, row in enumerate(rows)]


def selections(splits, column="text", replacement="", mask=MASK, rows=ROWS, added=None):
    cuts = edits(of_rows(rows), column, replacement)
    return [Selection(split, mask, added, "strict", cuts) for split in splits]


WANTED = [(i, row) for i, (row, kept) in enumerate(zip(ROWS, MASK, strict=True)) if kept]


@pytest.mark.parametrize("replacement", ["", "[…]"])
@pytest.mark.parametrize(("name", "suffix"), [(name, suffix) for name in SAMPLES for suffix in TESTED[name]])
def test_a_part_of_the_text_is_left_out(tmp_path, name, suffix, replacement):
    path = written(tmp_path / "in", name, suffix)
    write_rows(tmp_path / "out/", selections(open_sources([path]), replacement=replacement), {})
    assert texts(open_sources([tmp_path / "out"])) == [shortened(i, row["text"], replacement) for i, row in WANTED]
    if format_named(name).has_columns:
        assert [row["id"] for row in contents(tmp_path / "out")] == [row["id"] for _, row in WANTED]


OUTPUTS = ["out.jsonl", "out.json", "out.csv", "out.tsv.gz", "out.parquet", "out.arrow", "out.orc"]


@pytest.mark.parametrize(("name", "output"), one_in(3, SAMPLES, OUTPUTS))
def test_and_of_rows_that_are_converted(tmp_path, name, output):
    def added(first, last):
        return pa.table({"double": pa.array([2 * i for i in range(first, last)], "int64")})

    path = written(tmp_path / "in", name, TESTED[name][0])
    write_rows(tmp_path / output, selections(open_sources([path]), replacement="#", added=added), {})
    found = contents(tmp_path / output)
    assert [row["text"] or "" for row in found] == [shortened(i, row["text"], "#") for i, row in WANTED]
    assert [int(row["double"]) for row in found] == [2 * i for i, _ in WANTED]


def test_types_of_columns_stay():
    whole = [row["text"] for row in ROWS]
    for kind in ["string", "large_string", pa.dictionary(pa.int32(), pa.string()), "string_view"]:
        table = pa.table({"text": pa.array(whole, "string").cast(kind), "x": range(len(ROWS))})
        out = table_of(selections(as_sources(table), mask=ALL))
        assert out.schema.field("text").type == kind
        assert [text or "" for text in out["text"].to_pylist()] == [shortened(i, text, "") for i, text in enumerate(whole)]


@pytest.mark.parametrize("index", [pa.int8(), pa.uint8()])
@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_dictionaries_have_room_for_what_is_left_of_texts(tmp_path, suffix, index):
    """A text that comes often can be cut in as many ways; also inside another field, and where none is cut."""
    n, whole = 300, " ".join(f"w{i}" for i in range(200))
    coded = pa.array([whole] * n).dictionary_encode().cast(pa.dictionary(index, pa.string()))
    table = pa.table({"text": coded, "doc": pa.StructArray.from_arrays([coded], ["text"]), "same": coded})
    with pa.ipc.new_file(tmp_path / "in.arrow", table.schema) as out:
        out.write_table(table, max_chunksize=n // 3)
    for column, cut in (("text", n), ("doc.text", n), ("text", 0)):
        ranges = [[0, 1 + i % 250, 255 + i // 250, 600] if i < cut else None for i in range(n)]
        wanted = [without(whole.encode(), some or [], "").decode() for some in ranges]
        for data in (as_sources(table), open_sources([tmp_path / "in.arrow"])):
            path = tmp_path / f"{column}-{cut}-{len(data[0].places)}.{suffix}"
            write_rows(path, [Selection(data[0], np.ones(n, np.bool_), None, "strict", edits(ranges, column))], {})
            found = pq.read_table(path) if suffix == "parquet" else pa.ipc.open_file(path).read_all()
            changed = found["text"] if column == "text" else found["doc"].combine_chunks().field("text")
            assert changed.to_pylist() == wanted
            kinds = changed.type, found.schema.field("same").type
            decoded = "string", "string"  # as Arrow files are written
            assert kinds == ((pa.dictionary(pa.int32(), pa.string()), coded.type) if suffix == "parquet" else decoded)


def test_a_format_that_writes_lines_and_cannot_cut_them_says_so(tmp_path):
    path = written(tmp_path / "in", "jsonl", ".jsonl")
    (selection,) = selections(open_sources([path]))
    lines = selection.lines(path.read_bytes().splitlines(keepends=True), lambda line, added: line)
    said = r"in\.jsonl: this format cannot leave out a part of a text; write \.jsonl instead"
    refused_output(said, list, lines)
