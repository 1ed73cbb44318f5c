import datetime
import decimal
import json
from itertools import product

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from formats.jobs import one_split, put, refused, refused_output, table_at
from samples import one_in

import lookalike as la
from lookalike.formats import row_groups

WORDS = [f"number {i} of some texts that have hardly a word in common {i * 7919} {i * 104729}" for i in range(6)]
TEXTS = [WORDS[0], WORDS[1], WORDS[0], None, WORDS[2], WORDS[3]]
KEPT = [0, 1, 3, 4, 5]
N = len(TEXTS)
DECIMALS = decimal.Decimal("1.10"), None, decimal.Decimal("-999.9")
STAMPS = [1_700_000_000_123_456_789, None, -1, 0, 2**62, 5]


def nested(kind, *values):
    return pa.array([values[i % len(values)] for i in range(N)], kind)


LISTS = pa.list_(pa.int8()), pa.large_list(pa.int8()), pa.list_view(pa.int8())
KINDS = [
    ("bool", True, None, False),
    *((f"int{bits}", 2 ** (bits - 1) - 1, None, -(2 ** (bits - 1))) for bits in (8, 16, 32, 64)),
    *((f"uint{bits}", 2**bits - 1, None, 0) for bits in (8, 16, 32, 64)),
    *((f"float{bits}", 0.1, None, float("inf"), -0.0, least) for bits, least in ((16, 6e-8), (32, 1e-45), (64, 5e-324))),
    *((kind, "", None, "é\0\n", "longer than twelve bytes") for kind in ("string", "large_string", "string_view")),
    *((kind, b"", None, b"\xff\0", b"longer than twelve bytes") for kind in ("binary", "large_binary", "binary_view")),
    (pa.binary(3), b"abc", None, b"\xff\0\1"),
    *((kind, datetime.date(1, 1, 1), None, datetime.date(9999, 12, 31)) for kind in ("date32", "date64")),
    ("time32[ms]", 1, None, 86_399_999),
    ("time64[ns]", 1, None, 86_399_999_999_999),
    ("timestamp[s]", 1, None, -1),
    (pa.decimal32(5, 2), *DECIMALS),
    (pa.decimal128(38, 10), *DECIMALS, decimal.Decimal("12345678901234567890.0000000001")),
    (pa.decimal256(70, 3), *DECIMALS, decimal.Decimal("9" * 60)),
    *((kind, [1, None], None, []) for kind in LISTS),
    (pa.list_(pa.float32(), 2), [1.0, None], None, [0.0, 0.0]),
    (pa.list_(pa.list_(pa.string())), [["a"], [], None], None, []),
    (pa.struct([("x", "int64"), ("y", pa.list_(pa.int64()))]), {"x": 1, "y": [2]}, None, {"x": None, "y": []}),
    (pa.map_(pa.string(), pa.int64()), [("a", 1), ("b", None)], None, []),
]  # fmt: skip
BYSTANDERS = [
    *(nested(*row) for row in KINDS),
    pa.nulls(N),
    *(pa.array(STAMPS, "int64").cast(pa.timestamp(u)) for u in ("ms", "us", "ns")),
    pa.array(STAMPS, "int64").cast(pa.timestamp("us", "Europe/Berlin")),
    *(pa.array(STAMPS, "int64").cast(pa.duration(u)) for u in ("s", "ms", "us", "ns")),
    nested("string", "a", None, "b").dictionary_encode(),
    pa.DictionaryArray.from_arrays([0, 1, None, 0, 1, 1], ["low", "high"], ordered=True),
    nested("int64", 5, None, 7).dictionary_encode(),
    pa.ExtensionArray.from_storage(pa.uuid(), nested(pa.binary(16), b"0123456789abcdef", None)),
    pa.ExtensionArray.from_storage(pa.json_(pa.string()), nested("string", '{"a": 1}', None)),
    pa.ExtensionArray.from_storage(pa.bool8(), nested("int8", 1, None, 0)),
    pa.ExtensionArray.from_storage(pa.fixed_shape_tensor(pa.int32(), [2]), nested(pa.list_(pa.int32(), 2), [1, 2])),
]  # fmt: skip


def read(path):
    with pq.ParquetFile(path) as file:
        return file.read()


def shown(column):
    """Every value as Arrow prints it: all digits, and NaN equals itself."""
    return column.combine_chunks().to_string(window=N)


def test_columns_of_any_type_survive(tmp_path):
    before, after = ({f"{side} {place}": column for place, column in enumerate(BYSTANDERS)} for side in ("before", "after"))
    table_at(tmp_path / "in.parquet", before | {"text": TEXTS} | after, row_group_size=4)
    result = la.dedup(tmp_path / "in.parquet", threads=1)
    assert [i for i, kept in enumerate(result.keep) if kept] == KEPT
    result.write(tmp_path / "out.parquet")
    result.write(tmp_path / "all.parquet", annotate=True)
    before, after, annotated = (read(tmp_path / f"{some}.parquet") for some in ("in", "out", "all"))
    assert after.schema.remove_metadata().equals(before.schema.remove_metadata(), check_metadata=True)
    kept = pa.concat_tables(before.slice(i, 1) for i in KEPT)
    for place, field in enumerate(before.schema):
        assert shown(after.column(place)) == shown(kept.column(place))
        assert annotated.schema.field(place).equals(field, check_metadata=True)
        assert shown(annotated.column(place)) == shown(before.column(place))
    assert annotated.column("keep").to_pylist() == result.keep.tolist()


def test_the_output_is_compressed_as_the_input(tmp_path):
    paths = tmp_path / "in.parquet", tmp_path / "out.parquet"
    for codec in ("none", "snappy", "gzip", "brotli", "zstd", "lz4"):
        table_at(paths[0], {"text": TEXTS}, compression=codec)
        la.dedup(paths[0]).write(paths[1], force=True)
        one, two = (pq.read_metadata(path).row_group(0).column(0).compression for path in paths)
        assert one == two and read(paths[1])["text"].to_pylist() == [TEXTS[i] for i in KEPT]


def test_the_bytes_of_a_column_are_found_beside_nested_ones(tmp_path):
    """Structs, maps and lists take several columns of the file, or one: places in the schema are not those there."""
    wide = pa.array([{"a": i, "b": [i], "c": {"d": "x"}} for i in range(N)])
    columns = {"wide": wide, "text": [word * 200 for word in WORDS]} | {f"c{i}": some for i, some in enumerate(BYSTANDERS)}
    table_at(tmp_path / "in.parquet", columns, row_group_size=2, compression="none")
    source = one_split(tmp_path / "in.parquet")
    metadata, sizes = pq.read_metadata(tmp_path / "in.parquet"), dict.fromkeys([*columns, "absent"], 0)
    for group, place in product(range(metadata.num_row_groups), range(metadata.num_columns)):
        column = metadata.row_group(group).column(place)
        sizes[column.path_in_schema.partition(".")[0]] += column.total_uncompressed_size
    assert {name: source.expected(name) for name in sizes} == {name: (N, size) for name, size in sizes.items()}


def test_no_rows(tmp_path):
    none, out = tmp_path / "none.parquet", tmp_path / "out.parquet"
    schema = pa.schema([("text", "string"), ("n", "int8")], metadata={"k": "v"})
    for groups, annotate in product((0, 1, 3), (False, True)):
        with pq.ParquetWriter(none, schema, compression="zstd") as writer:
            for _ in range(groups):
                writer.write_table(schema.empty_table())
        result = la.dedup(none)
        result.write(out, annotate=annotate, force=True)
        written = read(out).schema
        assert written.names[:2] == ["text", "n"] and ("keep" in written.names) == annotate
        assert written.metadata[b"k"] == b"v" and written.field("n").type == "int8" and len(result) == 0


def test_a_frame_of_pandas_comes_back_as_one(tmp_path):
    frame = pd.DataFrame({"text": TEXTS, "n": range(N)})
    for some in (frame, frame.set_index(pd.Index(list("abcdef"), name="key"))):
        some.to_parquet(tmp_path / "in.parquet")
        la.dedup(tmp_path / "in.parquet").write(tmp_path / "out.parquet", force=True)
        back = pd.read_parquet(tmp_path / "out.parquet")
        assert back["n"].tolist() == KEPT
    assert back.index.tolist() == list("abdef")


def test_damage_beside_the_text_is_the_input_s(tmp_path):
    """It is met when rows are written, and is no failure of the output."""
    path = table_at(
        tmp_path / "in.parquet", {"text": TEXTS, "n": list(range(100, 106))}, compression="zstd", use_dictionary=False
    )
    column, data = pq.read_metadata(path).row_group(0).column(1), path.read_bytes()
    end = column.data_page_offset + column.total_compressed_size
    path.write_bytes(data[: end - 12] + bytes(byte ^ 0xFF for byte in data[end - 12 : end]) + data[end:])
    result = la.dedup(path)
    for name in ("out.parquet", "out.jsonl", "folder"):
        refused(r"in\.parquet: damaged parquet data after row 0", result.write, tmp_path / name)
    assert [p.name for p in tmp_path.iterdir()] == ["in.parquet"]


def test_a_table_that_parquet_cannot_hold_is_refused(tmp_path):
    union = pa.UnionArray.from_dense(pa.array([0] * N, "int8"), pa.array(range(N), "int32"), [pa.array(range(N))])
    result = la.dedup(pa.table({"text": TEXTS, "u": union}))
    said = r"column 'u': a column of type dense_union.* cannot be written as parquet"
    refused_output(said, result.write, tmp_path / "out.parquet")
    refused(r"column 'u': values of type dense_union.* cannot be converted", result.write, tmp_path / "out.jsonl")
    assert list(tmp_path.iterdir()) == []


def test_schema_and_fields_keep_their_metadata(tmp_path):
    inner = pa.field("x", "int8", metadata={"a": "b"})
    fields = [pa.field("text", "string", False, {"unit": "words"}), pa.field("s", pa.struct([inner]))]
    schema = pa.schema(fields, metadata={"made by": b"\xff\0"})
    pq.write_table(pa.table({"text": WORDS, "s": [{"x": 1}] * N}, schema), tmp_path / "in.parquet", write_page_index=True)
    la.dedup(tmp_path / "in.parquet").write(tmp_path / "out.parquet")
    before, after = (read(tmp_path / f"{name}.parquet").schema for name in ("in", "out"))
    metadata = dict(after.metadata)
    provenance = json.loads(metadata.pop(b"lookalike"))
    assert provenance["lookalike"] == la.__version__ and provenance["parameters"]["threshold"] == 0.8
    assert after.with_metadata(metadata).equals(before, check_metadata=True)


def number(value):
    value, out = 2 * value, b""
    while value > 127:
        value, out = value >> 7, out + bytes([value & 127 | 128])
    return out + bytes([value])


@pytest.mark.parametrize(
    ("codec", "large", "column", "given", "words"),
    one_in(3, ["none", "snappy", "zstd"], [False, True], [(0, {}), (0, {"id": "id"}), (1, {"id": "id"})], [10, 200]),
)
def test_a_page_that_says_that_it_has_fewer_values(tmp_path, monkeypatch, codec, large, column, given, words):
    """However the pages are read, no rows are left out, and no texts are empty."""
    path = tmp_path / "in.parquet"
    table = pa.table({"text": [f"word{i} " * words for i in range(3000)], "id": list(range(3000))})
    how = {"use_dictionary": False, "data_page_size": 1 << 30, "max_rows_per_page": 1 << 30, "write_batch_size": 1 << 20}
    pq.write_table(table, path, compression=codec, **how)
    data, at = path.read_bytes(), pq.read_metadata(path).row_group(0).column(column).data_page_offset
    path.write_bytes(data[:at] + data[at:].replace(number(3000), number(1000), 1))
    if large:
        monkeypatch.setattr(row_groups, "LARGE", 30_000)
        given = given | {"max_document": "10KB"}
    refused(r"in\.parquet: damaged parquet data after row [01]\d*: .*(rows|same size)", la.dedup, path, **given)


def test_metadata_that_state_other_rows(tmp_path):
    path, out = tmp_path / "in.parquet", tmp_path / "out.parquet"
    table_at(path, {"text": [f"word{i}" for i in range(3000)]}, row_group_size=1500)
    data = path.read_bytes()
    before, _, behind = data.rpartition(number(3000))
    for wrong, n_read in ((before + number(2999) + behind, 3000), (data.replace(number(1500), number(1499)), 2998)):
        refused(r"in\.parquet", la.dedup, put(path, wrong))
        la.dedup(path, on_error="skip").write(out, force=True)
        assert pq.read_metadata(out).num_rows == n_read
