"""Signals that ask the program to stop end it as Ctrl-C does: nothing is left behind."""

import os
import signal
import subprocess
import sys
import zipfile

from waiting import until

PROGRAM = """
import signal
from lookalike.cli.main import main
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # which nohup lets the tests ignore
main()
"""


def test_what_was_unpacked_or_begun_goes(tmp_path):
    """So many files are in the archive that a signal comes while they are unpacked."""
    held = tmp_path / "held"
    held.mkdir()
    with zipfile.ZipFile("a.zip", "w") as archive:
        for i in range(20_000):
            archive.writestr(f"{i}.txt", f"text {i} of some words")
    line = [sys.executable, "-c", PROGRAM, "dedup", "a.zip", "--format", "txt", "-o", "out.jsonl"]
    how = {"env": os.environ | {"TMPDIR": str(held)}, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        with subprocess.Popen(line, **how) as run:
            until(lambda: any(held.glob("lookalike-*/*")) or run.poll() is not None)
            run.send_signal(number)
            _, err = run.communicate(timeout=60)
        assert run.returncode == 128 + number and b"Traceback" not in err
        assert not list(held.iterdir()) and sorted(os.listdir()) == ["a.zip", "held"]
