"""Files in, files out: rows stay as they were."""

import json

from formats.jobs import put, refused

import lookalike as la

A, B = "one two three four five six seven eight", "nothing that stands in here is in any of the others"


def test_lines_are_copied_as_they_are(tmp_path):
    """With numbers of any length; an empty line is a line, and what is added comes before its end."""
    digits = "9" * 5_000
    lines = [f'{{"text":"{A}","x":{digits},  "y":1e999}}\r\n', "\n", f'{{"text":"{A}","x":1,"y":1.0e5}}\n', f'{{"text":"{B}"}}']
    source = put(tmp_path / "in.jsonl", "".join(lines))
    result = la.dedup(source)
    assert result.removed["id"].to_pylist() == [f"{source}:3"]
    result.write(tmp_path / "out.jsonl")
    assert (tmp_path / "out.jsonl").read_bytes().decode() == lines[0] + lines[3]
    result.write(tmp_path / "all.jsonl", annotate=True)
    first, second, third = (tmp_path / "all.jsonl").read_bytes().decode().split("\n")
    own = f', "keep": true, "duplicate_of": null, "resemblance": null, "cluster": "{source}:'
    assert first == f'{lines[0].rstrip()[:-1]}{own}1"}}\r' and third == f'{lines[3][:-1]}{own}4"}}'
    found = json.loads(second)
    assert (found["keep"], found["duplicate_of"], found["resemblance"]) == (False, f"{source}:1", 1.0) and found["y"] == 1e5
    result.write(tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == f"text,x,y\n{A},{digits},1e999\n{B},,\n"
    for asked in ({"id": "x"}, {"within": "x"}, {"keep": "largest:x"}, {"id": "y"}):
        refused(r"in\.jsonl, row 1: cannot be read: .*out of range", la.dedup, source, **asked)
