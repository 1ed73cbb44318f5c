"""Worker processes, and documents handed to them; texts come back in the order of the documents."""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from ..errors import MissingExtraError
from . import AllText, UnreadableError
from .worker import ALL_TEXT, ANSWERED, ASKED, MEMORY, MISSING, SECONDS, TEXT, seconds_for

if TYPE_CHECKING:
    from concurrent.futures import Future

AHEAD = 64 << 20  # bytes of documents that wait for a process, or for those before them
Key = TypeVar("Key")
_idle: list[_Worker] = []
_lock = threading.Lock()


class _Worker:
    """A process that parses."""

    def __init__(self, seconds: float = SECONDS, memory: int = MEMORY) -> None:
        paths = os.pathsep.join(path or os.getcwd() for path in sys.path)
        command = [sys.executable, "-P", "-m", "lookalike.extraction.worker", str(seconds), str(memory)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": paths},
        )  # fmt: skip
        self.owner, self._seconds = os.getpid(), seconds

    def text_of(self, kind: str, content: bytes, most: int) -> tuple[bytes, bytes]:
        """Return what a document is answered with."""
        asking, answering = self._process.stdin, self._process.stdout
        assert asking is not None and answering is not None
        try:
            asking.write(ASKED.pack(kind.encode(), len(content), most))
            asking.write(content)
            asking.flush()
        except BrokenPipeError:
            raise UnreadableError(self._ended(kind, len(content))) from None
        head = answering.read(ANSWERED.size)
        if len(head) < ANSWERED.size:
            raise UnreadableError(self._ended(kind, len(content)))
        what, size = ANSWERED.unpack(head)
        return what, answering.read(size)

    def _ended(self, kind: str, size: int) -> str:
        """Say why the process ended."""
        status = self._process.wait()
        if status == -signal.SIGPROF:
            return f"takes more than {seconds_for(kind, size, self._seconds):.3g} seconds of processor time to be parsed"
        return f"the parser crashed ({signal.Signals(-status).name if status < 0 else f'status {status}'})"

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            with suppress(BrokenPipeError):  # something was left to be written
                stream.close()
        self._process.wait()


@atexit.register
def close_idle() -> None:
    """End the processes that wait."""
    while _idle:
        worker = _idle.pop()
        if worker.owner == os.getpid():
            worker.close()


def _taken() -> _Worker:
    """Return a process that waits, or a new one; those of the process that this one was forked from are not its own."""
    with _lock:
        while _idle:
            worker = _idle.pop()
            if worker.owner == os.getpid():
                return worker
    return _Worker()


def text_of(kind: str, content: bytes, most: int, extra: str = "") -> str:
    """Return the text of a document.

    Raises
    ------
    UnreadableError
        If it has none, or cannot be parsed within the limits.
    MissingExtraError
        If the package that parses it is not installed.
    """
    worker = _taken()
    try:
        what, payload = worker.text_of(kind, content, most)
    except BaseException:
        worker.close()
        raise
    with _lock:
        _idle.append(worker)
    if what == MISSING:
        raise MissingExtraError(f"{payload.decode()} is not installed: pip install 'lookalike[{extra}]'")
    if what not in (TEXT, ALL_TEXT):
        raise UnreadableError(payload.decode("utf-8", "replace"))
    return AllText(payload, "utf-8") if what == ALL_TEXT else payload.decode("utf-8")


def texts_of(
    documents: Iterable[tuple[Key, bytes | UnreadableError | None]], kind: str, most: int, threads: int = 1, extra: str = ""
) -> Iterator[tuple[Key, str | UnreadableError | None]]:
    """Yield what comes of each document, in their order, some parsed at the same time; what is no document stays as it is."""
    from concurrent.futures import ThreadPoolExecutor  # here, for what is not needed to start

    def parsed(content: bytes | UnreadableError | None) -> str | UnreadableError | None:
        try:
            return text_of(kind, content, most, extra) if isinstance(content, bytes) else content
        except UnreadableError as error:
            return error

    waiting: deque[tuple[Key, int, Future[str | UnreadableError | None]]] = deque()
    held = 0
    with ThreadPoolExecutor(threads) as pool:
        for key, content in documents:
            size = len(content) if isinstance(content, bytes) else 0
            while waiting and (held + size > AHEAD or len(waiting) >= 4 * threads):
                first, n_bytes, answered = waiting.popleft()
                yield first, answered.result()
                held -= n_bytes
            waiting.append((key, size, pool.submit(parsed, content)))
            held += size
            del content
        for first, _, answered in waiting:
            yield first, answered.result()
