"""``dedup --set save_sketches=...`` and ``--against`` a folder of sketches, as commands."""

import json
from pathlib import Path

import pytest
from json_lines import write_lines
from object_store import put_folder


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--set save_sketches=w1/new", "w1/new is inside the input folder w1"),
        ("--set save_sketches=out/history -o out", "is inside, the output out"),
        ("--against history/w0 --set save_sketches=history --force", "history contains"),
        ("--against history/w0 --set save_sketches=history/w0 --force", "history/w0 is, or holds, the sketches"),
    ],
    ids=range(4),
)
def test_what_is_refused_before_any_work(words, said, crawl, run):
    run("dedup w0 --set save_sketches=history/w0")
    before = sorted(crawl.rglob("*"))
    code, out, err = run(f"dedup w1 {words}")
    assert code in (1, 2) and not out and said in err and sorted(crawl.rglob("*")) == before


def test_weeks_on_a_store(crawl, run, bucket):
    """Documents and sketches in a bucket; what is not allowed is refused before any work."""
    lake = str(put_folder(crawl, bucket / "lake"))
    how = "-t 0.6 --width 1 --json --quiet --set save_sketches"
    code, out, _ = run(f"dedup {lake}/w0 {how}={lake}/history/w0")
    found = json.loads(out)
    assert code == 0 and found["sketches"] == f"{lake}/history/w0"
    again = f"dedup {lake}/w1 --against {lake}/history {how}={lake}"
    for where, message in [
        ("history/w0", "history/w0 exists; pass --force"),
        (
            f"history/w0 --force --against {lake}/history/w0",
            "history/w0 is, or holds, the sketches that this job is run against",
        ),
        ("w1/history", "is inside the input folder"),
        ("history/w0/more", "overlap; choose another name"),
        (f"out/history --engine spark -o {lake}/out", "overlap; choose another name"),
        (f"job/history --engine spark --work {lake}/job", "overlap; choose another name"),
    ]:
        code, _, err = run(f"{again}/{where}")
        assert code == 1 and message in err, err
    code, out, _ = run(f"{again}/history/w1")
    assert code == 0 and json.loads(out)["reference"] == found["kept"]


@pytest.mark.parametrize("empty", [[0], [1], [0, 1]])
def test_weeks_that_kept_nothing(crawl, run, empty):
    """A later job can be resumed, and its sketches go with theirs."""
    write_lines("none.jsonl", [])
    for week, against in ((0, ""), (1, "--against history")):
        inputs = "none.jsonl" if week in empty else f"w{week}"
        assert run(f"dedup {inputs} --quiet {against} --set save_sketches=history/w{week}") == (0, "", "")
    outs = []
    for number, more in enumerate(("", "--work work")):
        line = f"dedup w2 --json --annotate --against history {more} -o {number}.jsonl --set save_sketches=mine{number}"
        code, out, _ = run(line)
        told = {name: json.loads(out)[name] for name in ("documents", "reference", "kept")}
        outs.append((told, Path(f"{number}.jsonl").read_bytes()))
        assert code == 0
    assert outs[0] == outs[1]
    assert run("dedup none.jsonl --quiet --against history --against mine0")[0] == 0
