"""How the program ends: what it prints, on which stream, and its exit status."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from cli.commands import process
from json_lines import parse_lines, read_lines, write_lines

import lookalike as la

TEXT = " ".join(f"word{i}" for i in range(60))


@pytest.fixture(autouse=True)
def _corpus():
    write_lines("in.jsonl", ({"id": f"\x1b[31m{i}", "text": f"{TEXT} {i}"} for i in range(3)))


@pytest.mark.parametrize(("command", "lines"), [("dedup", 1), ("pairs", 3)])
def test_quiet_prints_nothing_but_errors_and_json(run, command, lines):
    for more in ("", "-o out.jsonl"):
        assert run(f"{command} in.jsonl --quiet {more}") == (0, "", "")
    code, out, err = run(f"{command} in.jsonl --quiet --json")
    assert (code, json.loads(out)["documents"], err) == (0, 3, "")
    code, out, err = run(f"{command} in.jsonl --quiet -o -")
    assert (code, out.count("\n"), err) == (0, lines, "")
    code, out, err = run(f"{command} none.jsonl --quiet")
    assert (code, out) == (1, "") and "no file of that name" in err


def test_documents_on_standard_output(run):
    """The lines as they are; all that is said is on the other stream, and nothing is written beside them."""
    lines = Path("in.jsonl").read_text()
    code, out, err = run("dedup in.jsonl -o - -t 1 --report page.html")
    assert (code, out) == (0, lines) and err.startswith("3 documents, ") and err.endswith("written: page.html\n")
    code, out, err = run("dedup in.jsonl -o - -t 0.5 --annotate --id id --json")
    assert [row["keep"] for row in parse_lines(out)] == [True, False, False]
    assert code == 0 and json.loads(err)["kept"] == 1
    assert run("dedup in.jsonl -o - -t 0.5 --quiet") == (0, lines.splitlines(True)[0], "")
    code, out, err = run("pairs in.jsonl -o - -t 0.5")
    assert [sorted(row) for row in parse_lines(out)] == [["left_id", "resemblance", "right_id"]] * 3
    assert code == 0 and err.startswith("3 documents, ") and "written" not in err
    assert sorted(os.listdir()) == ["in.jsonl", "page.html"]


def test_the_last_line_on_standard_output_ends(run):
    """A file without a line feed at its end is written to files as it was; other programs print to this stream, too."""
    cut = Path("in.jsonl")
    cut.write_text('{"text": "a b"}\n{"text": "c d"}')
    assert run("dedup in.jsonl -o - --quiet") == (0, cut.read_text() + "\n", "")
    assert run("dedup in.jsonl -o out.jsonl --quiet") == (0, "", "")
    assert Path("out.jsonl").read_text() == cut.read_text()
    cut.write_text("")
    assert run("dedup in.jsonl -o - --quiet") == (0, "", "")


@pytest.mark.parametrize("line", ["dedup in.jsonl", "pairs in.jsonl", "decontaminate in.jsonl --against in.jsonl"])
def test_no_report_on_standard_output(run, line):
    code, out, err = run(f"{line} --report -")
    assert (code, out) == (2, "") and "--report writes one HTML file, not to standard output; got -: name a file" in err
    assert os.listdir() == ["in.jsonl"]


@pytest.mark.parametrize("closed", ["1>&-", "2>&-", "0<&- 1>&- 2>&-"])
def test_closed_streams_do_no_harm(closed):
    """A file that is opened must not get the number of a stream, or what is printed would go into it."""
    command = f'"$0" -m lookalike dedup in.jsonl --threshold 1 --id id --annotate -o out.jsonl {closed}'
    assert subprocess.run(["sh", "-c", command, sys.executable], capture_output=True).returncode == 0
    assert [set(row) >= {"keep", "cluster"} for row in read_lines("out.jsonl")] == [True] * 3


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full is a thing of Linux")
@pytest.mark.parametrize(("how", "what"), [("--json", "standard output or error"), ("-o -", "standard output")])
def test_a_standard_output_that_cannot_be_written_is_an_error(how, what):
    with open("/dev/full", "w") as full:
        done = subprocess.run(process(f"dedup in.jsonl {how}"), stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1 and f"error: {what} cannot be written: No space left on device\n" in done.stderr
    assert "Traceback" not in done.stderr and "Exception ignored" not in done.stderr


@pytest.mark.parametrize("how", ["--json", "-o - --quiet"])
def test_a_reader_that_leaves_ends_the_program_silently(how):
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(process(f"dedup in.jsonl {how}"), stdout=write, stderr=subprocess.PIPE, text=True)
    os.close(write)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.fixture
def fails_with(monkeypatch):
    """Lets a job fail: when it begins, or when it writes or closes."""

    def arm(error, where="recipes.job.open_job", patch=monkeypatch):
        def fail(*_args, **_kwargs):
            raise error

        patch.setattr(f"lookalike.{where}", fail)

    return arm


@pytest.mark.parametrize("kind", [ZeroDivisionError, EOFError, RecursionError, OSError])
def test_what_is_unexpected_shows_its_place_and_asks_for_a_report(run, fails_with, kind):
    fails_with(kind("so it goes"))
    code, out, err = run("dedup in.jsonl")
    assert (code, out) == (70, "") and "Traceback" in err and "so it goes" in err and "test_ends.py" in err
    assert err.splitlines()[-1].startswith(f"error: this is a bug in lookalike {la.__version__}: report it")


@pytest.mark.parametrize(
    "error",
    [MemoryError(), pa.lib.ArrowMemoryError("malloc"), RuntimeError("can't start new thread"), OSError(12, "Cannot allocate"),
     ImportError("libx.so: failed to map segment from shared object")],
    ids=lambda error: type(error).__name__,
)  # fmt: skip
def test_refused_memory_and_threads_are_told(run, fails_with, error):
    fails_with(error)
    code, _, err = run("dedup in.jsonl")
    assert code == 1 and err.startswith("error: out of memory: ") and "--memory" in err and "Traceback" not in err


@pytest.mark.parametrize(
    ("where", "given", "said"),
    [
        ("recipes.job.open_job", "", "interrupted; nothing was written"),
        ("recipes.job.open_job", "-o out.jsonl --work work",
         "interrupted; nothing was written; run the command again to continue the job"),
        ("results.result.Result.write", "-o out.jsonl",
         "interrupted; each file found at out.jsonl is complete, from this job or an earlier one"),
        ("results.result.Result.close", "-o out.jsonl", "interrupted; out.jsonl was written, and is complete"),
    ],
)  # fmt: skip
def test_an_interrupt_says_what_it_leaves(run, fails_with, monkeypatch, where, given, said):
    with monkeypatch.context() as patch:
        fails_with(KeyboardInterrupt(), where, patch)
        code, _, err = run(f"dedup in.jsonl {given}")
    assert code == 130 and err.lstrip("\n") == f"{said}\n"
    assert os.path.exists("out.jsonl") == where.endswith("close")


def test_pairs_name_the_references_in_the_summary(run):
    write_lines("old.jsonl", [TEXT])
    _, out, _ = run("pairs in.jsonl --against old.jsonl -o p.csv")
    assert out.startswith("3 documents and 1 reference document, ")
    assert Path("p.csv").read_text().startswith("left_id,right_id,left_is_reference,resemblance\n")
