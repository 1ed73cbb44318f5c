import bz2
import csv
import decimal
import gzip
import io
import json
import lzma

import pyarrow as pa
import pyarrow.parquet as pq
from formats.format_samples import packed

import lookalike as la

A = " ".join(f"word{i}" for i in range(60))
WORDS = [f"text of row {i} and its {i * 7919} {i * 104729} {i * 1299709} words" for i in range(12)]
MOMENT = 1_700_000_000_123_456_789


def lines(rows):
    return [json.dumps(row).encode() + b"\n" for row in rows]


def write(path, content):
    path.write_bytes(packed(b"".join(content), path.suffix))
    return path


def read(path):
    data = path.read_bytes()
    unpack = {".gz": gzip.decompress, ".bz2": bz2.decompress, ".xz": lzma.decompress, ".zst": _from_zst}.get(path.suffix)
    return data if unpack is None else unpack(data)


def _from_zst(data):
    with pa.input_stream(pa.BufferReader(data), compression="zstd") as stream:
        return stream.read()


def column_file(path, values, start=0):
    """``values`` are JSON as it stands."""
    rows = (f'{{"text":"{WORDS[start + i]}","x":{value}}}\n' for i, value in enumerate(values))
    path.write_text("".join(rows))
    return path


def parquet(path, column, name="x"):
    pq.write_table(pa.table({"text": WORDS[: len(column)], name: column}), path)
    return path


def converted(data, target):
    la.dedup(data, threads=1, threshold=1.0).write(target)
    if target.suffix == ".csv":
        return [row["x"] for row in csv.DictReader(io.StringIO(target.read_text(), newline=""), strict=True)]
    if target.suffix == ".parquet":
        return pq.read_table(target)["x"].to_pylist()
    return [json.loads(line, parse_float=decimal.Decimal)["x"] for line in target.read_text().splitlines()]
