"""``dedup --history`` and ``lookalike history``."""

import gc
import json
import os
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from cli.commands import contents
from json_lines import parse_lines, read_lines

import lookalike as la
from lookalike.files import publication

HOW = "-t 0.6 --width 1 --id id --history history/"
pytestmark = pytest.mark.usefixtures("crawl")


@pytest.fixture
def week(run):
    return lambda number, more="": run(f"dedup w{number} {HOW} -o fresh/w{number}/ {more}")


def test_week_after_week(week):
    code, out, _ = week(0)
    assert code == 0 and out.endswith("written: fresh/w0/\nadded: generation 000001 of history\n")
    kept = pq.read_metadata("history/000001/sketches-00000.parquet").num_rows
    code, out, _ = week(1, "--set generation=2024-10 --json --quiet")
    found = json.loads(out)
    assert code == 0 and found["reference"] == kept and (found["generation"], found["added"]) == ("2024-10", True)
    before = contents(Path())
    there = "history has the generation 2024-10 of this job; nothing was added\n"
    assert week(1)[:2] == (0, f"fresh/w1/ is up to date; {there}")
    code, out, _ = week(1, "--json")
    assert code == 0 and json.loads(out) == {
        "output": "fresh/w1/", "report": None, "saved": None, "sketches": None, "removed": None, "generation": "2024-10", "added": False,
    }  # fmt: skip
    assert week(1, "--quiet") == (0, "", "")
    shutil.rmtree("fresh/w1")
    code, out, _ = week(1)
    assert code == 0 and out.endswith(f"written: fresh/w1/\n{there}") and contents(Path()) == before


def test_without_an_output_nothing_is_added(run):
    code, out, err = run(f"dedup w0 {HOW}")
    assert code == 0 and "nothing was added to history" in out and "nothing was written (no -o)" in err
    assert not os.path.exists("history")


def test_what_people_look_at_appears_with_it(week):
    """And is made again where it is missing, from the same generations."""
    pytest.importorskip("jinja2", reason="the extra report is not installed")
    week(0)
    more = "--report page.html --save judged"
    code, out, _ = week(1, more)
    assert code == 0 and all(f"written: {name}\n" in out for name in ("fresh/w1/", "page.html", "judged"))
    page = Path("page.html")
    assert "--history history/" in page.read_text() and week(1, more)[0] == 0
    page.unlink()
    before = contents(Path())
    code, out, _ = week(1, more)
    assert code == 0 and "written: page.html\n" in out and "judged" not in out
    assert contents(Path()) == before | {page: page.read_bytes()}
    week(1, "--save again")
    assert la.Result.load("again").decisions.equals(la.Result.load("judged").decisions)


def test_too_many_removals(week):
    """The saved result appears, the documents do not, and nothing counts as history."""
    code, _, err = week(0, "--save judged --fail-if-removed 0.01")
    assert code == 1 and "fresh/w0/ was not written" in err and "judged was written" in err
    assert os.path.exists("judged/result.json") and not {"fresh", "history"} & {*os.listdir()}
    code, _, err = week(0, "--save judged")
    assert code == 1 and "judged exists; pass --force" in err
    assert week(0, "--save judged --force")[0] == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (f"{HOW} -o -", "--history writes files and folders on one machine, and saves sketches itself"),
        (f"{HOW} -o fresh --engine spark", "use --against and --set save_sketches=DIR"),
        (f"{HOW} -o fresh --set save_sketches=other", "saves sketches itself"),
        (f"{HOW} -o history/fresh", "history/fresh is inside history, which holds generations only"),
        (f"{HOW} -o w0/fresh", "is inside the input folder w0"),
        (f"{HOW} -o fresh --report fresh/page.html", "fresh/page.html is, or is inside, the output fresh"),
        (f"{HOW} -o s3://lake/fresh", "on an object store, and for -o -, use --against and --set save_sketches=DIR"),
        (f"{HOW} -o fresh --set seed=random", "a number, not random"),
        (f"{HOW} -o fresh.nope", "unrecognized suffix .nope"),
        ("--set generation=x", "generation and history_texts are for --history"),
        ("--set history_texts=false", "generation and history_texts are for --history"),
    ],
    ids=range(11),
)
def test_what_is_refused_before_any_work(run, words, said):
    before = sorted(Path().rglob("*"))
    code, out, err = run(f"dedup w0 {words}")
    assert code in (1, 2) and not out and said in err and sorted(Path().rglob("*")) == before


def test_other_references_too(week, run):
    code, out, _ = week(0, "--against w1")
    assert code == 0 and "61 reference documents" in out and "nothing was added" in week(0, "--against w1")[1]
    code, _, err = run(f"dedup w0 {HOW} -o other")
    assert code == 1 and "is both an input and a reference (its sketches are in history/000001)" in err


def test_list_check_forget_and_compact(week, run):
    for number in range(3):
        week(number, "--set history_texts=false")
    listed = parse_lines(run("history list history --json")[1])
    assert [one["name"] for one in listed] == ["000001", "000002", "000003"]
    assert listed[0]["inputs"] == ["w0/p-0.parquet", "w0/p-1.parquet"] and listed[0]["documents"] > 5
    code, out, _ = run("history list history")
    assert code == 0 and out.splitlines()[0].endswith("from w0/p-0.parquet and 1 more") and "3 generations" in out
    for command, said in (
        ("check history", "3 generations, no damage found"),
        ("forget history 000002", "removed: 000002"),
        ("compact history", "merged 2 generations into 000003"),
        ("compact history", "nothing to merge"),
    ):
        assert run(f"history {command}") == (0, f"{said}\n", "")
    os.remove("w0/p-0.parquet")
    code, out, err = run("history check history")
    assert code == 1 and "p-0.parquet: cannot be read" in out and err.startswith("error: 1 of 1 generation cannot be used")
    for words in ("list nope", "forget history nope", "compact w0/p-1.parquet"):
        assert run(f"history {words}")[0] == 2


def interrupt(*_):
    raise KeyboardInterrupt


@pytest.mark.parametrize("late", [False, True])
def test_a_job_with_a_work_folder_goes_on(week, monkeypatch, late):
    """Killed before or after its output has appeared, it leaves nothing for the next week."""
    more, publish = "--work job --quiet", publication.Publication.publish
    week(0, more)
    with monkeypatch.context() as broken:
        broken.setattr(publication.Publication, "publish", lambda *given: interrupt(late and publish(*given)))
        assert week(1, more)[0] == 130
    gc.collect()  # whose lock ends with a process
    assert os.path.exists("job/job.json") and os.path.exists("fresh/w1") is late
    assert week(1, more)[:2] == (0, "") and not os.listdir("job")
    assert week(2, more)[0] == 0


def counted_weeks(week, more=""):
    for number in range(3):
        assert week(number, f"--set counts=true --set source=site {more}")[0] == 0
    with la.History("history", read=True) as history:
        return history.counts().to_pylist()


def test_counts_of_all_weeks(week, run):
    rows = counted_weeks(week)
    top = sorted(rows, key=lambda row: (-row["n_duplicates"], -row["n_sources"]))[:3]
    code, out, err = run("history counts history --top 3 --json")
    assert code == 0 and parse_lines(out) == top and not err
    head, line = run("history counts history --top 1")[1].splitlines()
    assert head.split() == ["duplicates", "exact", "sources", "generation", "id"]
    assert line.split() == [str(top[0][name]) for name in ("n_duplicates", "n_exact", "n_sources", "generation", "id")]
    for name in ("counts.parquet", "counts.jsonl"):
        assert run(f"history counts history -o {name}")[:2] == (0, f"{len(rows)} documents written: {name}\n")
    assert pq.read_table("counts.parquet").to_pylist() == read_lines("counts.jsonl") == rows
    code, out, err = run("history counts history -o -")
    assert code == 0 and parse_lines(out) == rows and "documents written" in err


def test_counts_that_are_refused(week, run):
    week(0, "--set history_texts=false")
    for more, said in (
        ("-o counts.parquet --json", "--json lists documents, and -o writes all of them"),
        ("-o history/counts.parquet", "history/counts.parquet is inside history, which holds generations only"),
        ("-o w0/p-0.parquet --force", "w0/p-0.parquet would replace an input"),
        ("-o counts", "the suffix must be one of"),
    ):
        code, _, err = run(f"history counts history {more}")
        assert code and said in err
    code, out, err = run("history counts history --json")
    assert code == 0 and err == "not counted: jobs that ran without counts (000001)\n"
    assert {row["n_sources"] for row in parse_lines(out)} == {0}
    assert run("history counts history") == (0, "", err)
    assert week(1, "--set counts=true")[0] == 0
    code, _, err = week(2, "--set counts=true --set source=site")
    assert code and "000002 counted sources by input file" in err and "run without --set source=..." in err


def test_generations_of_somebody_else_are_checked_where_the_user_says(week, run, monkeypatch, tmp_path):
    counted_weeks(week, "--set history_texts=false")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "other user"))
    code, out, _ = run("history check history")
    assert code == 1 and out.count("a folder around it: --trust PATH") == 3
    assert run("history check history --trust .")[0] == 0
    assert run("history counts history")[0] == 0  # reads nothing from there
