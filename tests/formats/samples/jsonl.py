import json

A, B = "one two three", "four five six"
LINES = b'{"id": "1", "text": "one two three"}\n{"id": "2", "text": "four five six"}\n'


def make(rows):
    return b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)


def nested(depth, begin, end):
    return f'{{"text":"a","x":{begin * depth}1{end * depth}}}'.encode()


HOSTILE = {
    "empty": (b"", []),
    "byte order mark": (b"\xef\xbb\xbf" + LINES, [A, B]),
    "byte order mark alone": (b"\xef\xbb\xbf", []),
    "byte order mark on a blank line": (b"\xef\xbb\xbf\n" + LINES, [A, B]),
    "carriage returns": (LINES.replace(b"\n", b"\r\n"), [A, B]),
    "no final newline": (LINES[:-1], [A, B]),
    "blank lines": (LINES.replace(b"\n", b"\n\n \n"), [A, B]),
    "NUL": (LINES.replace(b"four", b"fo\0ur"), "row 2: not valid JSON"),
    "NUL, escaped": (LINES.replace(b"four", b"fo\\u0000ur"), [A, "fo\0ur five six"]),
    "invalid UTF-8": (LINES.replace(b"four", b"fo\xffur"), "row 2: invalid UTF-8 at byte 60 of the file"),
    "UTF-16": (LINES.decode().encode("utf-16"), [A, B]),
    "null text": (LINES + b'{"id": "3", "text": null}\n', [A, B, ""]),
    **{f"nested {depth} deep in {begin}": (LINES + nested(depth, begin, end), "row 3: values are nested too deeply to be read")
       for depth in (1_500, 100_000) for begin, end in ("[]", ('{"a":', "}"))},
}  # fmt: skip
