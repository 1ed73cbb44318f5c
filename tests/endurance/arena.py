"""Runs something in a child process that is killed, or whose machine loses its power, and hears what it had acknowledged."""

import ctypes
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass
from pathlib import Path

from disk import Disk

import lookalike as la

PATIENCE = 600.0  # seconds for a child that nobody kills
REFUSED, BROKEN, LOST, EXCUSED = 3, 4, 5, 6  # exit codes: an error of ours, any other, and the two below
LIBRARY = ctypes.CDLL(None)


def with_preloaded(main, arguments, program, sources):
    """Call ``main`` of a program where shared libraries, made of some sources, are preloaded: in this process, or by it in another."""
    if hasattr(LIBRARY, "power_arm"):
        return main(*arguments)
    with tempfile.TemporaryDirectory(prefix="lookalike-preloaded-") as folder:
        made = [str(Path(folder) / source.with_suffix(".so").name) for source in sources]
        for source, library in zip(sources, made, strict=True):
            subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, str(source), "-ldl", "-lpthread"], check=True)
        command = [sys.executable, "-W", "ignore", str(program), *arguments]
        sys.exit(subprocess.run(command, env=os.environ | {"LD_PRELOAD": " ".join(made)}, check=False).returncode)


class LostError(Exception):
    """Something is not as it was promised."""


class RefusedError(Exception):
    """An error says what to do, where nothing that had been acknowledged is at stake."""


@dataclass(frozen=True)
class Ended:
    """How a child ended: its exit code (-9 if it was killed), what it said on the way, and in the end."""

    code: int
    heard: bytes
    last: str
    calls: int
    seconds: float


class Arena:
    """The folders of one case: ``root``, which is watched, and others beside it."""

    def __init__(self, base):
        self.root, self.store, self.temporary, self.after = (base / name for name in ("root", "store", "tmp", "after"))

    def clear(self):
        for folder in (self.root, self.store, self.temporary, self.after):
            shutil.rmtree(folder, ignore_errors=True)
        for folder in (self.root, self.temporary):
            folder.mkdir(parents=True)

    def run(self, act, kill=None, power=False):
        """Run ``act(say)`` in a child; return how it ended, and the Disk, if the loss of its power is to follow.

        It is killed in its n-th call that changes files in ``root`` (``kill`` is ("call", n)), or after a time ("seconds", x).
        With ``power``, what is needed to lose the power afterwards is noted.
        """
        disk = None
        if power:
            shutil.rmtree(self.store, ignore_errors=True)
            self.store.mkdir()
            disk = Disk(self.root, self.store)
        given = {"call": 0, "seconds": PATIENCE} | dict([kill] if kill else [])
        (heard, say), (told, tell) = os.pipe(), os.pipe()
        began, child = time.monotonic(), os.fork()
        if child == 0:
            os.environ["TMPDIR"] = str(self.temporary)
            armed = str(self.root).encode(), str(self.store).encode() if power else None, given["call"]
            _live(act, lambda words: os.write(say, words), tell, armed)
        os.close(say)
        os.close(tell)
        words, hung = _listen(child, heard, began + given["seconds"])
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        with os.fdopen(told, "rb") as stream:
            count, _, last = stream.read().decode(errors="replace").partition("\n")
        if hung and given["seconds"] == PATIENCE:
            raise LostError(f"hangs for {PATIENCE:.0f} s")
        if code < 0 and (code != -signal.SIGKILL or kill is None):
            raise LostError(f"ended by signal {-code}")
        if code == BROKEN:
            raise LostError(f"an error that is none of ours: {last}")
        return Ended(code, words, last, int(count or 0), time.monotonic() - began), disk


def _listen(child, heard, deadline):
    """Read what a child says until it ends; kill it when it is time."""
    words, hung = b"", False
    while True:
        left = deadline - time.monotonic()
        if not hung and (left <= 0 or not select.select([heard], [], [], left)[0]):
            os.kill(child, signal.SIGKILL)
            hung = True
        some = os.read(heard, 1 << 16)
        if not some:
            os.close(heard)
            return words, hung
        words += some


def _live(act, say, tell, armed):
    """The life of a child: it never returns."""
    code, last = 0, ""
    try:
        LIBRARY.power_arm(*armed)
        last = act(say) or ""
    except (LostError, RefusedError) as error:
        code, last = LOST if isinstance(error, LostError) else EXCUSED, str(error)
    except la.LookalikeError as error:
        code, last = REFUSED, f"{type(error).__name__}: {error}"
    except BaseException:
        code, last = BROKEN, traceback.format_exc()
    try:
        os.write(tell, f"{LIBRARY.power_count()}\n{last}".encode()[-60_000:])
    finally:
        os._exit(code)
