def make(rows):
    (row,) = rows
    return (row["text"] or "").encode()


HOSTILE = {
    "empty": (b"", [""]),
    "byte order mark": (b"\xef\xbb\xbfone two", ["\ufeffone two"]),
    "carriage returns": (b"one\r\ntwo\r\n", ["one\r\ntwo\r\n"]),
    "no final newline": (b"one two", ["one two"]),
    "NUL": (b"one\0two", "NUL, which no text contains, at byte 3 of the file"),
    "NUL at first": (b"\0one two", "NUL, which no text contains, at byte 0 of the file"),
    "invalid UTF-8": (b"one \xff two", "invalid UTF-8 at byte 4 of the file"),
    "UTF-16": ("one two".encode("utf-16"), ["one two"]),
}
