"""``lookalike diff``."""

import json

from cli.commands import lines, run

ROWS = [{"id": f"d{i}", "text": f"one two three four five six seven {i % 3}"} for i in range(6)]


def test_two_saved_results(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    lines(tmp_path / "a.jsonl", ROWS)
    lines(tmp_path / "b.jsonl", [*ROWS[1:], {"id": "new", "text": "something else"}])
    for name, more in (("a", []), ("b", ["-t", "0.5"])):
        assert run(capsys, "dedup", f"{name}.jsonl", "--id", "id", "--save", name, "--quiet", *more)[0] == 0
    code, out, _ = run(capsys, "diff", "a", "b", "-o", "changes.jsonl")
    assert code == 0 and out.splitlines()[0].split() == ["only", "in", "b", "1"] and out.endswith("written: changes.jsonl\n")
    rows = [json.loads(line) for line in (tmp_path / "changes.jsonl").read_text().splitlines()]
    by_id = {row["id"]: row["change"] for row in rows}
    assert by_id == {"d2": "removed", "d3": "moved", "d5": "moved", "new": "came", "d0": "went"} | (
        {"d4": by_id["d4"]} if "d4" in by_id else {}
    )
    code, out, _ = run(capsys, "diff", "a", "b", "--json")
    counts = json.loads(out)
    assert code == 0 and sum(n for name, n in counts.items() if name != "output") == len(rows)
    assert run(capsys, "diff", "a", "a", "--json")[1].count(": 0") == 5
    code, out, err = run(capsys, "diff", "a", "b", "-o", "-")
    assert code == 0 and len(out.splitlines()) == len(rows) and "only in a" in err
    code, _, err = run(capsys, "diff", "a", "b", "-o", "changes.jsonl")
    assert code == 1 and "changes.jsonl exists; pass --force" in err
    assert run(capsys, "diff", "a", "b", "-o", "changes.jsonl", "--force")[0] == 0
    assert run(capsys, "diff", "a", "nope")[0] == 1
    assert run(capsys, "diff", "a", "b", "-o", "-", "--json")[0] == 2
