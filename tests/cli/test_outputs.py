"""What ``dedup`` writes meets nothing that it reads, and nothing else that it writes; the guard comes before all of it."""

import gc
import json
import shutil
import signal
import subprocess
import sys

import pytest
from cli.commands import contents, run, status
from json_lines import write_lines
from weekly import weeks

from lookalike.files.disk import SIDECAR
from lookalike.recipes.outputs import InterruptHint
from lookalike.results.result import Result

HOW = ("-t", "0.6", "--width", 1, "--id", "id")


@pytest.fixture
def folder(crawl, capsys):
    """Weeks, of which the first is saved, and overrides for the second."""
    assert run(capsys, "dedup", "w0", *HOW, "--set", "save_sketches=history/w0", "--quiet")[0] == 0
    ids = weeks(1)[1]["id"].to_pylist()
    lines = [{"id": ids[0], "action": "keep"}, {"id": ids[1], "action": "remove"}]
    write_lines(crawl / "overrides.jsonl", lines)
    return crawl


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--report", "s/page.html", "--set", "save_sketches=s"], "s/page.html is, or is inside, the output s;"),
        (["--save", "s/in", "--set", "save_sketches=s"], "s/in is, or is inside, the output s;"),
        (["--save", "s", "--set", "save_sketches=s/in"], "s/in is, or is inside, the output s/;"),
        (["--save", "s", "--set", "save_sketches=s"], "s is, or is inside, the output s/;"),
        (["--set", "save_sketches=s", "--work", "s/work"], "s/work is, or is inside, the output s;"),
        (["--report", "overrides.jsonl"], "the report is a web page: write overrides.html"),
        (["--report", "history/w0/sketches.json"], "the report is a web page: write history/w0/sketches.html"),
        (["--report", "history/w0/secret"], "history/w0/secret is, or is inside, the output history/w0/secret;"),
        (["-o", "history/w0/sketches-00000.parquet"], "is, or is inside, the output history/w0/sketches-00000.parquet;"),
        (["-o", "history/w0"], "history/w0 is, or is inside, the output history/w0;"),
        (["--save", "history/w0"], "history/w0 is, or is inside, the output history/w0/;"),
    ],
    ids=range(11),
)
def test_outputs_that_meet_what_is_read_or_written(words, said, folder, capsys):
    before = contents(folder)
    given = ["--against", "history", "--overrides", "overrides.jsonl", "--force"]
    code, out, err = run(capsys, "dedup", "w1", *HOW, *given, *words)
    assert code == (2 if "web page" in said else 1) and not out and said in err
    assert contents(folder) == before


@pytest.mark.parametrize("words", [["-o", "history/w0/sketches-00000.parquet"], ["--report", "history/w0/secret"]])
def test_pairs_do_not_replace_sketches(words, folder, capsys):
    before = contents(folder)
    code, out, err = run(capsys, "pairs", "w1", *HOW, "--against", "history", "--force", *words)
    assert code == 1 and not out and f"is, or is inside, the output {words[1]};" in err
    assert contents(folder) == before


def test_a_guard_that_stops_leaves_what_people_judge_by(folder, capsys):
    before = contents(folder)
    everything = (
        "-o clean --report page.html --save job --set save_sketches=history/w1 --set audit=3 --json --removed gone.jsonl"
    )
    given = ["dedup", "w1", *HOW, "--against", "history", "--overrides", "overrides.jsonl", *everything.split()]
    code, out, err = run(capsys, *given, "--fail-if-removed", "0.01")
    assert (
        code == 1
        and not out
        and "clean and history/w1 were not written: " in err
        and "page.html and job and gone.jsonl were written" in err
    )
    assert not (folder / "clean").exists() and not (folder / "history/w1").exists()
    after = contents(folder)
    assert {path.parts[0].partition("_")[0] for path in after if path not in before} == {"page.html", "job", "gone.jsonl"}
    assert run(capsys, "show", "job")[0] == 0
    code, out, err = run(capsys, *given, "--fail-if-removed", "1", "--force")
    found = json.loads(out)
    assert code == 0 and [found[name] for name in ("output", "report", "saved", "sketches")] == [
        "clean", "page.html", "job", "history/w1"
    ]  # fmt: skip
    assert "--against history" in (folder / "page.html").read_text()


def test_a_week_is_repeated(folder, capsys):
    """The folder that is replaced does not count among those that the job is run against."""
    week = ["dedup", "w1", *HOW, "--against", "history", "--set", "save_sketches=history/w1", "-o", "clean", "--json"]
    code, first, _ = run(capsys, *week)
    before = contents(folder / "history/w1"), contents(folder / "clean")
    assert code == 0 and run(capsys, *week)[0] == 1
    code, again, _ = run(capsys, *week, "--force")
    told = [{name: json.loads(out)[name] for name in ("documents", "reference", "kept")} for out in (first, again)]
    assert code == 0 and told[0] == told[1]
    assert {p: b for p, b in contents(folder / "clean").items() if "_lookalike" not in p.name} == {
        p: b for p, b in before[1].items() if "_lookalike" not in p.name
    }
    assert run(capsys, "dedup", "w0", *HOW, "--against", "history/w1", "--set", "save_sketches=history/w1", "--force")[0] == 1
    shutil.rmtree(folder / "history/w0")
    code, alone, _ = run(capsys, *week, "--force")
    assert code == 0 and json.loads(alone)["reference"] == 0, "nothing is left to compare with"


def test_what_somebody_else_wrote_since_is_not_replaced(folder, capsys, monkeypatch):
    words = ["dedup", "w1", *HOW, "-o", "clean.jsonl", "--set", "save_sketches=mine", "--work", "work", "--quiet"]
    with monkeypatch.context() as patch:
        patch.setattr(Result, "save_sketches", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
        assert run(capsys, *words)[0] == 130
    gc.collect()
    (folder / "clean.jsonl").write_bytes(b"changed")
    assert "clean.jsonl exists; pass --force" in run(capsys, *words)[2]
    assert run(capsys, *words, "--force")[0] == 0 and "clean.jsonl exists; pass --force" in run(capsys, *words)[2]


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


@pytest.mark.parametrize("name", ["page.html", "saved", "gone.csv", "clean", "clean.jsonl", "mine", "work/finished.json"])
def test_an_output_that_appeared_just_before_a_kill_is_its_own(name, folder, capsys):
    output = "clean.jsonl" if "." in name else "clean"
    words = ["dedup", "w1", *HOW, "-o", output, "--report", "page.html", "--save", "saved", "--set", "save_sketches=mine"]
    words = [str(word) for word in [*words, "--removed", "gone.csv", "--work", "work", "--quiet"]]
    killed = subprocess.run([sys.executable, "-c", KILLED, name, *words], check=False)
    assert killed.returncode == -signal.SIGKILL and (folder / name).exists()
    assert run(capsys, *words)[:2] == (0, "")
    made = {"page.html", "saved", "gone.csv", f"gone.csv{SIDECAR}", "mine", output, f"{output}{SIDECAR}"}
    assert {path.name for path in folder.iterdir()} - {"work"} <= made | {"w0", "w1", "w2", "history", "overrides.jsonl"}
    assert all((folder / one).exists() for one in made - {f"clean{SIDECAR}"}) and not any((folder / "work").iterdir())


def test_what_is_shown_of_documents_that_were_decided_by_hand(folder, capsys):
    ids = weeks(1)[1]["id"].to_pylist()
    run(capsys, "dedup", "w1", *HOW, "--against", "history", "--overrides", "overrides.jsonl", "--save", "job")
    assert "decision   kept by an override; " in run(capsys, "show", "job", ids[0])[1]
    assert "decision   removed by an override\n" in run(capsys, "show", "job", ids[1])[1]
    told = [json.loads(run(capsys, "show", "job", id, "--json")[1]) for id in ids[:2]]
    assert [(row["reason"], row["override"]) for row in told] == [("kept", "keep"), ("override", "remove")]


def test_a_plan_has_the_bands_of_saved_sketches(folder, capsys):
    words = ["plan", "w1", "--id", "id", "--against", "history", "--json"]
    code, out, _ = run(capsys, *words, "-t", "0.7")
    assert (code, json.loads(out)["bands"]) == (0, bands_of(folder))
    code, _, err = run(capsys, *words, "-t", "0.3")
    assert code == 2 and "less than recall 0.99" in err


def bands_of(folder):
    """The bands of the saved sketches."""
    return json.loads((folder / "history" / "w0" / "sketches.json").read_text())["settings"]["bands"]


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
def corpus(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return write_lines(tmp_path / "in.jsonl", (TEXT, TEXT + " more", "else"))


def test_a_report_and_an_audit(corpus, tmp_path, capsys):
    page = tmp_path / "page.html"
    assert status("dedup", corpus, "--report", page, "--set", "audit=5") == 0
    out, err = capsys.readouterr()
    assert f"written: {page}" in out and "audit: 2 kept documents of 2" in out and "nothing was written" not in err
    assert "recall measured" in page.read_text() and "word39" in page.read_text()
    assert status("dedup", corpus, "--report", page) == 1
    assert "exists; pass --force" in capsys.readouterr().err
    assert status("dedup", corpus, "--report", page, "--force", "--set", "report_texts=none", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["report"] == str(page) and told["audit"] is None and "word39" not in page.read_text()
    assert status("dedup", corpus, "--save", "job", "--set", "save_sketches=history") == 0
    out, err = capsys.readouterr()
    assert out.endswith("written: job\nwritten: history\n") and "nothing was written" not in err


def test_reports_and_saved_results_are_refused_before_any_work(corpus, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("lookalike.recipes.job.open_job", lambda *_: pytest.fail("work was begun"))
    (tmp_path / "mine").mkdir()
    for name in ("mine/file", "file", "page.html"):
        (tmp_path / name).write_text("mine")
    (tmp_path / "data").mkdir()
    corpus = corpus.rename(tmp_path / "data/in.jsonl")
    for code, said, *words in (
        (1, "exists; pass --force", "--save", "mine"), (1, "no _lookalike.json", "--save", "mine", "--force"),
        (1, "means a directory", "--save", "file", "--force"), (1, "contains it", "--save", ".", "--force"), (1, "contains it", "--save", "..", "--force"), (1, "(in.jsonl)", "--save", "data", "--force"),
        (1, "choose another name", "--save", "job", "-o", "job/out.jsonl"), (1, "choose another name", "--save", "job", "-o", "job"),
        (1, "choose another name", "--save", "job", "--report", "job/page.html"), (1, "choose another name", "--save", "job", "--work", "job/work"),
        (1, "choose another name", "--save", "out/job", "-o", "out"), (1, "exists; pass --force", "--report", "page.html"),
        (2, "'some'", "--report", "other.html", "--set", "report_texts=some"), (2, "audit", "--set", "audit=0"),
    ):  # fmt: skip
        found, out, err = run(capsys, "dedup", corpus, *words)
        assert (found, out, said in err) == (code, "", True), (words, err)
    code, _, err = run(capsys, "dedup", tmp_path, "--save", "job")
    assert code == 1 and "is inside the input folder" in err
