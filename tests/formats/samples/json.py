"""Samples of JSON: arrays, and objects one after another."""

import json

A, B = "one two three", "four five six"
LINES = b'{"id": "1", "text": "one two three"}\n{"id": "2", "text": "four five six"}\n'
ARRAY = b'[\n{"id": "1", "text": "one two three"},\n{"id": "2", "text": "four five six"}\n]\n'
DEEP = b"[" * 100_000 + b"]" * 100_000


def make(rows):
    """Rows as bytes."""
    return json.dumps(rows, ensure_ascii=False).encode()


def pretty(one):
    """An object, or array, over many lines."""
    return json.dumps(one, indent=2).encode() + b"\n"


HOSTILE = {
    "empty": (b"", []),
    "an empty array": (b" [\n ] ", []),
    "byte order mark": (b"\xef\xbb\xbf" + ARRAY, [A, B]),
    "carriage returns": (ARRAY.replace(b"\n", b"\r\n"), [A, B]),
    "no whitespace": (ARRAY.replace(b"\n", b""), [A, B]),
    "over many lines": (pretty([{"text": A, "x": [1, {"text": 2}]}, {"text": B}]), [A, B]),
    "objects over many lines": (pretty({"text": A}) + b"\n\n" + pretty({"text": B}), [A, B]),
    "objects over many lines, byte order mark": (b"\xef\xbb\xbf" + pretty({"text": A}).replace(b"\n", b"\r\n"), [A]),
    "lines": (LINES, [A, B]),
    "lines, byte order mark": (b"\xef\xbb\xbf" + LINES.replace(b"\n", b"\n\n"), [A, B]),
    "brackets and quotation marks in texts": (
        pretty([{"text": '}]"\\'}, {"text": '\\\\"', "}": "{"}]),
        ['}]"\\', '\\\\"'],
    ),
    "a name that comes twice": (b'[{"text": "a", "text": "b"}]', ["b"]),
    "null text": (b'[{"text": null}, {"text": "a"}]', ["", "a"]),
    "NUL": (ARRAY.replace(b"four", b"fo\0ur"), "row 2: not valid JSON"),
    "NUL between objects": (ARRAY.replace(b",\n", b"\0,\n"), "row 2: ',' or ']' is expected; found '.x00"),
    "invalid UTF-8": (ARRAY.replace(b"four", b"fo\xffur"), "row 2: invalid UTF-8 at byte 23 of the object; convert"),
    "UTF-16": (ARRAY.decode().encode("utf-16"), [A, B]),
    "missing field": (b'[{"text": "a"}, {"id": "3"}]', "row 2: field 'text' is missing; fields found: id"),
    "a text that is none": (b'[{"text": 3}]', "row 1: field 'text' must be a string or null; found 3"),
    "a text that is none, in lines": (b'{"text": [3]}\n', "row 1: field 'text' must be a string or null; found .3"),
    "cut short in an object": (ARRAY[:-20], "row 2: not valid JSON: the file ends inside the object"),
    "cut short in the array": (ARRAY[:-3], "row 3: not valid JSON: the file ends inside the array"),
    "cut short after a comma": (ARRAY[:40], "row 2: not valid JSON: the file ends inside the array"),
    "cut short, objects": (pretty({"text": A})[:-3], "row 1: not valid JSON: the file ends inside the object"),
    "a comma at the end": (ARRAY.replace(b"\n]", b",\n]"), "row 3: an object is expected; found ']"),
    "no comma": (ARRAY.replace(b",\n", b"\n"), "row 2: ',' or ']' is expected; found '{"),
    "two commas": (ARRAY.replace(b",\n", b",,\n"), "row 2: an object is expected; found ',"),
    "two arrays": (ARRAY + ARRAY, "the file must end after the array; found '.."),
    "wrong brackets": (b'[{"text": "a"]]', "row 1: not valid JSON"),
    "an array of texts": (b'["a", "b"]', 'row 1: an object is expected; found \'"a"'),
    "an array of arrays": (b'[[{"text": "a"}]]', "row 1: an object is expected; found '.{"),
    "an array of null": (b'[{"text": "a"}, null]', "row 2: an object is expected; found 'null"),
    "lines of arrays": (b"[1, 2]\n[3, 4]\n", "row 1: an object is expected; found '1, 2"),
    "objects, then an array": (pretty({"text": A}) + b"[]", "row 2: an object is expected; found '..'"),
    "a text alone": (b'"one two three"', "row 1: an object is expected"),
    "no JSON": (b"one two three", "row 1: not valid JSON"),
    "nested deeply": (b'[{"text": "a", "x": ' + DEEP + b"}]", "row 1: values are nested too deeply to be read"),
    "nested deeply, and open": (b"[" * 100_000, "row 1: an object is expected"),
}
