import subprocess
import sys

import pyarrow as pa

TEXT = pa.array(["one two three", "four five six"])
BROKEN = pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\3\0\0\0"), pa.py_buffer(b"a\xffb")])


def made(file, rows):
    names = list(rows[0]) if rows else ["id", "text"]
    return file(pa.table({name: pa.array([row[name] for row in rows], "string") for name in names}))


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
    return file(pa.table([TEXT, TEXT], ["text", "text"])), "the column 'text' appears 2 times"


FLIPS = """
import random, sys
from pathlib import Path
import lookalike as la
path, draw = Path(sys.argv[1]), random.Random(1)
whole, refused = path.read_bytes(), 0
for attempt in range(int(sys.argv[2])):
    damaged = bytearray(whole)
    for _ in range(draw.choice([1, 3, 20])):
        near = -draw.randrange(1, 400) if path.suffix == ".orc" else draw.randrange(min(3000, len(damaged)))
        damaged[draw.randrange(len(damaged)) if attempt % 2 else near] = draw.randrange(256)
    path.write_bytes(damaged[: draw.randrange(len(damaged))] if attempt % 10 == 0 else damaged)
    try:
        la.dedup(path, threads=1, encoding_errors="replace", memory="600MB")
    except la.errors.InputDataError:
        refused += 1
print(refused)
"""


def in_a_process(code, *arguments):
    done = subprocess.run([sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
    return int(done.stdout)
