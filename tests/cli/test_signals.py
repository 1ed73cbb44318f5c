"""Signals that ask the program to stop end it as Ctrl-C does: nothing is left behind."""

import os
import signal
import subprocess
import sys
import zipfile

import pytest
from waiting import until


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """So many files that a signal comes while they are unpacked."""
    path = tmp_path_factory.mktemp("in") / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for i in range(20_000):
            archive.writestr(f"{i}.txt", f"text {i} of some words")
    return path


PROGRAM = """
import signal
from lookalike.cli.main import main
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # which nohup lets the tests ignore
main()
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT], ids=lambda number: number.name)
def test_what_was_unpacked_or_begun_goes(tmp_path, archive, number):
    held = tmp_path / "held"
    held.mkdir()
    job = [sys.executable, "-c", PROGRAM, "dedup", archive, "--format", "txt", "-o", "out.jsonl"]
    env = os.environ | {"TMPDIR": str(held)}
    with subprocess.Popen(job, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as run:
        until(lambda: any(held.glob("lookalike-*/*")) or run.poll() is not None)
        run.send_signal(number)
        _, err = run.communicate(timeout=60)
    assert run.returncode == 128 + number and b"Traceback" not in err
    assert not list(held.iterdir()) and os.listdir() == ["held"]
