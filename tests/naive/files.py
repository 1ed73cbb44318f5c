import csv
import gzip
import io
import json
import re
import sys
import zlib
from contextlib import suppress
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from naive.values import untyped

csv.field_size_limit(sys.maxsize)
MARKS = {b"\xff\xfe\0\0": "utf-32", b"\0\0\xfe\xff": "utf-32", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
FAILURES = (OSError, EOFError, ValueError, KeyError, TypeError, RecursionError, zlib.error, csv.Error, pa.ArrowException)


class UnreadableError(Exception):
    """By the strictest reading the file is not what its name says: the program has to refuse it, or explain itself."""


class UndecidedError(Exception):
    """Values that Python's reader cannot show: nothing is said of the case."""


class Row(NamedTuple):
    data: bytes
    id: Any = None
    n: Any = None
    raw: bytes | None = None
    fields: dict | None = None
    file: str = ""


def unpacked(path):
    """Decompressed by the suffix; text with a mark of the order of bytes as UTF-8."""
    data = path.read_bytes()
    if path.name.endswith(".gz"):
        data = gzip.decompress(data)
    elif path.name.endswith(".zst") and data:
        data = pa.input_stream(pa.BufferReader(data), compression="zstd").read()
    marked = next((name for mark, name in MARKS.items() if data.startswith(mark)), None)
    return data if marked is None else data.decode(marked, "surrogatepass").encode("utf-8", "surrogatepass")


def lines_of(path):
    return [line for line in unpacked(path).removeprefix(b"\xef\xbb\xbf").split(b"\n") if line.strip()]


def read_jsonl(path, errors, with_id, _):
    """The last of repeated names counts."""
    for line in lines_of(path):
        value = json.loads(line.decode("utf-8", "surrogateescape" if errors == "strict" else errors))
        text = "" if value["text"] is None else value["text"]
        if errors == "replace":  # a surrogate that was escaped: one replaced character
            text = re.sub("[\ud800-\udfff]", "\ufffd", text)
        known = value["id"] if with_id else None
        str(known).encode()  # bytes that are not UTF-8 are of matter where they are asked for
        yield Row(str.encode(text), known, value.get("n"), line, value)


def read_csv(path, errors, with_id, _):
    text = unpacked(path).decode("utf-8", errors).removeprefix("\ufeff")
    header, *records = [record for record in csv.reader(io.StringIO(text, newline=""), strict=True) if record] or [[]]
    for record in records:
        value = dict(zip(header, record, strict=False))
        data = value["text"].encode("utf-8", "strict" if errors == "strict" else "surrogatepass")
        yield Row(data, value["id"] if with_id else None, untyped(value.get("n")), None, value)


def read_parquet(path, errors, with_id, with_n):
    table = pq.ParquetFile(path).read(columns=["text", *["id"] * with_id, *["n"] * with_n])
    with suppress(pa.ArrowException, OSError):  # damage elsewhere shows when rows are written
        table = pq.ParquetFile(path).read()
    try:
        found = table.to_pylist()
    except UnicodeDecodeError as error:
        raise UndecidedError(str(error)) from None
    for row in found:
        text = row["text"] or ""
        data = text if isinstance(text, bytes) else text.encode()
        yield Row(data, row.get("id") if with_id else None, row.get("n"), None, row)


def read_txt(path, errors, *_):
    data = unpacked(path)
    if errors == "strict":
        data.decode()
    yield Row(data)


READERS = {"jsonl": read_jsonl, "csv": read_csv, "parquet": read_parquet, "txt": read_txt}


def read(paths, errors="strict", *, with_id=False, with_n=False):
    """``with_id`` and ``with_n`` say which columns have to be there."""
    out = []
    for path in paths:
        try:
            found = list(READERS[path.name.split(".")[1]](path, errors, with_id, with_n))
        except FAILURES as error:
            kind = UndecidedError if "int_max_str_digits" in str(error) else UnreadableError
            raise kind(repr(error)) from None
        out += [row._replace(file=str(path)) for row in found]
    return out
