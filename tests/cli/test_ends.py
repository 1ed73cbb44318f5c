"""How the program ends: what it prints, on which stream, and its exit status."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from cli.commands import run
from json_lines import parse_lines, read_lines, write_lines

import lookalike as la

PROGRAM = [sys.executable, "-m", "lookalike"]
TEXT = " ".join(f"word{i}" for i in range(60))


@pytest.fixture
def corpus(tmp_path):
    return write_lines(tmp_path / "in.jsonl", ({"id": f"\x1b[31m{i}", "text": f"{TEXT} {i}"} for i in range(3)))


@pytest.mark.parametrize("command", ["dedup", "pairs"])
def test_quiet_prints_nothing_but_errors_and_json(capfd, corpus, tmp_path, command):
    assert run(capfd, command, corpus, "--quiet") == (0, "", "")
    assert run(capfd, command, corpus, "--quiet", "-o", tmp_path / "out.jsonl") == (0, "", "")
    code, out, err = run(capfd, command, corpus, "--quiet", "--json")
    assert (code, json.loads(out)["documents"], err) == (0, 3, "")
    code, out, err = run(capfd, command, corpus, "--quiet", "-o", "-")
    assert (code, len(out.splitlines()), err) == (0, {"dedup": 1, "pairs": 3}[command], "")
    code, out, err = run(capfd, command, tmp_path / "none.jsonl", "--quiet")
    assert (code, out) == (1, "") and "no file of that name" in err


def test_documents_on_standard_output(capfd, corpus, tmp_path):
    """The lines as they are; all that is said is on the other stream, and nothing is written beside them."""
    lines = corpus.read_text()
    code, out, err = run(capfd, "dedup", corpus, "-o", "-", "-t", "1", "--report", tmp_path / "page.html")
    assert (
        (code, out) == (0, lines) and err.startswith("3 documents, ") and err.endswith(f"written: {tmp_path / 'page.html'}\n")
    )
    code, out, err = run(capfd, "dedup", corpus, "-o", "-", "-t", "0.5", "--annotate", "--id", "id", "--json")
    assert [row["keep"] for row in parse_lines(out)] == [True, False, False]
    assert code == 0 and json.loads(err)["kept"] == 1
    assert run(capfd, "dedup", corpus, "-o", "-", "-t", "0.5", "--quiet") == (0, lines.splitlines(True)[0], "")
    code, out, err = run(capfd, "pairs", corpus, "-o", "-", "-t", "0.5")
    assert [sorted(row) for row in parse_lines(out)] == [["left_id", "resemblance", "right_id"]] * 3
    assert code == 0 and err.startswith("3 documents, ") and "written" not in err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.jsonl", "page.html"]


def test_the_last_line_on_standard_output_ends(capfd, tmp_path):
    """A file without a line feed at its end is written to files as it was; other programs print to this stream, too."""
    (tmp_path / "in.jsonl").write_text('{"text": "a b"}\n{"text": "c d"}')
    assert run(capfd, "dedup", tmp_path / "in.jsonl", "-o", "-", "--quiet") == (0, '{"text": "a b"}\n{"text": "c d"}\n', "")
    assert run(capfd, "dedup", tmp_path / "in.jsonl", "-o", tmp_path / "out.jsonl", "--quiet") == (0, "", "")
    assert (tmp_path / "out.jsonl").read_text() == (tmp_path / "in.jsonl").read_text()
    (tmp_path / "none.jsonl").write_text("")
    assert run(capfd, "dedup", tmp_path / "none.jsonl", "-o", "-", "--quiet") == (0, "", "")


@pytest.mark.parametrize("command", ["dedup", "pairs", "decontaminate"])
def test_no_report_on_standard_output(capfd, corpus, command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    against = ["--against", corpus] if command == "decontaminate" else []
    code, out, err = run(capfd, command, corpus, *against, "--report", "-")
    assert (code, out) == (2, "") and "--report writes one HTML file, not to standard output; got -: name a file" in err
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


def test_ids_cannot_steer_a_terminal(capfd, corpus):
    _, out, _ = run(capfd, "dedup", corpus, "--id", "id", "-t", "0.5")
    assert "\x1b" not in out and r"\x1b[31m1  ->  \x1b[31m0" in out
    _, _, err = run(capfd, "dedup", "no\x1b[2Jfile.jsonl")
    assert "\x1b" not in err and r"no\x1b[2Jfile.jsonl" in err


@pytest.mark.parametrize("closed", ["1>&-", "2>&-", "0<&- 1>&- 2>&-"])
def test_closed_streams_do_no_harm(corpus, tmp_path, closed):
    """A file that is opened must not get the number of a stream, or what is printed would go into it."""
    target = tmp_path / "out.jsonl"
    command = f'"$0" -m lookalike dedup "$1" --threshold 1 --id id --annotate -o "$2" {closed}'
    assert subprocess.run(["sh", "-c", command, sys.executable, str(corpus), str(target)], capture_output=True).returncode == 0
    assert [set(row) >= {"keep", "cluster"} for row in read_lines(target)] == [True] * 3


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full is a thing of Linux")
def test_a_standard_output_that_cannot_be_written_is_an_error(corpus):
    with open("/dev/full", "w") as full:
        done = subprocess.run([*PROGRAM, "dedup", str(corpus), "--json"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert "error: standard output or error cannot be written: No space left on device" in done.stderr
    with open("/dev/full", "w") as full:
        rows = subprocess.run([*PROGRAM, "dedup", str(corpus), "-o", "-"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert (rows.returncode, rows.stderr) == (1, "error: standard output cannot be written: No space left on device\n")
    assert "Traceback" not in done.stderr and "Exception ignored" not in done.stderr


@pytest.mark.parametrize("what", [["--json"], ["-o", "-", "--quiet"]], ids=["json", "rows"])
def test_a_reader_that_leaves_ends_the_program_silently(corpus, what):
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([*PROGRAM, "dedup", str(corpus), *what], stdout=write, stderr=subprocess.PIPE, text=True)
    os.close(write)
    assert (done.returncode, done.stderr) == (1, "")


def fails_with(monkeypatch, error, where="open"):
    """Let a job fail: when it begins, or when it writes or closes."""
    from lookalike.results.result import Result

    def fail(*_args, **_kwargs):
        raise error

    if where == "open":
        monkeypatch.setattr("lookalike.recipes.job.open_job", fail)
    else:
        monkeypatch.setattr(Result, where, fail)


def test_what_is_unexpected_shows_its_place_and_asks_for_a_report(capfd, corpus, monkeypatch):
    for error in (ZeroDivisionError("so it goes"), EOFError("so it goes"), RecursionError("so it goes"), OSError("so it goes")):
        fails_with(monkeypatch, error)
        code, out, err = run(capfd, "dedup", corpus)
        assert (code, out) == (70, "")
        assert "Traceback" in err and "so it goes" in err and "test_ends.py" in err
        assert err.splitlines()[-1].startswith(f"error: this is a bug in lookalike {la.__version__}: report it")


@pytest.mark.parametrize(
    "error",
    [MemoryError(), pa.lib.ArrowMemoryError("malloc"), RuntimeError("can't start new thread"), OSError(12, "Cannot allocate"),
     ImportError("libx.so: failed to map segment from shared object")],
    ids=lambda error: type(error).__name__,
)  # fmt: skip
def test_refused_memory_and_threads_are_told(capfd, corpus, monkeypatch, error):
    fails_with(monkeypatch, error)
    code, _, err = run(capfd, "dedup", corpus)
    assert code == 1 and err.startswith("error: out of memory: ") and "--memory" in err and "Traceback" not in err


def test_an_interrupt_says_what_it_leaves(capfd, corpus, monkeypatch, tmp_path):
    target = tmp_path / "out.jsonl"
    for where, arguments, said in (
        ("open", [], "interrupted; nothing was written\n"),
        ("open", ["-o", target, "--work", tmp_path / "work"],
         "interrupted; nothing was written; run the command again to continue the job\n"),
        ("write", ["-o", target], f"interrupted; each file found at {target} is complete, from this job or an earlier one\n"),
        ("close", ["-o", target], f"interrupted; {target} was written, and is complete\n"),
    ):  # fmt: skip
        with monkeypatch.context() as patch:
            fails_with(patch, KeyboardInterrupt(), where)
            code, _, err = run(capfd, "dedup", corpus, *arguments)
        assert code == 130 and err.lstrip("\n") == said
        assert target.exists() == (where == "close")


def test_pairs_name_the_references_in_the_summary(capfd, corpus, tmp_path):
    (tmp_path / "old.jsonl").write_text(json.dumps({"text": TEXT}) + "\n")
    _, out, _ = run(capfd, "pairs", corpus, "--against", tmp_path / "old.jsonl", "-o", tmp_path / "p.csv")
    assert out.startswith("3 documents and 1 reference document, ")
    assert (tmp_path / "p.csv").read_text().startswith("left_id,right_id,left_is_reference,resemblance\n")
