"""Jobs that are stopped while they write: each output is theirs, complete, or not there."""

import gc
import os
import signal
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import pytest
from samples import one_in

from lookalike.files.disk import SIDECAR
from lookalike.recipes.outputs import InterruptHint

HOW = "-t 0.6 --width 1 --id id"


def test_what_somebody_else_wrote_since_is_not_replaced(crawl, run, ends):
    """And other settings need --force, which begins the job anew."""
    line, looser = (
        f"dedup w1 -t {t} --width 1 --id id -o clean.jsonl --set save_sketches=mine --work work --quiet" for t in (0.6, 0.5)
    )
    with patch("lookalike.results.result.Result.save_sketches", side_effect=KeyboardInterrupt):
        assert run(line)[0] == 130
    gc.collect()  # the traceback held the folder
    Path("clean.jsonl").write_bytes(b"changed")
    assert "clean.jsonl exists; pass --force" in run(line)[2]
    gc.collect()
    os.remove("clean.jsonl")
    ends(2, looser, "holds an unfinished job with other parameters or inputs: threshold was 0.6, is 0.5")
    gc.collect()
    assert run(f"{looser} --force")[0] == 0 and not os.listdir("work")
    assert "clean.jsonl exists; pass --force" in run(looser)[2]


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
def test_an_output_that_appeared_just_before_a_kill_is_its_own(name, crawl, run):
    before, output = {*os.listdir()}, "clean.jsonl" if "." in name else "clean"
    line = f"""dedup w1 {HOW} -o {output} --report page.html --save saved --set save_sketches=mine --removed gone.csv --work work
        --quiet"""
    killed = subprocess.run([sys.executable, "-c", KILLED, name, *line.split()], check=False)
    assert killed.returncode == -signal.SIGKILL and os.path.exists(name)
    assert run(line)[:2] == (0, "")
    made = {"page.html", "saved", "gone.csv", f"gone.csv{SIDECAR}", "mine", output, f"{output}{SIDECAR}"}
    there = {*os.listdir()}
    assert there - {"work"} <= made | before
    assert made - {f"clean{SIDECAR}"} <= there and not os.listdir("work")


def test_an_interrupt_names_all_that_is_complete():
    leaves = InterruptHint(False)
    leaves.writing("page.html")
    leaves.written("page.html")
    assert leaves.said == "page.html was written, and is complete"
    leaves.writing("clean")
    assert leaves.said.startswith("page.html was written, and is complete; each file found at clean is complete")
    leaves.written("clean")
    assert leaves.said == "page.html, clean were written, and are complete"
