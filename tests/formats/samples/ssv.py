from formats.samples.jsonl import A, B

LINES = b"id;text\n1;one two three\n2;four five six\n"


def make(rows):
    names = list(rows[0]) if rows else ["id", "text"]
    return "".join(";".join(values) + "\n" for values in [names, *([row[n] or "" for n in names] for row in rows)]).encode()


HOSTILE = {
    "empty": (b"", []),
    "byte order mark": (b"\xef\xbb\xbf" + LINES, [A, B]),
    "carriage returns": (LINES.replace(b"\n", b"\r\n"), [A, B]),
    "no final newline": (LINES[:-1], [A, B]),
    "NUL": (LINES.replace(b"four", b"fo\0ur"), [A, "fo\0ur five six"]),
    "invalid UTF-8": (LINES.replace(b"four", b"fo\xffur"), "row 2: .*can't decode byte 0xff"),
    "missing field": (b"id;body\n1;one\n", "row 1: field 'text' is missing; fields found: id, body"),
    "null text": (LINES + b"3;\n", [A, B, ""]),
    "a long row": (LINES + b"3;a;b\n", "row 3: 3 values; columns: id, text"),
}
