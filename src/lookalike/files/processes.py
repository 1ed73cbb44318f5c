"""Processes of our own, in which is read what a stranger wrote: it can end them, but not the job."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from contextlib import suppress


def start(module: str, *given: str, errors: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
    """Start one that runs a module, none of the folder that this process runs in."""
    paths = os.pathsep.join(path or os.getcwd() for path in sys.path)
    return subprocess.Popen(
        [sys.executable, "-P", "-m", f"lookalike.{module}", *given],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, env={**os.environ, "PYTHONPATH": paths},
    )  # fmt: skip


def limit_memory(n_bytes: int, kind: int = resource.RLIMIT_AS) -> None:
    """Limit the memory of this process, where the system can (not macOS, below what is mapped), and leave no image of it."""
    with suppress(ValueError, OSError):
        resource.setrlimit(kind, (n_bytes, n_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def take_output() -> int:
    """Return what was the standard output, to which nothing that libraries print must go; leave it to the job to end this."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    out = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return out
