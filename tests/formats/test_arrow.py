"""Arrow files and streams: as they came, in bounded memory, and whatever is in them."""

import json
import subprocess
import sys

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lookalike as la
from lookalike.formats import Columns, Limit, arrow
from lookalike.formats.arrow_messages import messages
from lookalike.formats.sources import open_sources
from lookalike.formats.split import replace

A = " ".join(f"word{i}" for i in range(60))
TEXTS = [A, "completely different words stand here", A + " more", None, "the last one"]
TABLE = pa.table({
    "id": ["a", "b", "c", "d", "e"], "text": TEXTS, "n": pa.array([1, None, 3, 4, 5], pa.int16()),
    "kind": pa.array(["x", "y", "x", None, "y"]).dictionary_encode(),
    "doc": pa.array([{"text": text, "tags": ["t", None]} for text in TEXTS]), "none": pa.nulls(5),
}).replace_schema_metadata({"made": "by hand"})  # fmt: skip
KEPT = [0, 1, 3, 4]
layouts = pytest.mark.parametrize(
    ("stream", "codec"), [(stream, codec) for stream in (False, True) for codec in (None, "lz4", "zstd")]
)


def write(path, table, stream=False, codec=None, rows=2, **options):
    """Write a table, so many rows a batch."""
    options = pa.ipc.IpcWriteOptions(compression=codec, **options)
    with (pa.ipc.new_stream if stream else pa.ipc.new_file)(str(path), table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=rows)
    return path


def layout(path):
    """Whether a file is a stream, and the codecs of its batches."""
    with pa.memory_map(str(path)) as raw:
        return path.read_bytes()[:6] != b"ARROW1", {message.codec for message in messages(raw, path.stat().st_size)}


def read(path):
    """All rows, by Arrow."""
    return (pa.ipc.open_stream if layout(path)[0] else pa.ipc.open_file)(pa.memory_map(str(path))).read_all()


def texts(path, **columns):
    return [
        batch.texts.row(i) for split in open_sources([path]) for batch in split.batches(Columns(**columns))
        for i in range(len(batch.texts))
    ]  # fmt: skip


@layouts
@pytest.mark.parametrize("text", ["text", "doc.text"])
def test_what_is_written_is_as_what_was_read(tmp_path, stream, codec, text):
    path = write(tmp_path / "in.arrow", TABLE, stream, codec)
    assert layout(path) == (stream, {codec})
    for threads in (1, 2):
        result = la.dedup(path, text=text, id="id", threads=threads)
        assert np.flatnonzero(result.keep).tolist() == KEPT
        assert result.removed.select(["id", "duplicate_of"]).to_pylist() == [{"id": "c", "duplicate_of": "a"}]
        for out in (tmp_path / "out.ipc", tmp_path / "out"):
            result.write(out, force=True)
            file = out / "in.arrow" if out.is_dir() else out
            written = read(file)
            assert layout(file) == (stream, {codec})
            assert written.cast(TABLE.schema).equals(TABLE.take(KEPT)) and written.schema.types == TABLE.schema.types
            assert written.schema.metadata[b"made"] == b"by hand"
            assert json.loads(written.schema.metadata[b"lookalike"])["inputs"][0]["name"] == str(path)
        assert not (tmp_path / "out.ipc_lookalike.json").exists()
    assert la.dedup(path).removed["id"].to_pylist() == [f"{path}:3"] if text == "text" else True


@layouts
def test_pieces_are_the_whole(tmp_path, stream, codec):
    path = write(tmp_path / "in.arrow", TABLE, stream, codec, rows=1)
    (split,) = open_sources([path])
    pieces = split.pieces(1)
    assert len(pieces) == (1 if stream and codec else len(TABLE))
    rows, labels = [], []
    for first, piece in pieces:
        for batch in piece.batches(Columns(id="id")):
            assert batch.numbers[0] == len(rows) + 1 > first
            rows += [batch.texts.row(i) for i in range(len(batch.texts))]
            labels += batch.ids.to_pylist()
    assert rows == texts(path) == [(text or "").encode() for text in TEXTS] and labels == TABLE["id"].to_pylist()
    noted = []
    list(replace(split, noted=noted.append).batches(Columns()))
    assert 0 < sum(noted) <= path.stat().st_size
    n_rows, n_bytes = split.expected("text")
    assert 0 < n_rows <= 40 and n_bytes > 0


@pytest.mark.parametrize(
    "kind",
    [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.dictionary(pa.int32(), pa.string()), pa.dictionary(pa.uint8(), pa.large_string())],
)  # fmt: skip
@layouts
def test_texts_of_any_type(tmp_path, stream, codec, kind):
    column = pa.array(TEXTS)
    column = column.dictionary_encode().cast(kind) if pa.types.is_dictionary(kind) else column.cast(kind)
    path = write(tmp_path / "in.feather", pa.table({"n": range(5), "text": column, "more": column}), stream, codec)
    result = la.dedup(path)
    assert np.flatnonzero(result.keep).tolist() == KEPT
    result.write(tmp_path / "out.feather")
    assert read(tmp_path / "out.feather")["more"].to_pylist() == [
        (b := TEXTS[i]) and (b.encode() if kind == pa.binary() else b) for i in KEPT
    ]
    assert read(tmp_path / "out.feather").schema.field("text").type == kind


def test_categories_of_polars(tmp_path):
    frame = pl.DataFrame(
        {"text": TEXTS, "kind": list("xyxyx")}, schema_overrides={"text": pl.Categorical, "kind": pl.Categorical}
    )
    frame.write_ipc(tmp_path / "in.arrow")
    result = la.dedup(tmp_path / "in.arrow", within="kind")
    assert np.flatnonzero(result.keep).tolist() == KEPT
    result.write(tmp_path / "out.arrow")
    assert pl.read_ipc(tmp_path / "out.arrow")["kind"].to_list() == ["x", "y", "y", "x"]


@pytest.mark.parametrize("stream", [False, True])
def test_files_and_other_formats_become_one(tmp_path, stream):
    """Dictionaries differ from file to file, and a file has room for one."""
    kinds = [pa.array([kind]).dictionary_encode() for kind in "xy"]
    paths = [
        write(tmp_path / f"{i}.arrow", pa.table({"text": [f"text {i}"], "kind": kind}), stream) for i, kind in enumerate(kinds)
    ]
    la.dedup(paths).write(tmp_path / "one.arrow")
    assert read(tmp_path / "one.arrow").to_pydict() == {"text": ["text 0", "text 1"], "kind": ["x", "y"]}
    assert layout(tmp_path / "one.arrow")[0] is stream
    pq.write_table(TABLE, tmp_path / "in.parquet", row_group_size=2)
    la.dedup(tmp_path / "in.parquet").write(tmp_path / "of.arrow")
    assert read(tmp_path / "of.arrow")["kind"].to_pylist() == ["x", "y", None, "y"]
    assert layout(tmp_path / "of.arrow") == (False, {None})
    la.dedup(write(tmp_path / "in.arrow", TABLE, stream, "zstd")).write(tmp_path / "of.parquet")
    assert pq.read_table(tmp_path / "of.parquet")["n"].to_pylist() == [1, None, 4, 5]


def test_dictionaries_that_grow_or_are_replaced(tmp_path):
    batches = [
        pa.table({"text": [f"the text {i}"], "kind": pa.array([kind]).dictionary_encode()}) for i, kind in enumerate("xyz")
    ]
    path = write(tmp_path / "in.ipc", pa.concat_tables(batches), stream=True)
    la.dedup(path).write(tmp_path / "out.ipc")
    assert read(tmp_path / "out.ipc")["kind"].to_pylist() == ["x", "y", "z"]
    grown = pa.concat_tables([
        pa.table({"text": [str(i)], "kind": pa.DictionaryArray.from_arrays([i], ["x", "y", "z"][: i + 1])}) for i in range(3)
    ])  # fmt: skip
    for stream in (False, True):
        path = write(tmp_path / "grown.ipc", grown, stream, emit_dictionary_deltas=True)
        la.dedup(path).write(tmp_path / "out.ipc", force=True)
        assert read(tmp_path / "out.ipc")["kind"].to_pylist() == ["x", "y", "z"]


def test_a_long_dictionary_value_is_not_copied_for_all_rows_at_once(tmp_path):
    column = pa.DictionaryArray.from_arrays(np.zeros(20_000, np.int32), ["x" * 100_000])
    path = write(tmp_path / "in.arrow", pa.table({"text": column}), rows=20_000)
    (split,) = open_sources([path])
    before, most = pa.total_allocated_bytes(), 0
    for batch in split.batches(Columns()):
        most = max(most, pa.total_allocated_bytes() - before)
        del batch
    assert 0 < most < 3 * arrow.BATCH_BYTES


@pytest.mark.parametrize("stream", [False, True])
def test_no_rows(tmp_path, stream):
    for name, table in (("a", TABLE[:0]), ("b", TABLE.schema.empty_table())):
        path = write(tmp_path / f"{name}.arrow", table, stream)
        result = la.dedup(path)
        assert len(result) == 0 and open_sources([path])[0].expected("text") == (0, 0)
        result.write(tmp_path / f"{name}-out.arrow")
        assert read(tmp_path / f"{name}-out.arrow").num_rows == 0


@pytest.mark.parametrize("stream", [False, True])
def test_uncompressed_texts_stay_on_the_disk(tmp_path, stream):
    path = write(tmp_path / "in.arrow", pa.table({"text": ["word " * 2000] * 10_000}), stream, rows=5000)
    (split,) = open_sources([path])
    before, rows, most = pa.total_allocated_bytes(), 0, 0
    for batch in split.batches(Columns()):
        rows, most = rows + len(batch.texts), max(most, pa.total_allocated_bytes() - before)
        assert batch.texts.offsets[-1] - batch.texts.offsets[0] <= arrow.BATCH_BYTES
    assert rows == 10_000 and most < 1 << 20


@pytest.mark.parametrize("stream", [False, True])
def test_what_becomes_too_large_is_refused_before_it_is_decompressed(tmp_path, stream):
    path = write(tmp_path / "in.arrow", pa.table({"n": [1] * 5, "text": ["x" * (20 << 20)] * 5}), stream, "zstd", rows=5)
    assert path.stat().st_size < 1 << 20
    (split,) = (replace(split, limit=Limit(room=50 << 20)) for split in open_sources([path]))
    before = pa.default_memory_pool().max_memory()
    for ask in (
        lambda: list(split.batches(Columns())),
        lambda: split.form.check_writing(split, True),
        lambda: list(split.records()),
    ):
        with pytest.raises(
            la.InputDataError, match=r"in.arrow, batch 1: .*take 105 MB .* the 52 MB .*raise --memory .*smaller batches"
        ):
            ask()
    assert pa.default_memory_pool().max_memory() <= max(before, 20 << 20)
    assert split.expected("text")[1] > 100_000_000
    small = Columns(text="text", others=())
    (roomy,) = (replace(split, limit=Limit(room=110 << 20)) for split in open_sources([path]))
    assert sum(len(batch.texts) for batch in roomy.batches(small)) == 5


@layouts
def test_cut_files_are_errors(tmp_path, stream, codec):
    """A stream may end between two batches, where nothing says that it goes on."""
    data = write(tmp_path / "in.arrow", TABLE, stream, codec).read_bytes()
    path, whole = tmp_path / "cut.arrow", 0
    for n_bytes in range(0, len(data), 7):
        path.write_bytes(data[:n_bytes])
        try:
            found = texts(path)
        except la.InputDataError as error:
            assert str(error).startswith(f"{path}"), error
        else:
            assert stream and found == texts(tmp_path / "in.arrow")[: len(found)]
            whole += 1
    assert whole < len(data) // 70


def offsets_of(path, values, new):
    """Replace the offsets of a column of texts in a file."""
    data, old = path.read_bytes(), np.array(values, np.int32).tobytes()
    assert data.count(old) == 1
    path.write_bytes(data.replace(old, np.array(new, np.int32).tobytes()))
    return path


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    "bad", [[0, 7, 18, 2**31 - 1], [0, -5, 18, 30], [0, 20, 18, 30], [2**30, 7, 18, 30], [0, 7, 18, 31 + 64]]
)
def test_texts_that_point_elsewhere(tmp_path, stream, bad):
    for number, shape in enumerate((lambda c: c, lambda c: pa.StructArray.from_arrays([c], ["text"]))):
        table = pa.table({"n": [1, 2, 3], "doc": shape(pa.array(["x" * 7, "y" * 11, "z" * 12]))})
        path = offsets_of(write(tmp_path / f"{number}.arrow", table, stream, rows=5), [0, 7, 18, 30], bad)
        with pytest.raises(la.InputDataError, match=r"\d.arrow, after row 0: damaged Arrow data"):
            texts(path, text="doc.text" if number else "doc")
        with pytest.raises(la.InputDataError, match=r"\d.arrow, after row 0: damaged Arrow data"):
            list(open_sources([path])[0].records())


def test_indices_beyond_the_dictionary(tmp_path):
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, 1, 0, 1], pa.int32()), ["x", "y"])
    path = offsets_of(write(tmp_path / "in.arrow", pa.table({"text": column}), rows=5), [0, 1, 1, 0, 1], [0, 1, 1, 0, 999])
    with pytest.raises(la.InputDataError, match="in.arrow, after row 0: damaged Arrow data"):
        texts(path)


FUZZ = """
import sys
from pathlib import Path
import numpy as np
import lookalike as la
from lookalike.formats import Columns, Limit
from lookalike.formats.sources import open_sources
from lookalike.formats.split import replace
data, path = Path(sys.argv[1]).read_bytes(), Path(sys.argv[1]).with_name("bad.arrow")
refused = 0
for seed in range(300):
    rng = np.random.default_rng(seed)
    bad = bytearray(data)
    for place in rng.integers(0, len(bad), rng.integers(1, 9)):
        bad[place] = rng.choice([0, 1, 127, 128, 255, rng.integers(256)])
    path.write_bytes(bad)
    try:
        splits = [replace(split, limit=Limit(room=1 << 24)) for split in open_sources([path])]
        for split in splits:
            split.expected("text"), split.pieces(1)
            for batch in split.batches(Columns(others=("kind", "doc.tags"))):
                [batch.texts.row(i) for i in range(len(batch.texts))]
            for table in split.form.tables(split):
                table.filter(table.column("n").is_valid()) if "n" in table.column_names else table.to_pydict()
    except la.InputDataError as error:
        assert str(error).startswith(str(path)), error
        refused += 1
print(refused)
"""


@layouts
def test_damaged_bytes_never_end_the_process(tmp_path, stream, codec):
    path = write(tmp_path / "in.arrow", TABLE, stream, codec, rows=5)
    done = subprocess.run([sys.executable, "-c", FUZZ, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert 50 < int(done.stdout) < 300


def test_the_command_line(tmp_path):
    write(tmp_path / "in.arrow", TABLE, True)
    command = [sys.executable, "-m", "lookalike", "dedup", "in.arrow", "-o", "out/"]
    assert (
        "near-duplicates removed              1"
        in subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    )
    assert read(tmp_path / "out/in.arrow")["id"].to_pylist() == ["a", "b", "d", "e"]
