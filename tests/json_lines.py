"""Files of JSON lines: how tests write and read them."""

import json
from pathlib import Path


def write_lines(path, rows):
    """Write rows, or texts, as JSON lines; return the path."""
    rows = [{"text": row} if isinstance(row, str) else row for row in rows]
    Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def parse_lines(text):
    """The rows that JSON lines hold."""
    return [json.loads(line) for line in text.splitlines()]


def read_lines(path):
    """The rows of a file of JSON lines."""
    return parse_lines(Path(path).read_bytes())
