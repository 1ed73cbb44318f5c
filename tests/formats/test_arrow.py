"""Files and streams of Arrow: kinds are kept, hostile ones are errors, data sets of Hugging Face are folders of them."""

import pickle
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from samples import one_in

import lookalike as la
from lookalike.formats import Columns, Limit
from lookalike.formats.sources import open_sources
from lookalike.formats.split import replace

TEXTS = [f"text number {n // 2} is like another {n // 2} that {n // 2} says" for n in range(3000)]
TABLE = pa.table({
    "id": range(3000), "text": TEXTS, "nested": [{"a": n} for n in range(3000)], "coded": pa.array(TEXTS).dictionary_encode(),
    "view": pa.array(TEXTS).cast(pa.string_view()), "large": pa.array(TEXTS, pa.large_string()),
})  # fmt: skip


def write(path, new, codec, table=TABLE):
    with new(str(path), table.schema, options=pa.ipc.IpcWriteOptions(compression=codec)) as writer:
        writer.write_table(table, max_chunksize=700)


@pytest.mark.parametrize("codec", [None, "lz4", "zstd"])
@pytest.mark.parametrize("kind", ["file", "stream"])
def test_kind_and_codec_are_kept(tmp_path, kind, codec):
    new, opened = (pa.ipc.new_file, pa.ipc.open_file) if kind == "file" else (pa.ipc.new_stream, pa.ipc.open_stream)
    path = tmp_path / "a.arrow"
    write(path, new, codec)
    result = la.dedup(path, id="id", threads=2)
    assert result.keep.tolist() == 1500 * [True, False]
    for column in ("coded", "view", "large"):
        assert la.dedup(path, text=column).kept.num_rows == 1500
    result.write(tmp_path / "out.arrow")
    result.write(tmp_path / "folder/")
    for name in ("out.arrow", "folder/a.arrow"):
        with pa.memory_map(str(tmp_path / name)) as source:
            found = opened(source).read_all()
            assert found.to_pylist() == TABLE.to_pylist()[::2]
            assert found.schema.field("coded").type == TABLE.schema.field("coded").type
        size = (tmp_path / name).stat().st_size
        assert (size < 150_000) == (codec is not None), size
    result.write(tmp_path / "out.parquet")
    result.write(tmp_path / "out.jsonl")
    assert la.dedup(tmp_path / "out.jsonl").kept.num_rows == la.dedup(tmp_path / "out.parquet").kept.num_rows == 1500


@pytest.mark.parametrize("kind", ["file", "stream"])
def test_several_dictionaries_in_one_file(tmp_path, kind):
    """A file has room for one; a stream replaces it."""
    new, opened = (pa.ipc.new_file, pa.ipc.open_file) if kind == "file" else (pa.ipc.new_stream, pa.ipc.open_stream)
    for n, coded in enumerate("xy"):
        write(
            tmp_path / f"{n}.arrow", new, None, pa.table({"text": [f"a {n}"], "coded": pa.array([coded]).dictionary_encode()})
        )
    la.dedup(sorted(tmp_path.glob("*.arrow"))).write(tmp_path / "out.arrow")
    pq.write_table(TABLE.select(["text", "coded"]), tmp_path / "in.parquet", row_group_size=700)
    la.dedup(tmp_path / "in.parquet").write(tmp_path / "of.arrow")
    with pa.memory_map(str(tmp_path / "out.arrow")) as out, pa.memory_map(str(tmp_path / "of.arrow")) as of:
        assert opened(out).read_all()["coded"].to_pylist() == ["x", "y"]
        assert pa.ipc.open_file(of).read_all()["coded"].to_pylist() == TEXTS[::2]


@pytest.mark.parametrize(
    ("suffix", "make"),
    one_in(
        3,
        [".arrow", ".orc", ".parquet"],
        [
            lambda coded: pa.ListArray.from_arrays([0, 1, 3], coded),
            lambda coded: pa.LargeListArray.from_arrays([0, 1, 3], coded),
            lambda coded: pa.MapArray.from_arrays([0, 1, 3], pa.array(["a", "b", "c"]), coded),
            lambda coded: pa.StructArray.from_arrays([pa.ListArray.from_arrays([0, 1, 3], coded)], ["inner"]),
            lambda coded: pa.ListArray.from_arrays([0, 1, 2], pa.StructArray.from_arrays([coded.slice(0, 2)], ["inner"])),
            lambda coded: pa.FixedSizeListArray.from_arrays(coded.slice(0, 2), 1),
        ],
    ),
)
def test_dictionaries_inside_other_columns(tmp_path, make, suffix):
    """They are written as their values, as those of columns are."""
    wanted = []
    for n, words in enumerate([["x", "y", "z"], ["u", "x", "v"]]):
        column = make(pa.array(words).dictionary_encode())
        table = pa.table({"text": [f"words {n} {i}" for i in range(2)], "tags": column})
        write(tmp_path / f"{n}.arrow", pa.ipc.new_file, None, table)
        wanted += column.to_pylist()
    out = tmp_path / f"out{suffix}"
    la.dedup(sorted(tmp_path.glob("?.arrow"))).write(out)
    assert la.dedup(out).clean()["tags"].to_pylist() == wanted


@pytest.mark.parametrize("lost", [1, 3, 5])
def test_a_stream_that_ends_in_its_last_mark(tmp_path, lost):
    write(tmp_path / "a.arrow", pa.ipc.new_stream, None, TABLE)
    data = (tmp_path / "a.arrow").read_bytes()
    (tmp_path / "a.arrow").write_bytes(data[:-lost])
    with pytest.raises(la.errors.InputDataError, match="cut short"):
        la.dedup(tmp_path / "a.arrow")


@pytest.mark.parametrize("kind", ["file", "stream"])
def test_what_is_decompressed_must_fit(tmp_path, kind):
    path, new = tmp_path / "a.arrow", pa.ipc.new_file if kind == "file" else pa.ipc.new_stream
    write(path, new, "zstd", pa.table({"n": [1] * 5, "text": ["x" * (20 << 20)] * 5}))
    assert path.stat().st_size < 1 << 20
    (split,) = (replace(split, limit=Limit(room=50 << 20)) for split in open_sources([path]))
    for ask in (lambda: list(split.batches(Columns())), lambda: list(split.form.tables(split, False))):
        with pytest.raises(
            la.errors.InputDataError, match=r"a.arrow: .*batch 1 take 105 MB, .* the 52 MB .*raise memory= .*smaller batches"
        ):
            ask()
    with pytest.raises(la.errors.InputDataError, match=r"column 'n': texts must be strings"):  # which is small, and read
        list(split.batches(Columns("n")))


def most_allocated(path):
    before, most = pa.total_allocated_bytes(), 0
    for batch in open_sources([path])[0].batches(Columns()):
        most = max(most, pa.total_allocated_bytes() - before)
        del batch
    return most


@pytest.mark.parametrize("kind", ["file", "stream"])
def test_what_is_mapped_is_not_copied(tmp_path, kind):
    path, new = tmp_path / "a.arrow", pa.ipc.new_file if kind == "file" else pa.ipc.new_stream
    write(path, new, None, pa.table({"n": range(5000), "text": ["word " * 2000] * 5000}))
    assert most_allocated(path) < 1 << 20


def test_a_long_value_of_a_dictionary_is_copied_for_few_rows(tmp_path):
    column = pa.DictionaryArray.from_arrays(pa.array([0] * 20_000, pa.int32()), ["x" * 100_000])
    write(tmp_path / "a.arrow", pa.ipc.new_file, None, pa.table({"text": column}))
    assert 1 << 20 < most_allocated(tmp_path / "a.arrow") < 100 << 20


FLIPS = """
import random, sys
from pathlib import Path
import lookalike as la
path, draw = Path(sys.argv[1]), random.Random(int(sys.argv[2]))
whole, refused = path.read_bytes(), 0
for attempt in range(300):
    damaged = bytearray(whole)
    for _ in range(draw.choice([1, 3, 20])):
        damaged[draw.randrange(len(damaged) if attempt % 2 else min(3000, len(damaged)))] = draw.randrange(256)
    path.write_bytes(damaged[: draw.randrange(len(damaged))] if attempt % 10 == 0 else damaged)
    try:
        la.dedup(path, threads=1, encoding_errors="replace", memory="600MB")
    except la.errors.InputDataError:
        refused += 1
print(refused)
"""


@pytest.mark.parametrize(("kind", "codec"), [("file", None), ("stream", None), ("file", "lz4"), ("stream", "zstd")])
def test_damaged_files_are_errors_and_never_the_end(tmp_path, kind, codec):
    path = tmp_path / "a.arrow"
    write(
        path,
        pa.ipc.new_file if kind == "file" else pa.ipc.new_stream,
        codec,
        TABLE.slice(0, 200).select(["id", "text", "coded"]),
    )
    done = subprocess.run([sys.executable, "-c", FLIPS, str(path), "1"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) > 50


@pytest.mark.parametrize("shards", [1, 3])
def test_what_is_left_of_a_saved_data_set_is_one(tmp_path, shards):
    datasets = pytest.importorskip("datasets", reason="the package datasets is not installed")
    rows = datasets.Dataset.from_dict({"id": list(range(300)), "text": TEXTS[:300], "label": [0, 1] * 150})
    rows = rows.cast_column("label", datasets.ClassLabel(names=["no", "yes"]))
    given = datasets.DatasetDict({"train": rows, "test": rows.select(range(20)), "other": rows.select([2, 200])})
    given.save_to_disk(str(tmp_path / "saved"), num_shards={"train": shards, "test": 1, "other": 1})
    result = la.dedup(tmp_path / "saved")
    result.write(tmp_path / "out")
    again = datasets.load_from_disk(str(tmp_path / "out"))
    assert list(again) == list(given) and again["train"].features == rows.features
    assert sum(map(len, again.values())) == result.kept.num_rows == 150
    assert again["train"]._fingerprint != datasets.load_from_disk(str(tmp_path / "saved"))["train"]._fingerprint
    la.dedup(tmp_path / "saved/train").write(tmp_path / "train")
    alone = datasets.load_from_disk(str(tmp_path / "train"))
    assert alone["id"][:] == list(range(0, 300, 2))
    assert '"state.json"' in (tmp_path / "train/_lookalike.json").read_text()
    (tmp_path / "saved/train/cache-1234.arrow").write_bytes(next((tmp_path / "saved/train").glob("data-*")).read_bytes())
    beside = la.dedup(tmp_path / "saved/train")  # what map() keeps beside the data
    assert beside.summary.documents == 300 and beside.summary.skipped["by_reason"]["marker"] == 3
    result.write(tmp_path / "out", force=True)
    la.dedup(tmp_path / "saved/train", annotate=True).write(tmp_path / "all", annotate=True)
    assert not (tmp_path / "all/state.json").exists()


@pytest.mark.parametrize("codec", [None, "zstd"])
@pytest.mark.parametrize(("kind", "table"), [("file", TABLE), ("stream", TABLE), ("stream", TABLE.drop(["coded"]))])
def test_pieces(tmp_path, kind, codec, table):
    """Batches are read apart, of streams only where nothing before them is needed."""
    path = tmp_path / "a.arrow"
    write(path, pa.ipc.new_file if kind == "file" else pa.ipc.new_stream, codec, table)
    (split,) = open_sources([path])
    pieces = split.pieces(5000)
    assert len(pieces) == (1 if kind == "stream" and (codec or "coded" in table.column_names) else 5)
    columns, found, ends = Columns(id="id", others=("large",)), [], []
    for first, piece in pieces:
        assert first == len(found), "pieces go on where those before end"
        for batch in pickle.loads(pickle.dumps(piece)).batches(columns):
            assert batch.numbers.tolist() == list(range(len(found) + 1, len(found) + len(batch.numbers) + 1))
            found += zip(batch.ids.to_pylist(), map(bytes.decode, map(batch.texts.row, range(len(batch.texts)))), strict=True)
        ends.append(len(found))
    assert found == list(zip(range(3000), TEXTS, strict=True)) and (len(ends) == 1 or ends == [700, 1400, 2100, 2800, 3000])
    path.write_bytes(path.read_bytes()[:-1000])
    with pytest.raises(la.errors.InputDataError, match="not a readable Arrow file|the file changed"):
        for _, piece in open_sources([path])[0].pieces(5000):
            list(piece.batches(columns))
