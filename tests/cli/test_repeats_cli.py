from pathlib import Path


def test_what_is_not_changed_is_written_as_it_came(run):
    lines = [
        b'{"url": 1.0, "text":"Apples are red, as all of us know"}',
        b'{ "text" : "",  "url" : 1e400}\r',
        b'{"text": "\\u00e9t\xc3\xa9"}',
    ]
    Path("in.jsonl").write_bytes(b"\n".join([*lines, lines[0], b""]))
    assert run("repeats in.jsonl -o out.jsonl --quiet") == (0, "", "")
    assert Path("out.jsonl").read_bytes() == b"\n".join([*lines, b""])
