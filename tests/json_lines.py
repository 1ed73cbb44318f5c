import json
from pathlib import Path


def write_lines(path, rows):
    rows = [{"text": row} if isinstance(row, str) else row for row in rows]
    Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def parse_lines(text):
    return [json.loads(line) for line in text.splitlines()]


def read_lines(path):
    return parse_lines(Path(path).read_bytes())
