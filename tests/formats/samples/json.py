import json

from formats.samples.jsonl import LINES, A, B

ARRAY = b'[\n{"id": "1", "text": "one two three"},\n{"id": "2", "text": "four five six"}\n]\n'
DEEP = b"[" * 100_000 + b"]" * 100_000


def make(rows):
    return json.dumps(rows, ensure_ascii=False).encode()


def pretty(one):
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
    "invalid UTF-8": (ARRAY.replace(b"four", b"fo\xffur"), "row 2: invalid UTF-8 at byte 23 of the object; convert"),
    "UTF-16": (ARRAY.decode().encode("utf-16"), [A, B]),
    "nested deeply": (b'[{"text": "a", "x": ' + DEEP + b"}]", "row 1: values are nested too deeply to be read"),
    "nested deeply, and open": (b"[" * 100_000, "row 1: an object is expected"),
}
