"""Files and streams of Arrow: kinds are kept, hostile ones are errors, data sets of Hugging Face are folders of them."""

import subprocess
import sys

import pyarrow as pa
import pytest

import lookalike as la

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


def test_rows_of_other_formats_become_a_file(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "one two"}\n{"text": "three"}\n')
    la.dedup(tmp_path / "a.jsonl").write(tmp_path / "out.feather")
    assert pa.ipc.open_file(str(tmp_path / "out.feather")).read_all()["text"].to_pylist() == ["one two", "three"]


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
    except la.InputDataError:
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


def test_a_saved_data_set_of_hugging_face(tmp_path):
    datasets = pytest.importorskip("datasets", reason="the package datasets is not installed")
    saved = tmp_path / "saved"
    split = datasets.Dataset.from_dict({"id": list(range(300)), "text": TEXTS[:300]})
    datasets.DatasetDict({"train": split, "test": split.select(range(20))}).save_to_disk(str(saved))
    result = la.dedup(saved)
    assert result.summary.documents == 320 and result.kept.num_rows == 150
    assert result.summary.skipped["by_reason"] == {"marker": 5}
