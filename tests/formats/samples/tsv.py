from functools import partial

from formats.samples import csv

A, B = "one two three", "four, five; six"
LINES = b"id\ttext\n1\tone two three\n2\tfour, five; six\n"


make = partial(csv.make, mark="\t")
HOSTILE = {
    "empty": (b"", []),
    "byte order mark": (b"\xef\xbb\xbf" + LINES, [A, B]),
    "carriage returns": (LINES.replace(b"\n", b"\r\n"), [A, B]),
    "a tab in quotes": (b'text\tid\n"a\tb"\t1\n', ["a\tb"]),
    "NUL": (LINES.replace(b"four", b"fo\0ur"), [A, "fo\0ur, five; six"]),
    "invalid UTF-8": (LINES.replace(b"four", b"fo\xffur"), "line 3: invalid UTF-8 at byte 28 of the file"),
    "commas": (
        LINES.replace(b"\t", b","),
        r"column 'text' is missing; .*found: id,text; fields must be separated by '\\t': .*name it with delimiter=','",
    ),
    "a long row": (LINES + b"3\ta\tb\n", "row 3: 3 fields where the header names 2; put a field that contains '.t' in quotes"),
    "an open quotation mark": (LINES + b'3\t"seven', "line 4: not valid CSV: the file ends inside a quoted field"),
}
