"""What ``dedup`` writes meets nothing that it reads, and nothing else that it writes; the guard comes before all of it."""

import gc
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from cli.commands import contents
from json_lines import write_lines
from samples import one_in
from weekly import weeks

from lookalike.files.disk import SIDECAR
from lookalike.recipes.outputs import InterruptHint
from lookalike.results.result import Result

HOW = "-t 0.6 --width 1 --id id"
IDS = weeks(1)[1]["id"].to_pylist()[:2]


@pytest.fixture
def folder(crawl, run):
    """Weeks, of which the first is saved, and overrides for the second."""
    assert run(f"dedup w0 {HOW} --set save_sketches=history/w0 --quiet")[0] == 0
    write_lines("overrides.jsonl", ({"id": id, "action": action} for id, action in zip(IDS, ("keep", "remove"), strict=True)))
    return crawl


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--report s/page.html --set save_sketches=s", "s/page.html is, or is inside, the output s;"),
        ("--save s/in --set save_sketches=s", "s/in is, or is inside, the output s;"),
        ("--save s --set save_sketches=s/in", "s/in is, or is inside, the output s/;"),
        ("--save s --set save_sketches=s", "s is, or is inside, the output s/;"),
        ("--set save_sketches=s --work s/work", "s/work is, or is inside, the output s;"),
        ("--report overrides.jsonl", "the report is a web page: write overrides.html"),
        ("--report history/w0/sketches.json", "the report is a web page: write history/w0/sketches.html"),
        ("--report history/w0/secret", "history/w0/secret is, or is inside, the output history/w0/secret;"),
        ("-o history/w0/sketches-00000.parquet", "is, or is inside, the output history/w0/sketches-00000.parquet;"),
        ("-o history/w0", "history/w0 is, or is inside, the output history/w0;"),
        ("--save history/w0", "history/w0 is, or is inside, the output history/w0/;"),
    ],
    ids=range(11),
)
def test_outputs_that_meet_what_is_read_or_written(words, said, folder, run):
    before = contents(folder)
    line = f"w1 {HOW} --against history --force {words}"
    code, out, err = run(f"dedup --overrides overrides.jsonl {line}")
    assert code == (2 if "web page" in said else 1) and not out and said in err
    if words.startswith(("-o history/w0/s", "--report history/w0/secret")):
        code, out, err = run(f"pairs {line}")
        assert code == 1 and not out and said in err
    assert contents(folder) == before


def test_a_guard_that_stops_leaves_what_people_judge_by(folder, run):
    before = contents(folder)
    job = f"""dedup w1 {HOW} --against history --overrides overrides.jsonl -o clean --report page.html --save job
        --set save_sketches=history/w1 --set audit=3 --json --removed gone.jsonl"""
    code, out, err = run(f"{job} --fail-if-removed 0.01")
    assert code == 1 and not out and "clean and history/w1 were not written: " in err
    assert "page.html and job and gone.jsonl were written" in err and not os.path.exists("clean")
    new = contents(folder).keys() - before.keys()
    assert {path.parts[0].partition("_")[0] for path in new} == {"page.html", "job", "gone.jsonl"}
    assert run("show job")[0] == 0
    code, out, err = run(f"{job} --fail-if-removed 1 --force")
    wanted = {"output": "clean", "report": "page.html", "saved": "job", "sketches": "history/w1"}
    assert code == 0 and wanted.items() <= json.loads(out).items()
    assert "--against history" in Path("page.html").read_text()


def test_a_week_is_repeated(folder, run):
    """The folder that is replaced does not count among those that the job is run against."""
    week = f"dedup w1 {HOW} --against history --set save_sketches=history/w1 -o clean --json"

    def written():
        return {path: data for path, data in contents(folder / "clean").items() if "_lookalike" not in path.name}

    code, first, _ = run(week)
    before = written()
    assert code == 0 and run(week)[0] == 1
    code, again, _ = run(f"{week} --force")
    told = [{name: json.loads(out)[name] for name in ("documents", "reference", "kept")} for out in (first, again)]
    assert code == 0 and told[0] == told[1] and written() == before
    assert run(f"dedup w0 {HOW} --against history/w1 --set save_sketches=history/w1 --force")[0] == 1
    shutil.rmtree("history/w0")
    code, alone, _ = run(f"{week} --force")
    assert code == 0 and json.loads(alone)["reference"] == 0, "nothing is left to compare with"


def test_what_somebody_else_wrote_since_is_not_replaced(folder, run, monkeypatch):
    line = f"dedup w1 {HOW} -o clean.jsonl --set save_sketches=mine --work work --quiet"
    with monkeypatch.context() as patch:
        patch.setattr(Result, "save_sketches", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
        assert run(line)[0] == 130
    gc.collect()
    Path("clean.jsonl").write_bytes(b"changed")
    assert "clean.jsonl exists; pass --force" in run(line)[2]
    assert run(f"{line} --force")[0] == 0 and "clean.jsonl exists; pass --force" in run(line)[2]


KILLED = """
import os, signal, sys
from lookalike.cli.main import main
for name in ("link", "rename", "replace"):
    def killing(*given, real=getattr(os, name), **more):
        real(*given, **more)
        if os.path.exists(sys.argv[1]):
            os.kill(os.getpid(), signal.SIGKILL)
    setattr(os, name, killing)
main(sys.argv[2:])
"""


@pytest.mark.parametrize(
    "name", one_in(3, ["page.html", "saved", "gone.csv", "clean", "clean.jsonl", "mine", "work/finished.json"])
)
def test_an_output_that_appeared_just_before_a_kill_is_its_own(name, folder, run):
    output = "clean.jsonl" if "." in name else "clean"
    line = f"""dedup w1 {HOW} -o {output} --report page.html --save saved --set save_sketches=mine --removed gone.csv --work work
        --quiet"""
    killed = subprocess.run([sys.executable, "-c", KILLED, name, *line.split()], check=False)
    assert killed.returncode == -signal.SIGKILL and os.path.exists(name)
    assert run(line)[:2] == (0, "")
    made = {"page.html", "saved", "gone.csv", f"gone.csv{SIDECAR}", "mine", output, f"{output}{SIDECAR}"}
    there = {*os.listdir()}
    assert there - {"work"} <= made | {"w0", "w1", "w2", "history", "overrides.jsonl"}
    assert made - {f"clean{SIDECAR}"} <= there and not os.listdir("work")


def test_what_is_shown_of_documents_that_were_decided_by_hand(folder, run):
    run(f"dedup w1 {HOW} --against history --overrides overrides.jsonl --save job")
    said = (("kept by an override; ", "kept", "keep"), ("removed by an override\n", "override", "remove"))
    for id, (decision, reason, override) in zip(IDS, said, strict=True):
        assert f"decision   {decision}" in run(f"show job {id}")[1]
        told = json.loads(run(f"show job {id} --json")[1])
        assert (told["reason"], told["override"]) == (reason, override)


def test_a_plan_has_the_bands_of_saved_sketches(folder, run):
    line = "plan w1 --id id --against history --json"
    code, out, _ = run(f"{line} -t 0.7")
    saved = json.loads(Path("history/w0/sketches.json").read_text())
    assert (code, json.loads(out)["bands"]) == (0, saved["settings"]["bands"])
    code, _, err = run(f"{line} -t 0.3")
    assert code == 2 and "less than recall 0.99" in err


def test_an_interrupt_names_all_that_is_complete():
    leaves = InterruptHint(False)
    leaves.writing("page.html")
    leaves.written("page.html")
    assert leaves.said == "page.html was written, and is complete"
    leaves.writing("clean")
    assert leaves.said.startswith("page.html was written, and is complete; each file found at clean is complete")
    leaves.written("clean")
    assert leaves.said == "page.html, clean were written, and are complete"


TEXT = " ".join(f"word{i}" for i in range(40))


@pytest.fixture
def corpus():
    os.mkdir("data")
    return write_lines("data/in.jsonl", (TEXT, f"{TEXT} more", "else"))


def test_a_report_and_an_audit(corpus, run):
    job, page = f"dedup {corpus} --report page.html", Path("page.html")
    code, out, err = run(f"{job} --set audit=5")
    assert code == 0 and "written: page.html" in out and "audit: 2 kept documents of 2" in out
    assert "nothing was written" not in err and "recall measured" in page.read_text() and "word39" in page.read_text()
    code, out, _ = run(f"{job} --force --set report_texts=none --json")
    told = json.loads(out)
    assert code == 0 and told["report"] == "page.html" and told["audit"] is None and "word39" not in page.read_text()
    code, out, err = run(f"dedup {corpus} --save job --set save_sketches=history")
    assert code == 0 and out.endswith("written: job\nwritten: history\n") and "nothing was written" not in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--save mine", "exists; pass --force"),
        ("--save mine --force", "no _lookalike.json"),
        ("--save file --force", "means a directory"),
        ("--save . --force", "contains it"),
        ("--save .. --force", "contains it"),
        ("--save data --force", "(in.jsonl)"),
        ("--save job -o job/out.jsonl", "choose another name"),
        ("--save job -o job", "choose another name"),
        ("--save job --report job/page.html", "choose another name"),
        ("--save job --work job/work", "choose another name"),
        ("--save out/job -o out", "choose another name"),
        ("--report page.html", "exists; pass --force"),
        ("--report other.html --set report_texts=some", "'some'"),
        ("--set audit=0", "audit"),
        (". --save job", "is inside the input folder"),
    ],
)
def test_reports_and_saved_results_are_refused_before_any_work(corpus, run, monkeypatch, words, said):
    monkeypatch.setattr("lookalike.recipes.job.open_job", lambda *_: pytest.fail("work was begun"))
    os.mkdir("mine")
    for name in ("mine/file", "file", "page.html"):
        Path(name).write_text("mine")
    code, out, err = run(f"dedup {'' if words[:2] == '. ' else corpus} {words}")
    assert (code, out) == (2 if "--set" in words else 1, "") and said in err, err
