"""What samples of columnar formats share, given how a table becomes bytes."""

import pyarrow as pa

TEXT = pa.array(["one two three", "four five six"])
BROKEN = pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\3\0\0\0"), pa.py_buffer(b"a\xffb")])


def made(file, rows):
    """Rows as bytes."""
    names = list(rows[0]) if rows else ["id", "text"]
    return file(pa.table({name: pa.array([row[name] for row in rows], pa.string()) for name in names}))


def hostile(file, unreadable, **more):
    """Files, with their texts or the error that they are; ``more`` are of one format."""
    whole = file(pa.table({"text": TEXT}))
    return {
        "empty": (b"", unreadable),
        "no rows": (file(pa.table({"text": TEXT[:0]})), []),
        "byte order mark": (b"\xef\xbb\xbf" + whole, unreadable),
        "carriage returns": (file(pa.table({"text": ["a\r\nb"]})), ["a\r\nb"]),
        "NUL": (file(pa.table({"text": ["a\0b"]})), ["a\0b"]),
        "invalid UTF-8": (file(pa.table({"text": BROKEN})), ["a\udcffb"]),  # which a job finds when it takes the text apart
        "missing field": (file(pa.table({"body": TEXT})), "column 'text' is missing; columns found: body"),
        "null text": (file(pa.table({"text": pa.array(["a", None])})), ["a", ""]),
        "a text that is none": (file(pa.table({"text": [1, 2]})), "column 'text': .*int64"),
        "cut short": (whole[:-9], unreadable),
        **more,
    }


def twice(file):
    """Two columns of one name."""
    return file(pa.table([TEXT, TEXT], ["text", "text"])), "the column 'text' appears 2 times"
