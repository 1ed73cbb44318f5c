"""``dedup --set save_sketches=...`` and ``--against`` a folder of sketches, as commands."""

import json

import pytest
from cli.commands import run
from object_store import put_folder


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


def test_weeks_on_a_store(crawl, capsys, bucket):
    """Documents and sketches in a bucket; what is not allowed is refused before any work."""
    put_folder(crawl, bucket / "lake")
    lake = str(bucket / "lake")
    given = ("-t", "0.6", "--width", 1, "--json", "--quiet")
    code, out, _ = run(capsys, "dedup", f"{lake}/w0", "--set", f"save_sketches={lake}/history/w0", *given)
    kept = json.loads(out)["kept"]
    assert code == 0 and json.loads(out)["sketches"] == f"{lake}/history/w0"
    again = ("dedup", f"{lake}/w1", "--against", f"{lake}/history", *given)
    for arguments, message in [
        ((), "history/w0 exists; pass --force"),
        (("--force", "--against", f"{lake}/history/w0"), "history/w0 is, or holds, the sketches that this job is run against"),
    ]:
        code, _, err = run(capsys, *again, "--set", f"save_sketches={lake}/history/w0", *arguments)
        assert code == 1 and message in err
    for arguments, message in [
        (("--set", f"save_sketches={lake}/w1/history"), "is inside the input folder"),
        (("--set", f"save_sketches={lake}/history/w0/more"), "overlap; choose another name"),
        (
            ("--set", f"save_sketches={lake}/out/history", "--engine", "spark", "-o", f"{lake}/out"),
            "overlap; choose another name",
        ),
        (
            ("--set", f"save_sketches={lake}/job/history", "--engine", "spark", "--work", f"{lake}/job"),
            "overlap; choose another name",
        ),
    ]:
        code, _, err = run(capsys, *again, *arguments)
        assert code == 1 and message in err, err
    code, out, _ = run(capsys, *again, "--set", f"save_sketches={lake}/history/w1")
    assert code == 0 and json.loads(out)["reference"] == kept


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
