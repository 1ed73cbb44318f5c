"""Samples of parquet."""

import pyarrow as pa
import pyarrow.parquet as pq

TEXT = pa.array(["one two three", "four five six"])


def file(table):
    """A table as bytes."""
    stream = pa.BufferOutputStream()
    pq.write_table(table, stream)
    return stream.getvalue().to_pybytes()


def make(rows):
    """Rows as bytes."""
    names = list(rows[0]) if rows else ["id", "text"]
    return file(pa.table({name: pa.array([row[name] for row in rows], pa.string()) for name in names}))


WHOLE = file(pa.table({"text": TEXT}))
BROKEN = pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\3\0\0\0"), pa.py_buffer(b"a\xffb")])

HOSTILE = {
    "empty": (b"", "not a readable parquet file"),
    "no rows": (file(pa.table({"text": TEXT[:0]})), []),
    "byte order mark": (b"\xef\xbb\xbf" + WHOLE, "not a readable parquet file|damaged parquet data"),
    "carriage returns": (file(pa.table({"text": ["a\r\nb"]})), ["a\r\nb"]),
    "NUL": (file(pa.table({"text": ["a\0b"]})), ["a\0b"]),
    "invalid UTF-8": (file(pa.table({"text": BROKEN})), ["a\udcffb"]),  # which a job finds when it takes the text apart
    "missing field": (file(pa.table({"body": TEXT})), "column 'text' is missing; columns found: body"),
    "a name that comes twice": (file(pa.table([TEXT, TEXT], ["text", "text"])), "the column 'text' appears 2 times"),
    "null text": (file(pa.table({"text": pa.array(["a", None])})), ["a", ""]),
    "a text that is none": (file(pa.table({"text": [1, 2]})), "column 'text': .*int64"),
    "cut short": (WHOLE[:-9], "not a readable parquet file"),
    "damaged": (WHOLE[:20] + b"\xff" * 20 + WHOLE[40:], "damaged parquet data"),
}
