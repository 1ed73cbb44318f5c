import dataclasses
import io
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from formats.jobs import one_split, refused, rows_in, table_at
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike.formats import Columns, Limit, page_sizes, parquet_pages, row_groups
from lookalike.formats.page_sizes import bytes_per_row, longest_value
from lookalike.formats.parquet_pages import TooLong, pages_of, values_of
from lookalike.formats.writers import check_room

CODECS = ["none", "snappy", "gzip", "brotli", "zstd"]
KINDS = ["string", "large_string", "binary", "large_binary"]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("pages") / "in.parquet"


@contextmanager
def pages_of_a_value(path, values, kind, nullable=True, **more):
    schema = pa.schema([pa.field("x", kind, nullable)])
    pq.write_table(pa.table({"x": pa.array(values, kind)}, schema), path, data_page_size=1, **more)
    with pq.ParquetFile(path) as file, open(path, "rb") as raw:
        yield file, raw, [file.metadata.row_group(i).column(0) for i in range(file.metadata.num_row_groups)]


@settings(max_examples=60)
@given(
    st.lists(st.none() | st.sampled_from(["", "a", "é" * 40, "x" * 300]) | st.text(max_size=20), max_size=60),
    st.sampled_from(CODECS), st.booleans(), st.sampled_from(["1.0", "2.0"]), st.booleans(), st.integers(1, 40), st.integers(1, 400),
)  # fmt: skip
def test_values_are_those_that_arrow_reads(path, values, codec, dictionary, version, nullable, per_page, most):
    if not nullable:
        values = [value or "" for value in values]
    how = {"compression": codec, "use_dictionary": dictionary, "data_page_version": version, "write_batch_size": per_page}
    with pages_of_a_value(path, values, "string", nullable, **how) as (_, raw, chunks):
        found = [value for chunk in chunks for value in values_of(raw, chunk, nullable, most)]
        pages = [page for chunk in chunks for page in pages_of(raw, chunk)]
        longest = [longest_value(raw, chunk, list(pages_of(raw, chunk))) for chunk in chunks if chunk.num_values]
    wanted = [None if value is None else value.encode() for value in values]
    assert found == [TooLong(len(v)) if v is not None and len(v) > most else v for v in wanted]
    assert sum(page.n_values for page in pages if page.kind != 2) == len(values)
    if dictionary and any(value is not None for value in values):
        assert longest == [max(len(value) for value in wanted if value is not None)]


TEXTS_OR_NONE = st.sampled_from(["", "a", "é" * 9, "x" * 3000]) | st.none()
NUMBERS = st.lists(st.none() | st.integers(0, 3), max_size=20) | st.none()
NESTED_ROWS = {
    "flat": (TEXTS_OR_NONE, "string"),
    "struct": (st.fixed_dictionaries({"a": TEXTS_OR_NONE}) | st.none(), pa.struct([("a", "string")])),
    "lists": (st.lists(TEXTS_OR_NONE, max_size=20) | st.none(), pa.list_(pa.string())),
    "lists of structs": (st.lists(st.fixed_dictionaries({"a": TEXTS_OR_NONE})), pa.list_(pa.struct([("a", "string")]))),
    "numbers": (NUMBERS, pa.list_(pa.int64())),
    "lists of numbers": (st.lists(NUMBERS, max_size=9) | st.none(), pa.list_(pa.list_(pa.int64()))),
}


@settings(max_examples=120)
@given(
    st.data(), st.sampled_from([*NESTED_ROWS]), st.sampled_from([*CODECS, "lz4"]), st.booleans(), st.sampled_from(["1.0", "2.0"]),
    st.integers(1, 40), st.booleans(), st.sampled_from([8, 64]),
)  # fmt: skip
def test_bytes_per_row_are_those_that_arrow_reads(path, data, kind, codec, dictionary, version, per_page, nullable, piece):
    """Exact where texts are in a dictionary; elsewhere all texts of a page together, with the bytes of their lengths.

    Of numbers, counted as a byte each: a list that is missing or empty counts as one value, as it has levels like one.
    """
    strategy, of = NESTED_ROWS[kind]
    rows, numbers = data.draw(st.lists(strategy, min_size=1, max_size=60)), "numbers" in kind
    if kind == "flat" and not nullable:
        rows = [row or "" for row in rows]

    def bytes_of(value):
        value = list(value.values()) if isinstance(value, dict) else value
        if isinstance(value, list) and (value or not numbers):
            return sum(map(bytes_of, value))
        return 1 if numbers else len((value or "").encode())

    how = {"compression": codec, "use_dictionary": dictionary, "data_page_version": version, "write_batch_size": per_page}
    with (
        pages_of_a_value(path, rows, of, nullable or kind != "flat", **how) as (file, raw, (chunk,)),
        pytest.MonkeyPatch.context() as patch,
    ):
        column = file.schema.column(0)
        per_value = 1 - column.length if numbers else 0
        for module in (parquet_pages, page_sizes):
            patch.setattr(module, "PIECE", piece)
        found = bytes_per_row(raw, chunk, column, len(rows), per_value).tolist()
        if dictionary or numbers:
            assert found == [bytes_of(row) for row in rows]
        else:
            assert len(found) == len(rows) and sum(found) >= sum(map(bytes_of, rows))
        damaged = (raw, chunk, column, len(rows) - 1, per_value)
        refused("the rows of a page are damaged", bytes_per_row, *damaged, error=OSError)


def test_texts_that_repeat_the_one_before_are_not_taken_for_short(path):
    """In DELTA_BYTE_ARRAY a long text that begins like the one before is a few bytes."""
    how = {"use_dictionary": False, "column_encoding": {"x": "DELTA_BYTE_ARRAY"}}
    with pages_of_a_value(path, ["word " * 1000] * 99, "string", **how) as (_, raw, (chunk,)):
        assert 5000 <= longest_value(raw, chunk, list(pages_of(raw, chunk))) < 6000


def rows_of(path, limit=None, **columns):
    batches = [*dataclasses.replace(one_split(path), limit=limit or Limit()).batches(Columns(**columns))]
    left_out = [row for one in batches for row in (np.zeros(len(one.texts)) if one.skipped is None else one.skipped).tolist()]
    return rows_in(batches), [batch.texts.n_bytes for batch in batches], left_out


@pytest.mark.parametrize(("kind", "codec"), [*((kind, "zstd") for kind in KINDS), ("string", "none"), ("large_binary", "gzip")])
@pytest.mark.parametrize("dictionary", [False, True])
def test_a_page_that_is_too_large_is_read_value_by_value(tmp_path, monkeypatch, kind, dictionary, codec):
    """The same rows, and the same files when they are written again; what is beyond the limit is named, or left out."""
    texts = [None if i % 9 == 4 else f"{i % 13} " + "word " * (i % 50) for i in range(300)]
    table = pa.table({"n": list(range(300)), "text": pa.array(texts, "string").cast(kind), "more": ["é"] * 300})
    path, (first, again) = tmp_path / "in.parquet", (tmp_path / f"{name}.parquet" for name in ("whole", "streamed"))
    pq.write_table(table, path, compression=codec, use_dictionary=dictionary, row_group_size=170)
    whole, _, left_out = rows_of(path, others=("n",))
    assert not any(left_out)
    la.dedup(path).write(first)
    read = []
    monkeypatch.setattr(row_groups, "values_of", lambda *some: read.append(some) or values_of(*some))
    for module in (parquet_pages, row_groups):
        monkeypatch.setattr(module, "LARGE", 200)
    monkeypatch.setattr(row_groups, "BATCH_BYTES", 1000)
    found, sizes, _ = rows_of(path, Limit(700), others=("n",))
    assert found == whole and len(read) == 2 and max(sizes) <= 1300
    la.dedup(path).write(again)
    assert pq.read_table(again).equals(pq.read_table(first))
    number, text, _ = next(row for row in whole if len(row[1]) > 200)
    refused(rf"in\.parquet, row {number}: the document has {len(text)} bytes, more than", rows_of, path, Limit(200))
    left, _, left_out = rows_of(path, Limit(200, skip=True))
    assert left_out == [len(text) > 200 for _, text, _ in whole]
    assert left == [(n, b"" if len(text) > 200 else text) for n, text, _ in whole]


@pytest.mark.parametrize("codec", ["snappy", "lz4"])
def test_a_large_page_that_is_no_stream_is_read_up_to_a_limit(tmp_path, monkeypatch, codec):
    path = table_at(
        tmp_path / "in.parquet", {"text": [f"{i} " * 100 for i in range(100)]}, compression=codec, use_dictionary=False
    )
    for module in (parquet_pages, row_groups):
        monkeypatch.setattr(module, "LARGE", 200)
    assert len(rows_of(path)[0]) == len(rows_of(path, Limit(30_000))[0]) == 100
    refused(r"column 'text': a page of row group 1, of [0-9,]+ bytes.* raise memory=", rows_of, path, Limit(1000))


def test_a_dictionary_does_not_make_batches_large(tmp_path, monkeypatch):
    monkeypatch.setattr(row_groups, "MOST_BYTES", 50_000)
    table_at(tmp_path / "in.parquet", {"text": ["short", *["long " * 1000] * 2000]})
    rows, sizes, _ = rows_of(tmp_path / "in.parquet")
    assert len(rows) == 2001 and max(sizes) <= 50_000


N = 400
ZEROS = pa.array(np.zeros(N * 100, np.int64))


def offsets(n, per_row):
    return pa.array(np.arange(n + 1) * per_row, "int32")


def lists(values, begins=None):
    return pa.ListArray.from_arrays(offsets(N, 100) if begins is None else begins, values)


def copies(n, text):
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(n, np.int32)), [text])


HUNDRED = copies(N * 100, "v" * 99).cast("string")
SKEWED = np.concatenate([np.zeros(N - 9), [300 * i for i in range(9)], [40_000]])
HEAVY = {
    "texts in lists": lists(HUNDRED),
    "in some rows": lists(HUNDRED, pa.array(SKEWED, "int32")),
    "numbers in lists": pa.LargeListArray.from_arrays(offsets(N, 100).cast("int64"), ZEROS),
    "lists of fixed size": pa.FixedSizeListArray.from_arrays(ZEROS, 100),
    "lists in lists": lists(lists(ZEROS, offsets(N * 10, 10)), offsets(N, 10)),
    "structs in lists": lists(pa.StructArray.from_arrays([ZEROS, ZEROS], ["a", "b"])),
    "maps": pa.MapArray.from_arrays(offsets(N, 100), ZEROS.cast("int32"), ZEROS),
    "nulls in lists": lists(pa.nulls(N * 100, "float64")),
    "long texts": copies(N, "w" * 5000).cast("string"),
    "long codes": copies(N, "w" * 5000),
    "long bytes": pa.array([b"w" * 2000] * N, pa.binary(2000)),
    "decimals in lists": lists(pa.nulls(N * 100, pa.decimal256(70, 2))),
}
MANY = {f"c{i}": np.arange(N) % 7 for i in range(300)}


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("name", [*HEAVY, "many columns"])
def test_batches_stay_small_once_they_are_decoded(tmp_path, monkeypatch, name, version):
    """Some kB that have MB of values: no batch has more than the most, or than the largest row."""
    path, most, columns = tmp_path / "in.parquet", 200_000, {name: HEAVY[name]} if name in HEAVY else MANY
    table = pa.table({"text": [f"text {i}" for i in range(N)]} | columns)
    pq.write_table(table, path, data_page_version=version, row_group_size=N // 2)
    split = one_split(path)
    assert max(each.nbytes for each in split.form.tables(split, False)) > 300_000 * (name != "long codes")
    monkeypatch.setattr(row_groups, "MOST_BYTES", most)
    tables = list(split.form.tables(split, False))
    largest = max(table.slice(i, 1).nbytes for i in range(N))
    assert all(each.nbytes <= 1.2 * max(most, largest) for each in tables)
    assert len(tables) < N // 2 or name != "long codes"
    read = pa.concat_tables(tables)
    assert read.to_pylist() == table.to_pylist()
    converted = list(split.form.tables(split, True))
    assert len(converted) > len(tables) and sum(map(len, converted)) == N


RARE = ["w" * 300_000, *(f"tag {i}" for i in range(50))]
CODES = np.arange(N * 100) % 50 + 1
ONE = pa.DictionaryArray.from_arrays(pa.array(np.where(np.arange(N * 100) == 9950, 0, CODES), "int32"), RARE)
RARELY = {
    "in lists": lists(ONE.cast("string")),
    "flat": ["w" * 300_000 if i == 99 else f"m{i % 50}" for i in range(N)],
    "flat, else missing": ["w" * 300_000 if i == 99 else None for i in range(N)],
}


@pytest.mark.parametrize("codec", ["snappy", "zstd", "lz4"])
@pytest.mark.parametrize("name", RARELY)
def test_a_rare_long_text_makes_neither_other_rows_nor_batches_long(tmp_path, monkeypatch, name, codec):
    """One row has 0.3 MB, the others some bytes each: they are read within a memory that holds the one row."""
    path = table_at(tmp_path / "in.parquet", {"text": [f"text {i}" for i in range(N)], "x": RARELY[name]}, compression=codec)
    split = one_split(path)
    monkeypatch.setattr(row_groups, "MOST_BYTES", 1 << 20)
    monkeypatch.setattr(row_groups, "BATCH_BYTES", 1 << 20)
    small = dataclasses.replace(split, limit=Limit(room=4_000_000))
    check_room(tmp_path / "out.parquet", [small], small.limit)
    tables = list(small.form.tables(small, False))
    assert len(tables) <= 4 and sum(map(len, tables)) == N
    smaller = dataclasses.replace(split, limit=Limit(room=1_000_000))
    refused("for its row 100; the largest column is 'x'", check_room, tmp_path / "out.parquet", [smaller], smaller.limit)


@pytest.mark.parametrize(("columns", "what"), [
    ({"tags": HEAVY["in some rows"]}, r"0 MB to read 2 columns at once, 13 MB for its row 400; the largest column is 'tags'"),
    ({"tags": HEAVY["texts in lists"]}, None),
    (MANY, r"4 MB to read 301 columns at once, 0 MB for its row 1; "),
])  # fmt: skip
def test_rows_that_cannot_be_written_within_the_memory_are_refused(tmp_path, columns, what):
    """Before anything is written."""
    path = table_at(tmp_path / "in.parquet", {"text": ["text"] * N} | columns)
    split = one_split(path)
    small = dataclasses.replace(split, limit=Limit(room=3_000_000))
    if what is None:
        check_room(tmp_path / "out.parquet", [split], small.limit)
        assert sum(map(len, small.form.tables(small, False))) == N
        return
    check_room(tmp_path / "out.parquet", [split], split.limit)
    for output in ("out.parquet", "out.jsonl", "out"):
        said = what if output != "out.jsonl" else r"raise memory= by \d+ MB"
        refused(said, check_room, tmp_path / output, [split], small.limit)
    said = rf"in\.parquet: writing the rows of row group 1 takes about \d+ MB \({what}"
    refused(said, next, small.form.tables(small, False))


def test_column_chunks_are_not_held(tmp_path):
    """Arrow's memory while 40 MB of one row group are read."""
    rng, path = np.random.default_rng(1), tmp_path / "in.parquet"
    texts = [rng.bytes(5000).hex() for _ in range(4000)]
    table_at(path, {"text": texts}, use_dictionary=False, write_batch_size=100)
    split = one_split(path)
    pool, most = pa.default_memory_pool(), 0
    before = pool.bytes_allocated()
    for batch in split.batches(Columns()):
        del batch
        most = max(most, pool.bytes_allocated() - before)
    for table in split.form.tables(split, False):
        most = max(most, pool.bytes_allocated() - before - table.nbytes)
        del table
    assert path.stat().st_size > 20_000_000 and most < 14_000_000


def test_runs_of_none_are_passed_over():
    """Numbers of one bit: three ones, no packed ones, none again, eight packed."""
    numbers = parquet_pages.Numbers(bytes([3 << 1, 1, 0 << 1 | 1, 0, 1, 1 << 1 | 1, 0b10101010]), 1, 11)
    assert numbers.take(4).tolist() + numbers.take(7).tolist() == [1, 1, 1, 0, 1, 0, 1, 0, 1, 0, 1]
    refused("cut short", numbers.take, 1, error=OSError)


@pytest.mark.parametrize(("header", "what"), [
    (b"\x1c" * 5000, "structs within structs"), (b"\x15" + b"\x80" * 5000, "a number without end"),
    (b"\x1c\x00\x15\x02\x15\x02\x00", "a struct where the kind is to be"), (b"\x15\x00\x15\x01\x15\x02\x00", "less than no bytes"),
    (b"\x15\x00\x15\x02\x15\x02\x25\x02\x00", "a number where the counts are to be"), (b"\x1d" * 50, "a type that there is not"),
    (b"\x15\x00", "an end"), (b"\x15\x00\x15\x02\x15\x02\x2c\x15\x04\x00\x00", "more values than the column has"),
    (b"\x15\x04\x15\x02\x15\x02\x4c\x15\x04\x00\x00", "more values in a dictionary than it has bytes"),
    (b"\x15\x00\x15\x02\x15" + b"\x80" * 5 + b"\x40\x2c\x15\x02\x00\x00", "more bytes than the column has"),
])  # fmt: skip
def test_headers_that_somebody_wrote_end_in_one_error(header, what):
    """Deep, endless or of other types than expected: nothing but an OSError, which Arrow's own then replaces."""
    chunk = SimpleNamespace(data_page_offset=0, has_dictionary_page=False, num_values=1, total_compressed_size=len(header))
    refused("header of a page is", list, pages_of(io.BytesIO(header), chunk), error=OSError)
