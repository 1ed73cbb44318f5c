"""``dedup --history`` and ``lookalike history``."""

import gc
import json
import shutil

import pyarrow.parquet as pq
import pytest
from cli.commands import contents, run
from json_lines import parse_lines, read_lines

import lookalike as la
from lookalike.files import publication

HOW = ("-t", "0.6", "--width", 1, "--id", "id")


def week(capsys, number, *more):
    return run(capsys, "dedup", f"w{number}", *HOW, "--history", "history/", "-o", f"fresh/w{number}/", *more)


def test_week_after_week(crawl, capsys):
    code, out, _ = week(capsys, 0)
    assert code == 0 and out.endswith("written: fresh/w0/\nadded: generation 000001 of history\n")
    kept = pq.read_metadata("history/000001/sketches-00000.parquet").num_rows
    code, out, _ = week(capsys, 1, "--set", "generation=2024-10", "--json", "--quiet")
    found = json.loads(out)
    assert code == 0 and found["reference"] == kept and (found["generation"], found["added"]) == ("2024-10", True)
    before = contents(crawl)
    code, out, _ = week(capsys, 1)
    assert code == 0 and out == "fresh/w1/ is up to date; history has the generation 2024-10 of this job; nothing was added\n"
    code, out, _ = week(capsys, 1, "--json")
    assert code == 0 and json.loads(out) == {
        "output": "fresh/w1/", "report": None, "saved": None, "sketches": None, "removed": None, "generation": "2024-10", "added": False,
    }  # fmt: skip
    assert week(capsys, 1, "--quiet") == (0, "", "")
    shutil.rmtree(crawl / "fresh" / "w1")
    code, out, _ = week(capsys, 1)
    assert code == 0 and out.endswith("written: fresh/w1/\nhistory has the generation 2024-10 of this job; nothing was added\n")
    assert contents(crawl) == before


def test_without_an_output_nothing_is_added(crawl, capsys):
    code, out, err = run(capsys, "dedup", "w0", *HOW, "--history", "history")
    assert code == 0 and "nothing was added to history" in out and "nothing was written (no -o)" in err
    assert not (crawl / "history").exists()


def test_what_people_look_at_appears_with_it(crawl, capsys):
    """And is made again where it is missing, from the same generations."""
    pytest.importorskip("jinja2", reason="the extra report is not installed")
    week(capsys, 0)
    more = ("--report", "page.html", "--save", "judged")
    code, out, _ = week(capsys, 1, *more)
    assert code == 0 and all(f"written: {name}\n" in out for name in ("fresh/w1/", "page.html", "judged"))
    assert "--history history/" in (crawl / "page.html").read_text()
    assert week(capsys, 1, *more)[0] == 0
    (crawl / "page.html").unlink()
    before = contents(crawl)
    code, out, _ = week(capsys, 1, *more)
    assert code == 0 and "written: page.html\n" in out and "judged" not in out
    assert {path: data for path, data in contents(crawl).items() if path.name != "page.html"} == before
    decisions = la.Result.load("judged").decisions
    week(capsys, 1, "--save", "again")
    assert la.Result.load("again").decisions.equals(decisions)


def test_too_many_removals(crawl, capsys):
    """The saved result appears, the documents do not, and nothing counts as history."""
    code, _, err = week(capsys, 0, "--save", "judged", "--fail-if-removed", "0.01")
    assert code == 1 and "fresh/w0/ was not written" in err and "judged was written" in err
    assert (crawl / "judged" / "result.json").exists() and not (crawl / "fresh").exists()
    assert not (crawl / "history").exists()
    code, _, err = week(capsys, 0, "--save", "judged")
    assert code == 1 and "judged exists; pass --force" in err
    assert week(capsys, 0, "--save", "judged", "--force")[0] == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-o", "-"], "--history writes files and folders on one machine, and saves sketches itself"),
        (["-o", "fresh", "--engine", "spark"], "use --against and --set save_sketches=DIR"),
        (["-o", "fresh", "--set", "save_sketches=other"], "saves sketches itself"),
        (["-o", "history/fresh"], "history/fresh is inside history, which holds generations only"),
        (["-o", "w0/fresh"], "is inside the input folder w0"),
        (["-o", "fresh", "--report", "fresh/page.html"], "fresh/page.html is, or is inside, the output fresh"),
        (["-o", "s3://lake/fresh"], "on an object store, and for -o -, use --against and --set save_sketches=DIR"),
        (["-o", "fresh", "--set", "seed=random"], "a number, not random"),
        (["-o", "fresh.nope"], "unrecognized suffix .nope"),
    ],
    ids=range(9),
)
def test_what_is_refused_before_any_work(words, said, crawl, capsys):
    before = sorted(crawl.rglob("*"))
    code, out, err = run(capsys, "dedup", "w0", *HOW, "--history", "history", *words)
    assert code in (1, 2) and not out and said in err
    assert sorted(crawl.rglob("*")) == before


def test_options_that_are_for_it(crawl, capsys):
    for words in (["--set", "generation=x"], ["--set", "history_texts=false"]):
        code, _, err = run(capsys, "dedup", "w0", *words)
        assert code == 2 and "generation and history_texts are for --history" in err


def test_other_references_too(crawl, capsys):
    code, out, _ = week(capsys, 0, "--against", "w1")
    assert code == 0 and "61 reference documents" in out
    assert "nothing was added" in week(capsys, 0, "--against", "w1")[1]
    code, _, err = run(capsys, "dedup", "w0", *HOW, "--history", "history", "-o", "other")
    assert code == 1 and "is both an input and a reference (its sketches are in history/000001)" in err


def test_list_check_forget_and_compact(crawl, capsys):
    for number in range(3):
        week(capsys, number, "--set", "history_texts=false")
    code, out, _ = run(capsys, "history", "list", "history", "--json")
    listed = parse_lines(out)
    assert code == 0 and [one["name"] for one in listed] == ["000001", "000002", "000003"]
    assert listed[0]["inputs"] == ["w0/p-0.parquet", "w0/p-1.parquet"] and listed[0]["documents"] > 5
    code, out, _ = run(capsys, "history", "list", "history")
    assert code == 0 and out.splitlines()[0].endswith("from w0/p-0.parquet and 1 more") and "3 generations" in out
    assert run(capsys, "history", "check", "history") == (0, "3 generations, no damage found\n", "")
    assert run(capsys, "history", "forget", "history", "000002") == (0, "removed: 000002\n", "")
    assert run(capsys, "history", "compact", "history") == (0, "merged 2 generations into 000003\n", "")
    assert run(capsys, "history", "compact", "history") == (0, "nothing to merge\n", "")
    (crawl / "w0" / "p-0.parquet").unlink()
    code, out, err = run(capsys, "history", "check", "history")
    assert code == 1 and "p-0.parquet: cannot be read" in out and err.startswith("error: 1 of 1 generation cannot be used")
    for words in (["list", "nope"], ["forget", "history", "nope"], ["compact", "w0/p-1.parquet"]):
        assert run(capsys, "history", *words)[0] == 2


def test_a_job_with_a_work_folder_goes_on(crawl, capsys, monkeypatch):
    """Killed before or after its output has appeared, it leaves nothing for the next week."""
    more = ("--work", "job", "--quiet")
    week(capsys, 0, *more)
    publish = publication.Publication.publish
    for late in (False, True):

        def stop(*given, late=late):
            if late:
                publish(*given)
            raise KeyboardInterrupt

        with monkeypatch.context() as broken:
            broken.setattr(publication.Publication, "publish", stop)
            assert week(capsys, 1, *more)[0] == 130
        gc.collect()  # whose lock ends with a process
        assert (crawl / "job" / "job.json").exists() and (crawl / "fresh" / "w1").exists() is late
    assert week(capsys, 1, *more)[:2] == (0, "") and not any((crawl / "job").iterdir())
    assert week(capsys, 2, *more)[0] == 0


def test_any_command_finishes_what_was_killed(crawl, capsys, monkeypatch):
    week(capsys, 0)

    def stop(*given):
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(publication, "_finish", stop)
        code, _, err = week(capsys, 1)
    assert code == 130 and "to finish writing the outputs, run: lookalike history list history" in err
    assert not (crawl / "fresh" / "w1").exists()
    code, out, err = run(capsys, "history", "list", "history")
    assert code == 0 and "2 generations" in out
    assert err == "history: an interrupted job was completed: its outputs and its generation are there\n"
    assert "nothing was added" in week(capsys, 1)[1]


def counted_weeks(capsys, *more):
    for number in range(3):
        assert week(capsys, number, "--set", "counts=true", "--set", "source=site", *more)[0] == 0
    with la.History("history", read=True) as history:
        return history.counts().to_pylist()


def test_counts_of_all_weeks(crawl, capsys):
    rows = counted_weeks(capsys)
    top = sorted(rows, key=lambda row: (-row["n_duplicates"], -row["n_sources"]))[:3]
    code, out, err = run(capsys, "history", "counts", "history", "--top", 3, "--json")
    assert code == 0 and parse_lines(out) == top and not err
    code, out, _ = run(capsys, "history", "counts", "history", "--top", 1)
    head, line = out.splitlines()
    assert head.split() == ["duplicates", "exact", "sources", "generation", "id"]
    assert line.split() == [str(top[0][name]) for name in ("n_duplicates", "n_exact", "n_sources", "generation", "id")]
    for name in ("counts.parquet", "counts.jsonl"):
        code, out, _ = run(capsys, "history", "counts", "history", "-o", name)
        assert code == 0 and out == f"{len(rows)} documents written: {name}\n"
    assert pq.read_table("counts.parquet").to_pylist() == rows
    assert read_lines(crawl / "counts.jsonl") == rows
    code, out, err = run(capsys, "history", "counts", "history", "-o", "-")
    assert code == 0 and parse_lines(out) == rows and "documents written" in err


def test_counts_that_are_refused(crawl, capsys):
    week(capsys, 0, "--set", "history_texts=false")
    for more, said in (
        (("-o", "counts.parquet", "--json"), "--json lists documents, and -o writes all of them"),
        (("-o", "history/counts.parquet"), "history/counts.parquet is inside history, which holds generations only"),
        (("-o", "w0/p-0.parquet", "--force"), "w0/p-0.parquet would replace an input"),
        (("-o", "counts"), "the suffix must be one of"),
    ):
        code, _, err = run(capsys, "history", "counts", "history", *more)
        assert code and said in err
    code, out, err = run(capsys, "history", "counts", "history", "--json")
    assert code == 0 and err == "not counted: jobs that ran without counts (000001)\n"
    assert {row["n_sources"] for row in parse_lines(out)} == {0}
    assert run(capsys, "history", "counts", "history") == (0, "", err)
    code, _, err = run(capsys, "dedup", "w1", *HOW, "--history", "history", "--set", "counts=true", "-o", "fresh/w1")
    assert code == 0
    code, _, err = run(
        capsys, "dedup", "w2", *HOW, "--history", "history", "--set", "counts=true", "--set", "source=site", "-o", "fresh/w2"
    )
    assert code and "000002 counted sources by input file" in err and "run without --set source=..." in err


def test_generations_of_somebody_else_are_checked_where_the_user_says(crawl, capsys, monkeypatch):
    counted_weeks(capsys, "--set", "history_texts=false")
    monkeypatch.setenv("XDG_STATE_HOME", str(crawl / "other user"))
    code, out, _ = run(capsys, "history", "check", "history")
    assert code == 1 and out.count("a folder around it: --trust PATH") == 3
    assert run(capsys, "history", "check", "history", "--trust", ".")[0] == 0
    assert run(capsys, "history", "counts", "history")[0] == 0  # reads nothing from there
