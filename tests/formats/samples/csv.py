import csv
import io

from formats.samples.jsonl import A, B

LINES = b"id,text\n1,one two three\n2,four five six\n"


def make(rows, mark=",", **how):
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
    "null text": (LINES + b"3,\n", [A, B, ""]),
}
