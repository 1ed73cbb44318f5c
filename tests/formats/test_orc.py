from hashlib import md5

import pyarrow as pa
import pytest
from cli.commands import run
from formats.columnar_samples import FLIPS, in_a_process
from formats.jobs import refused_output
from pyarrow import orc
from row_files import parquet
from samples import one_in

import lookalike as la
from lookalike.formats import Columns
from lookalike.formats.sources import open_sources
from lookalike.formats.split import replace

TEXTS = [" ".join(md5(f"{n // 2} {i}".encode()).hexdigest() for i in range(8)) for n in range(3000)]
TABLE = pa.table({
    "id": range(3000), "text": TEXTS, "doc": [{"text": text, "n": [n, None]} for n, text in enumerate(TEXTS)],
    "score": pa.array([n / 2 for n in range(3000)], "float32"), "no": pa.array([None, True] * 1500),
})  # fmt: skip


def write(path, codec="uncompressed", table=TABLE):
    with orc.ORCWriter(str(path), compression=codec, stripe_size=1 << 16, batch_size=100) as writer:
        for begin in range(0, len(table), 100):
            writer.write(table.slice(begin, 100))
    return path


def test_types_and_compression_are_kept(tmp_path):
    for codec in ("uncompressed", "snappy", "zlib", "lz4", "zstd"):
        path = write(tmp_path / "a.orc", codec)
        assert orc.ORCFile(path).nstripes > 1
        result = la.dedup(path, id="id", text="doc.text")
        assert result.keep.tolist() == 1500 * [True, False]
        for name in ("out.orc", "folder/a.orc"):
            result.write(tmp_path / name.partition("/a")[0], force=True)
            file = orc.ORCFile(tmp_path / name)
            assert file.compression.lower() == codec
            assert file.read().equals(TABLE.take(list(range(0, 3000, 2))).combine_chunks())
    noted = []
    (split,) = (replace(split, on_read=noted.append) for split in open_sources([path]))
    numbers = [number for batch in split.batches(Columns()) for number in batch.numbers.tolist()]
    assert numbers == list(range(1, 3001)) and split.expected("text")[0] == 3000
    assert 0 < sum(noted) <= split.place.size


def test_what_orc_has_no_type_for(tmp_path, capsys):
    """A dictionary is written as its values; what has no form is an error, before the job if it is known."""
    coded = pa.table({"text": TEXTS[:4], "kind": pa.array(list("xyxy")).dictionary_encode()})
    la.dedup(coded).write(tmp_path / "a.orc")
    assert orc.read_table(tmp_path / "a.orc")["kind"].to_pylist() == ["x", "x"]
    assert orc.ORCFile(tmp_path / "a.orc").compression == "ZSTD"
    for column, said in (
        (pa.array([1, 2], "duration[s]"), " cannot be written as ORC: .*duration.*; cast or drop it"),
        (pa.array([[1], [2]], pa.list_(pa.uint8())), " cannot be written as ORC"),
    ):
        result = la.dedup(pa.table({"text": TEXTS[:2], "odd": column, "more": ["a", "b"]}))
        refused_output(f"column 'odd'{said}", result.write, tmp_path / "b.orc")
    path = parquet(tmp_path / "a.parquet", pa.array([1, 2], "uint8"))
    code, out, err = run(capsys, "dedup", path, "-o", tmp_path / "b.orc")
    assert code == 1 and "a.parquet, column 'x': cannot be written as ORC: " in err and "uint8; cast or drop it" in err
    assert "documents" not in out and not (tmp_path / "b.orc").exists()
    assert run(capsys, "dedup", path, "-o", tmp_path / "b.arrow")[0] == 0


@pytest.mark.parametrize("codec", one_in(3, ["zstd", "uncompressed", "zlib"]))
def test_damaged_files_are_errors_and_never_the_end(tmp_path, codec):
    assert 20 < in_a_process(FLIPS, write(tmp_path / "a.orc", codec, TABLE.slice(0, 200)), 200) < 200


def test_a_value_that_a_stripe_repeats_is_not_held_as_often(tmp_path):
    """A file of 33 kB would take 2 GB if a stripe was read as a whole."""
    path = tmp_path / "a.orc"
    with orc.ORCWriter(str(path), compression="zlib", dictionary_key_size_threshold=1.0, stripe_size=1 << 30) as writer:
        for _ in range(40):
            writer.write(pa.table({"text": ["x" * 1_000_000] * 50}))
    assert orc.ORCFile(path).nstripes == 1 and path.stat().st_size < 100_000
    command = "import sys, lookalike as la; print(la.dedup(sys.argv[1], memory='1200MB', threads=1).summary.peak_memory)"
    assert in_a_process(command, path) < 1_200_000_000
