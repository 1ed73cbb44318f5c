import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from cli.commands import process
from json_lines import read_lines, write_lines
from samples import words

import lookalike as la

TEXT = words("word", 60)


@pytest.fixture(autouse=True)
def _corpus():
    write_lines("in.jsonl", ({"id": f"\x1b[31m{i}", "text": f"{TEXT} {i}"} for i in range(3)))


def ended(line, **given):
    return subprocess.run(process(line), **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | given)


def test_the_last_line_on_standard_output_ends(run):
    """A file without a line feed at its end is written to files as it was; other programs print to this stream, too."""
    cut = Path("in.jsonl")
    for text, out in (('{"text": "a b"}\n{"text": "c d"}', '{"text": "a b"}\n{"text": "c d"}\n'), ("", "")):
        cut.write_text(text)
        assert run("dedup in.jsonl -o - --quiet") == (0, out, "")
        assert run("dedup in.jsonl -o out.jsonl --quiet --force") == (0, "", "")
        assert Path("out.jsonl").read_text() == text


@pytest.mark.parametrize(
    ("line", "column", "value"),
    [("dedup -", "cluster", "stdin:1"), ("decontaminate - --against test.jsonl", "overlap_with", "test.jsonl:1")],
)
def test_standard_input_is_read(line, column, value):
    write_lines("test.jsonl", [TEXT])
    done = ended(f"{line} --format jsonl -o out.jsonl --annotate", input=Path("in.jsonl").read_text())
    assert done.returncode == 0 and done.stdout.startswith("3 documents") and read_lines("out.jsonl")[1][column] == value


@pytest.mark.parametrize("closed", ["1>&-", "2>&-", "0<&- 1>&- 2>&-"])
def test_closed_streams_do_no_harm(closed):
    """A file that is opened must not get the number of a stream, or what is printed would go into it."""
    command = f'"$0" -m lookalike dedup in.jsonl --threshold 1 --id id --annotate -o out.jsonl {closed}'
    assert subprocess.run(["sh", "-c", command, sys.executable], capture_output=True).returncode == 0
    assert [set(row) >= {"keep", "cluster"} for row in read_lines("out.jsonl")] == [True] * 3


def test_a_quiet_command_does_not_warn():
    write_lines("in.jsonl", ["a text", "long " * 1000])
    done = ended("dedup in.jsonl --set max_document=2kB --on-error skip --quiet -o out.jsonl")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full is a thing of Linux")
def test_a_standard_output_that_cannot_be_written_is_an_error():
    for how, what in (("--json", "standard output or error"), ("-o -", "standard output")):
        with open("/dev/full", "w") as full:
            done = ended(f"dedup in.jsonl {how}", stdout=full)
        assert done.returncode == 1 and f"error: {what} cannot be written: No space left on device\n" in done.stderr
        assert "Traceback" not in done.stderr and "Exception ignored" not in done.stderr


def test_a_reader_that_leaves_ends_the_program_silently():
    for how in ("--json", "-o - --quiet"):
        read, write = os.pipe()
        os.close(read)
        done = ended(f"dedup in.jsonl {how}", stdout=write)
        os.close(write)
        assert (done.returncode, done.stderr) == (1, "")


@pytest.fixture
def fails_with(monkeypatch):
    def arm(error, where="recipes.job.open_job", patch=monkeypatch):
        def fail(*_args, **_kwargs):
            raise error

        patch.setattr(f"lookalike.{where}", fail)

    return arm


def test_what_is_unexpected_shows_its_place_and_asks_for_a_report(run, fails_with):
    for kind in (ZeroDivisionError, EOFError, RecursionError, OSError):
        fails_with(kind("so it goes"))
        code, out, err = run("dedup in.jsonl")
        assert (code, out) == (70, "") and "Traceback" in err and "so it goes" in err and "test_ends.py" in err
        assert err.splitlines()[-1].startswith(f"error: this is a bug in lookalike {la.__version__}: report it")


def test_refused_memory_and_threads_are_told(ends, fails_with):
    for error in (MemoryError(), pa.lib.ArrowMemoryError("malloc"), RuntimeError("can't start new thread"),
                  OSError(12, "Cannot allocate"), ImportError("libx.so: failed to map segment from shared object")):  # fmt: skip
        fails_with(error)
        err = ends(1, "dedup in.jsonl", "--memory")
        assert err.startswith("error: out of memory: ") and "Traceback" not in err


def test_an_interrupt_says_what_it_leaves(ends, fails_with, monkeypatch):
    for where, given, said in (
        ("recipes.job.open_job", "", "nothing was written"),
        ("recipes.job.open_job", "-o out.jsonl --work work", "nothing was written; run the command again to continue the job"),
        ("results.result.Result.write", "-o out.jsonl",
         "each file found at out.jsonl is complete, from this job or an earlier one"),
        ("results.result.Result.close", "-o out.jsonl", "out.jsonl was written, and is complete"),
    ):  # fmt: skip
        with monkeypatch.context() as patch:
            fails_with(KeyboardInterrupt(), where, patch)
            assert ends(130, f"dedup in.jsonl {given}").lstrip("\n") == f"interrupted; {said}\n"
        assert os.path.exists("out.jsonl") == where.endswith("close")
