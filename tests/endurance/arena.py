import ctypes
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import NamedTuple

from disk import Disk

import lookalike as la

sys.path.append(str(Path(__file__).parents[1]))
PATIENCE = 600.0  # seconds for a child that nobody kills
REFUSED, BROKEN, LOST, EXCUSED = 3, 4, 5, 6  # exit codes: an error of ours, any other, and the two below
LIBRARY = ctypes.CDLL(None)


def with_preloaded(main, arguments, program, sources):
    """Call ``main`` where libraries are preloaded: in this process, or by ``program`` in another."""
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


class Ended(NamedTuple):
    """The code is below 0 if the child was killed; it said ``heard`` on the way, and ``last`` in the end."""

    code: int
    heard: bytes
    last: str = ""
    calls: int = 0
    seconds: float = 0.0


class Arena:
    """The folders of a case, of which ``root`` is watched."""

    def __init__(self, base):
        self.root, self.store, self.temporary, self.after = (base / name for name in ("root", "store", "tmp", "after"))

    def clear(self):
        for folder in (self.root, self.store, self.temporary, self.after):
            shutil.rmtree(folder, ignore_errors=True)
        for folder in (self.root, self.temporary):
            folder.mkdir(parents=True)

    def run(self, act, call=0, seconds=None, power=False):
        """Run ``act(say)`` in a child; return how it ended, and the Disk, if the loss of its power is to follow.

        It is killed in its n-th ``call`` that changes files in ``root``, or after some seconds.
        """
        disk = None
        if power:
            shutil.rmtree(self.store, ignore_errors=True)
            self.store.mkdir()
            disk = Disk(self.root, self.store)
        heard, say = os.pipe()
        began, child = time.monotonic(), os.fork()
        if child == 0:
            os.environ["TMPDIR"] = str(self.temporary)
            signal.setitimer(signal.ITIMER_REAL, seconds or PATIENCE)  # which nothing handles: it ends the process
            _live(act, say, (str(self.root).encode(), str(self.store).encode() if power else None, call))
        os.close(say)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        with os.fdopen(heard, "rb") as stream:
            words, _, rest = stream.read().partition(b"\n")
        count, _, last = rest.decode(errors="replace").partition("\n")
        if code == -signal.SIGALRM and not seconds:
            raise LostError(f"hangs for {PATIENCE:.0f} s")
        if code < 0 and code != -(signal.SIGALRM if seconds else signal.SIGKILL if call else 0):
            raise LostError(f"ended by signal {-code}")
        if code == BROKEN:
            raise LostError(f"an error that is none of ours: {last}")
        return Ended(code, words, last, int(count or 0), time.monotonic() - began), disk


def _live(act, say, armed):
    """Write what a child says, a line feed, how often it changed files, and its last words; never return."""
    code, last = 0, ""
    try:
        LIBRARY.power_arm(*armed)
        last = act(lambda words: os.write(say, words)) or ""
    except (LostError, RefusedError) as error:
        code, last = LOST if isinstance(error, LostError) else EXCUSED, str(error)
    except la.LookalikeError as error:
        code, last = REFUSED, f"{type(error).__name__}: {error}"
    except BaseException:
        code, last = BROKEN, traceback.format_exc()
    try:  # less than a pipe holds
        os.write(say, f"\n{LIBRARY.power_count()}\n{last[-10_000:]}".encode())
    finally:
        os._exit(code)
