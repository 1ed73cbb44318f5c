"""Signals that ask the program to stop end it as Ctrl-C does: nothing is left behind."""

import os
import signal
import subprocess
import sys
import time
import zipfile

import pytest


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """So many files that a signal comes while they are unpacked."""
    path = tmp_path_factory.mktemp("in") / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for i in range(20_000):
            archive.writestr(f"{i}.txt", f"text {i} of some words")
    return path


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT], ids=lambda number: number.name)
def test_what_was_unpacked_goes(tmp_path, archive, number):
    held, program = tmp_path / "held", "import sys, signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    program += "signal.signal(signal.SIGHUP, signal.SIG_DFL); "  # which nohup lets the tests ignore
    program += "from lookalike.cli.main import main; main()"
    held.mkdir()
    env = os.environ | {"TMPDIR": str(held)}
    job = [sys.executable, "-c", program, "dedup", archive, "--format", "txt"]
    with subprocess.Popen(job, cwd=tmp_path, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
        while not any(held.glob("lookalike-*/*")) and run.poll() is None:
            time.sleep(0.01)
        run.send_signal(number)
        assert run.wait(60) == 128 + number
    assert not list(held.iterdir())
