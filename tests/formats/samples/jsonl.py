"""Samples of JSON lines."""

import json

A, B = "one two three", "four five six"
LINES = b'{"id": "1", "text": "one two three"}\n{"id": "2", "text": "four five six"}\n'


def make(rows):
    """Rows as bytes."""
    return b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)


def nested(depth, begin, end):
    """A row with a deep value."""
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
    "missing field": (LINES + b'{"id": "3"}\n', "row 3: field 'text' is missing; fields found: id"),
    "null text": (LINES + b'{"id": "3", "text": null}\n', [A, B, ""]),
    "a text that is none": (LINES + b'{"id": "3", "text": 3}\n', "row 3: field 'text' must be a string or null; found 3"),
    "cut short": (LINES[:-8], "row 2: not valid JSON"),
    "NaN": (b'{"text":"a","x":NaN}', "row 1: not valid JSON: JSON has no NaN"),
    "infinity": (b'{"text":"a","x":-Infinity}', "row 1: not valid JSON: JSON has no -Infinity"),
    "a zero before a number": (b'{"text":"a","x":01}', "row 1: not valid JSON"),
    "cut short after a name": (b'{"text":', r"row 1: not valid JSON: Expecting value: column 9; .*:';"),
    "two objects": (b'{"text":"a"} {"text":"b"}', "row 1: not valid JSON: Extra data: column 14"),
    "a carriage return alone": (b'{"text":"a"}\r{"text":"b"}', "row 1: not valid JSON: Extra data"),
    "a control character": (b'{"text":"a\x01"}', "row 1: not valid JSON"),
    "cut short in a text": (b'{"text":"a', "row 1: not valid JSON"),
    "an array": (b"[1]", "row 1: an object is expected.*; for an array, pass format='json'"),
    "a text that is none, and one": (b'{"text":5,"text":"a"}', r"row 1: .*Expected `str \| null`, got `int` - at `\$\.text`"),
    "another name": (b'{"Text":"a"}', "row 1: field 'text' is missing; fields found: Text"),
    "two byte order marks": (b'\xef\xbb\xbf\xef\xbb\xbf{"text":"a"}', "row 1: not valid JSON"),
    "UTF-16 without a mark": ('{"text":"a"}'.encode("utf-16-le"), r"row 1: not valid JSON \(it looks like UTF-16\)"),
    **{f"nested {depth} deep in {begin}": (LINES + nested(depth, begin, end), "row 3: values are nested too deeply to be read")
       for depth in (1_500, 100_000) for begin, end in ("[]", ('{"a":', "}"))},
}  # fmt: skip
