"""ORC: types and compression are kept, hostile files are errors."""

import subprocess
import sys
from hashlib import md5

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli.commands import run
from pyarrow import orc

import lookalike as la
from lookalike.formats import Columns
from lookalike.formats.sources import open_sources
from lookalike.formats.split import replace

TEXTS = [" ".join(md5(f"{n // 2} {i}".encode()).hexdigest() for i in range(8)) for n in range(3000)]
TABLE = pa.table({
    "id": range(3000), "text": TEXTS, "doc": [{"text": text, "n": [n, None]} for n, text in enumerate(TEXTS)],
    "score": pa.array([n / 2 for n in range(3000)], pa.float32()), "no": pa.array([None, True] * 1500),
})  # fmt: skip


def write(path, codec="uncompressed", table=TABLE):
    with orc.ORCWriter(str(path), compression=codec, stripe_size=1 << 16, batch_size=100) as writer:
        for begin in range(0, len(table), 100):
            writer.write(table.slice(begin, 100))
    return path


@pytest.mark.parametrize("codec", ["uncompressed", "snappy", "zlib", "lz4", "zstd"])
def test_types_and_compression_are_kept(tmp_path, codec):
    path = write(tmp_path / "a.orc", codec)
    assert orc.ORCFile(path).nstripes > 1
    for threads in (1, 2):
        result = la.dedup(path, id="id", text="doc.text", threads=threads)
        assert result.keep.tolist() == 1500 * [True, False]
    result.write(tmp_path / "out.orc")
    result.write(tmp_path / "folder/")
    for name in ("out.orc", "folder/a.orc"):
        file = orc.ORCFile(tmp_path / name)
        assert file.compression.lower() == codec
        assert file.read().equals(TABLE.take(list(range(0, 3000, 2))).combine_chunks())
    result.write(tmp_path / "out.parquet")
    assert la.dedup(tmp_path / "out.parquet").kept.num_rows == 1500


def test_rows_are_numbered_through_all_stripes(tmp_path):
    noted = []
    (split,) = (replace(split, on_read=noted.append) for split in open_sources([write(tmp_path / "a.orc")]))
    numbers = [number for batch in split.batches(Columns()) for number in batch.numbers.tolist()]
    assert numbers == list(range(1, 3001)) and split.expected("text")[0] == 3000
    assert 0 < sum(noted) <= split.place.size


def test_what_orc_has_no_type_for(tmp_path):
    """A dictionary is written as its values; what has no other form is an error that says so."""
    coded = pa.table({"text": TEXTS[:4], "kind": pa.array(list("xyxy")).dictionary_encode()})
    la.dedup(coded).write(tmp_path / "a.orc")
    assert orc.read_table(tmp_path / "a.orc")["kind"].to_pylist() == ["x", "x"]
    assert orc.ORCFile(tmp_path / "a.orc").compression == "ZSTD"
    odd = pa.table({"text": TEXTS[:2], "for": pa.array([1, 2], pa.duration("s"))})
    with pytest.raises(la.errors.OutputError, match="column 'for' cannot be written as ORC: .*duration.*; cast or drop it"):
        la.dedup(odd).write(tmp_path / "b.orc")
    odd = pa.table({"text": TEXTS[:2], "all": pa.array([[1], [2]], pa.list_(pa.uint8())), "more": ["a", "b"]})
    with pytest.raises(la.errors.OutputError, match="column 'all' cannot be written as ORC"):
        la.dedup(odd).write(tmp_path / "b.orc")


FLIPS = """
import random, sys
from pathlib import Path
import lookalike as la
path, draw = Path(sys.argv[1]), random.Random(int(sys.argv[2]))
whole, refused = path.read_bytes(), 0
for attempt in range(200):
    damaged = bytearray(whole)
    for _ in range(draw.choice([1, 3, 20])):
        damaged[draw.randrange(len(damaged)) if attempt % 2 else -draw.randrange(1, 400)] = draw.randrange(256)
    path.write_bytes(damaged[: draw.randrange(len(damaged))] if attempt % 10 == 0 else damaged)
    try:
        la.dedup(path, threads=1, encoding_errors="replace", memory="600MB")
    except la.errors.InputDataError:
        refused += 1
print(refused)
"""


@pytest.mark.parametrize("codec", ["uncompressed", "zlib", "zstd"])
def test_damaged_files_are_errors_and_never_the_end(tmp_path, codec):
    path = write(tmp_path / "a.orc", codec, TABLE.slice(0, 200))
    done = subprocess.run([sys.executable, "-c", FLIPS, str(path), "1"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
    assert 20 < int(done.stdout) < 200


def test_a_value_that_a_stripe_repeats_is_not_held_as_often(tmp_path):
    """A file of 33 kB would take 2 GB if a stripe was read as a whole."""
    path = tmp_path / "a.orc"
    with orc.ORCWriter(str(path), compression="zlib", dictionary_key_size_threshold=1.0, stripe_size=1 << 30) as writer:
        for _ in range(40):
            writer.write(pa.table({"text": ["x" * 1_000_000] * 50}))
    assert orc.ORCFile(path).nstripes == 1 and path.stat().st_size < 100_000
    command = "import sys, lookalike as la; print(la.dedup(sys.argv[1], memory='1200MB', threads=1).summary.peak_memory)"
    done = subprocess.run([sys.executable, "-c", command, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and int(done.stdout) < 1_200_000_000, done.stderr[-2000:]


def test_what_an_output_has_no_type_for_is_said_before_the_job(tmp_path, capsys):
    pq.write_table(pa.table({"text": TEXTS[:2], "n": pa.array([1, 2], pa.uint8())}), tmp_path / "a.parquet")
    code, out, err = run(capsys, "dedup", tmp_path / "a.parquet", "-o", tmp_path / "b.orc")
    assert code == 1 and "a.parquet, column 'n': cannot be written as ORC: " in err and "uint8; cast or drop it" in err
    assert "documents" not in out and not (tmp_path / "b.orc").exists()
    assert run(capsys, "dedup", tmp_path / "a.parquet", "-o", tmp_path / "b.arrow")[0] == 0


@pytest.mark.parametrize("out", ["out.orc", "folder", "out.jsonl"])
def test_two_columns_of_one_name(tmp_path, out):
    """They are refused before the job where rows are written, and read where they are not."""
    orc.write_table(pa.table([TEXTS[:3], [1, 2, 3], [4, 5, 6]], names=["text", "x", "x"]), tmp_path / "in.orc")
    assert len(la.dedup(tmp_path / "in.orc")) == 3
    with pytest.raises(la.errors.InputDataError, match=r"in\.orc: the column 'x' appears 2 times; rename all but one"):
        la.dedup(tmp_path / "in.orc").write(tmp_path / out)
