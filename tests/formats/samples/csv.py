"""Samples of CSV."""

import csv
import io

A, B = "one two three", "four five six"
LINES = b"id,text\n1,one two three\n2,four five six\n"


def make(rows, mark=",", **how):
    """Rows as bytes; null is nothing between two marks."""
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(rows[0]) if rows else ["id", "text"], delimiter=mark, lineterminator="\n", **how)
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


HOSTILE = {
    "empty": (b"", []),
    "header only": (b"id,text\n", []),
    "byte order mark": (b"\xef\xbb\xbf" + LINES, [A, B]),
    "carriage returns": (LINES.replace(b"\n", b"\r\n"), [A, B]),
    "no final newline": (LINES[:-1], [A, B]),
    "blank lines": (LINES.replace(b"\n", b"\n\n"), [A, B]),
    "NUL": (LINES.replace(b"four", b"fo\0ur"), [A, "fo\0ur five six"]),
    "invalid UTF-8": (LINES.replace(b"four", b"fo\xffur"), "line 3: invalid UTF-8 at byte 28 of the file"),
    "UTF-16": (LINES.decode().encode("utf-16"), [A, B]),
    "UTF-16 without a mark": (
        LINES.decode().encode("utf-16-le"),
        r"the header contains NUL \(it looks like UTF-16\), and no column 'text'; convert the file",
    ),
    "two byte order marks": (
        b"\xef\xbb\xbf\xef\xbb\xbftext\na\n",
        r"column 'text' is missing; columns found: \\ufefftext",
    ),
    "carriage returns alone": (LINES.replace(b"\n", b"\r"), "line 1: not valid CSV: a carriage return outside quotes"),
    "a carriage return in a field": (
        LINES.replace(b"four", b"fo\rur"),
        "line 3: .*outside quotes; end records with a line feed",
    ),
    "semicolons": (LINES.replace(b",", b";"), "'text' is missing; columns found: id;text; fields must be separated by ','"),
    "missing field": (b"id,body\n1,one\n", "column 'text' is missing; columns found: id, body"),
    "a short row": (LINES + b"3\n", "row 3: 1 fields where the header names 2"),
    "a long row": (LINES + b"3,a,b\n", "row 3: 3 fields where the header names 2; put .* in quotes"),
    "null text": (LINES + b"3,\n", [A, B, ""]),
    "cut short": (LINES + b'3,"seven', "line 4: not valid CSV: the file ends inside a quoted field"),
}
