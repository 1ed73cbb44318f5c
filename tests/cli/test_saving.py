"""``dedup --set save_sketches=...`` and ``--against`` a folder of sketches, as commands."""

import json

import pytest
from cli.commands import run


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--set", "save_sketches=w1/new"], "w1/new is inside the input folder w1"),
        (["--set", "save_sketches=out/history", "-o", "out"], "is inside, the output out"),
        (["--against", "history/w0", "--set", "save_sketches=history", "--force"], "history contains"),
        (["--against", "history/w0", "--set", "save_sketches=history/w0", "--force"], "history/w0 is, or holds, the sketches"),
    ],
    ids=range(4),
)
def test_what_is_refused_before_any_work(words, said, crawl, capsys):
    run(capsys, "dedup", "w0", "--set", "save_sketches=history/w0")
    before = sorted(crawl.rglob("*"))
    code, out, err = run(capsys, "dedup", "w1", *words)
    assert code in (1, 2) and not out and said in err
    assert sorted(crawl.rglob("*")) == before


@pytest.mark.parametrize("empty", [[0], [1], [0, 1]])
def test_weeks_that_kept_nothing(crawl, capsys, empty):
    """A later job can be resumed, and its sketches go with theirs."""
    (crawl / "none.jsonl").write_text("")
    for week in (0, 1):
        against = ["--against", "history"] if week else []
        inputs = "none.jsonl" if week in empty else f"w{week}"
        assert run(capsys, "dedup", inputs, "--quiet", *against, "--set", f"save_sketches=history/w{week}") == (0, "", "")
    words = ["dedup", "w2", "--json", "--annotate"]
    outs = []
    for number, more in enumerate((["--against", "history"], ["--against", "history", "--work", "work"])):
        code, out, _ = run(capsys, *words, *more, "-o", f"out{number}.jsonl", "--set", f"save_sketches=mine{number}")
        outs.append({name: json.loads(out)[name] for name in ("documents", "reference", "kept")})
        assert code == 0
    assert outs[0] == outs[1] and (crawl / "out0.jsonl").read_bytes() == (crawl / "out1.jsonl").read_bytes()
    assert run(capsys, "dedup", "none.jsonl", "--quiet", "--against", "history", "--against", "mine0")[0] == 0
