import pickle

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from formats.columnar_samples import FLIPS, in_a_process
from formats.jobs import one_split, put, refused, rows_in
from samples import one_in

import lookalike as la
from lookalike.formats import Columns, Limit
from lookalike.formats.sources import open_sources
from lookalike.formats.split import replace

TEXTS = [f"text number {n // 2} is like another {n // 2} that {n // 2} says" for n in range(3000)]
TABLE = pa.table({
    "id": range(3000), "text": TEXTS, "nested": [{"a": n} for n in range(3000)], "coded": pa.array(TEXTS).dictionary_encode(),
    "view": pa.array(TEXTS).cast("string_view"), "large": pa.array(TEXTS, "large_string"),
})  # fmt: skip


KINDS = {"file": (pa.ipc.new_file, pa.ipc.open_file), "stream": (pa.ipc.new_stream, pa.ipc.open_stream)}
both = pytest.mark.parametrize("kind", KINDS)


def write(path, kind, codec=None, table=TABLE):
    with KINDS[kind][0](str(path), table.schema, options=pa.ipc.IpcWriteOptions(compression=codec)) as writer:
        writer.write_table(table, max_chunksize=700)
    return path


def read(path, kind):
    with pa.memory_map(str(path)) as source:
        return KINDS[kind][1](source).read_all()


@pytest.mark.parametrize("codec", [None, "lz4", "zstd"])
@both
def test_kind_and_codec_are_kept(tmp_path, kind, codec):
    path = write(tmp_path / "a.arrow", kind, codec)
    result = la.dedup(path, id="id", threads=2)
    assert result.keep.tolist() == 1500 * [True, False]
    for column in ("coded", "view", "large"):
        assert la.dedup(path, text=column).kept.num_rows == 1500
    for name in ("out.arrow", "folder/a.arrow"):
        result.write(tmp_path / name.partition("/a")[0])
        found = read(tmp_path / name, kind)
        assert found.to_pylist() == TABLE.to_pylist()[::2]
        assert found.schema.field("coded").type == TABLE.schema.field("coded").type
        size = (tmp_path / name).stat().st_size
        assert (size < 150_000) == (codec is not None), size
    for name in ("out.parquet", "out.jsonl"):
        result.write(tmp_path / name)
        assert la.dedup(tmp_path / name).kept.num_rows == 1500


@both
def test_several_dictionaries_in_one_file(tmp_path, kind):
    """A file has room for one; a stream replaces it."""
    for n, coded in enumerate("xy"):
        table = pa.table({"text": [f"a {n}"], "coded": pa.array([coded]).dictionary_encode()})
        write(tmp_path / f"{n}.arrow", kind, table=table)
    la.dedup(sorted(tmp_path.glob("*.arrow"))).write(tmp_path / "out.arrow")
    assert read(tmp_path / "out.arrow", kind)["coded"].to_pylist() == ["x", "y"]
    pq.write_table(TABLE.select(["text", "coded"]), tmp_path / "in.parquet", row_group_size=700)
    la.dedup(tmp_path / "in.parquet").write(tmp_path / "of.arrow")
    assert read(tmp_path / "of.arrow", "file")["coded"].to_pylist() == TEXTS[::2]


def lists(values, ends=(1, 3), kind=pa.ListArray):
    return kind.from_arrays([0, *ends], values)


@pytest.mark.parametrize(
    ("suffix", "make"),
    one_in(
        3,
        [".arrow", ".orc", ".parquet"],
        [
            lists,
            lambda coded: lists(coded, kind=pa.LargeListArray),
            lambda coded: pa.MapArray.from_arrays([0, 1, 3], pa.array(["a", "b", "c"]), coded),
            lambda coded: pa.StructArray.from_arrays([lists(coded)], ["inner"]),
            lambda coded: lists(pa.StructArray.from_arrays([coded.slice(0, 2)], ["inner"]), (1, 2)),
            lambda coded: pa.FixedSizeListArray.from_arrays(coded.slice(0, 2), 1),
        ],
    ),
)
def test_dictionaries_inside_other_columns(tmp_path, make, suffix):
    wanted = []
    for n, words in enumerate(["xyz", "uxv"]):
        column = make(pa.array(list(words)).dictionary_encode())
        write(tmp_path / f"{n}.arrow", "file", table=pa.table({"text": [f"words {n} {i}" for i in range(2)], "tags": column}))
        wanted += column.to_pylist()
    out = tmp_path / f"out{suffix}"
    la.dedup(sorted(tmp_path.glob("?.arrow"))).write(out)
    assert la.dedup(out).clean()["tags"].to_pylist() == wanted


def test_a_stream_that_ends_in_its_last_mark(tmp_path):
    path = write(tmp_path / "a.arrow", "stream")
    data = path.read_bytes()
    for lost in (1, 3, 5):
        refused("cut short", la.dedup, put(path, data[:-lost]))


@both
def test_what_is_decompressed_must_fit(tmp_path, kind):
    path = write(tmp_path / "a.arrow", kind, "zstd", pa.table({"n": [1] * 5, "text": ["x" * (20 << 20)] * 5}))
    assert path.stat().st_size < 1 << 20
    (split,) = (replace(split, limit=Limit(room=50 << 20)) for split in open_sources([path]))
    for rows in (split.batches(Columns()), split.form.tables(split, False)):
        said = r"a.arrow: .*batch 1 take 105 MB, .* the 52 MB .*raise memory= .*smaller batches"
        refused(said, list, rows)
    refused(r"column 'n': texts must be strings", list, split.batches(Columns("n")))  # which is small, and read


def most_allocated(path):
    before, most = pa.total_allocated_bytes(), 0
    for batch in one_split(path).batches(Columns()):
        most = max(most, pa.total_allocated_bytes() - before)
        del batch
    return most


@both
def test_what_is_mapped_is_not_copied(tmp_path, kind):
    table = pa.table({"n": range(5000), "text": ["word " * 2000] * 5000})
    assert most_allocated(write(tmp_path / "a.arrow", kind, table=table)) < 1 << 20


def test_a_long_value_of_a_dictionary_is_copied_for_few_rows(tmp_path):
    column = pa.DictionaryArray.from_arrays(pa.array([0] * 20_000, "int32"), ["x" * 100_000])
    path = write(tmp_path / "a.arrow", "file", table=pa.table({"text": column}))
    assert 1 << 20 < most_allocated(path) < 100 << 20


@pytest.mark.parametrize(("kind", "codec"), one_in(2, [("file", None), ("stream", None), ("file", "lz4"), ("stream", "zstd")]))
def test_damaged_files_are_errors_and_never_the_end(tmp_path, kind, codec):
    path = write(tmp_path / "a.arrow", kind, codec, TABLE.slice(0, 200).select(["id", "text", "coded"]))
    assert in_a_process(FLIPS, path, 300) > 50


@pytest.mark.parametrize("shards", [1, 3])
def test_what_is_left_of_a_saved_data_set_is_one(tmp_path, shards):
    datasets = pytest.importorskip("datasets", reason="the package datasets is not installed")
    saved, out, load = tmp_path / "saved", tmp_path / "out", datasets.load_from_disk
    rows = datasets.Dataset.from_dict({"id": list(range(300)), "text": TEXTS[:300], "label": [0, 1] * 150})
    rows = rows.cast_column("label", datasets.ClassLabel(names=["no", "yes"]))
    given = datasets.DatasetDict({"train": rows, "test": rows.select(range(20)), "other": rows.select([2, 200])})
    given.save_to_disk(str(saved), num_shards={"train": shards, "test": 1, "other": 1})
    result = la.dedup(saved)
    result.write(out)
    again = load(str(out))
    assert list(again) == list(given) and again["train"].features == rows.features
    assert sum(map(len, again.values())) == result.kept.num_rows == 150
    assert again["train"]._fingerprint != load(str(saved))["train"]._fingerprint
    result.write(out, force=True)
    la.dedup(saved / "train").write(tmp_path / "train")
    assert load(str(tmp_path / "train"))["id"][:] == list(range(0, 300, 2))
    assert '"state.json"' in (tmp_path / "train/_lookalike.json").read_text()
    put(saved / "train/cache-1234.arrow", next((saved / "train").glob("data-*")).read_bytes())
    beside = la.dedup(saved / "train", annotate=True)  # what map() keeps beside the data
    assert beside.summary.documents == 300 and beside.summary.skipped["by_reason"]["marker"] == 3
    beside.write(tmp_path / "all", annotate=True)
    assert not (tmp_path / "all/state.json").exists()


@pytest.mark.parametrize("codec", [None, "zstd"])
@pytest.mark.parametrize(("kind", "table"), [("file", TABLE), ("stream", TABLE), ("stream", TABLE.drop(["coded"]))])
def test_pieces(tmp_path, kind, codec, table):
    """Batches are read apart, of streams only where nothing before them is needed."""
    path = write(tmp_path / "a.arrow", kind, codec, table)
    pieces = one_split(path).pieces(5000)
    columns, found = Columns(id="id", others=("large",)), []
    whole = kind == "stream" and (codec or "coded" in table.column_names)
    assert [first for first, _ in pieces] == ([0] if whole else [0, 700, 1400, 2100, 2800])
    for first, piece in pieces:
        assert first == len(found), "pieces go on where those before end"
        found += rows_in(pickle.loads(pickle.dumps(piece)).batches(columns))
    assert found == [(n + 1, text.encode(), n, text) for n, text in enumerate(TEXTS)]
    put(path, path.read_bytes()[:-1000])
    with pytest.raises(la.errors.InputDataError, match="not a readable Arrow file|the file changed"):
        for _, piece in one_split(path).pieces(5000):
            list(piece.batches(columns))
