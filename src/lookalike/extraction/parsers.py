"""Worker processes, and documents handed to them; texts come back in the order of the documents."""

from __future__ import annotations

import atexit
import os
import resource
import signal
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import InputDataError, MissingExtraError
from ..files.processes import start
from ..values.arrow import give_back
from . import AllText, UnreadableError
from .worker import ALL_TEXT, ANSWERED, ASKED, MEMORY, MISSING, SECONDS, TEXT, seconds_for

if TYPE_CHECKING:
    from concurrent.futures import Future

AHEAD = 64 << 20  # bytes of documents that wait for a process, or for those before them; no more than the largest may have
WAITS = 1 << 20  # bytes of a text that may wait for the texts before it
KEPT = 128 << 20  # bytes of memory of a process that parses on
Key = TypeVar("Key")
Text = bytes | UnreadableError | None
"""What comes of a document: its text, why it has none, or None if it is too large and left out."""

_idle: list[_Worker] = []
_lock = threading.Lock()
_now = threading.Event()
_now.set()


class _Worker:
    """A process that parses."""

    def __init__(self, seconds: float = SECONDS, memory: int = MEMORY) -> None:
        self._process = start("extraction.worker", str(seconds), str(memory))
        self.owner, self._seconds = os.getpid(), seconds

    def text_of(self, kind: str, held: list[bytes], most: int, turn: threading.Event = _now) -> tuple[bytes, bytes]:
        """Return what the document that is held is answered with; what is large stays with the process until it is its turn."""
        asking, answering, content = self._process.stdin, self._process.stdout, held.pop()
        assert asking is not None and answering is not None
        n_bytes = len(content)
        try:
            asking.write(ASKED.pack(kind.encode(), n_bytes, most))
            asking.write(content)
            asking.flush()
        except BrokenPipeError:
            raise UnreadableError(self._ended(kind, n_bytes)) from None
        del content  # the process has it
        if n_bytes > WAITS:
            give_back()
        head = answering.read(ANSWERED.size)
        if len(head) < ANSWERED.size:
            raise UnreadableError(self._ended(kind, n_bytes))
        what, size = ANSWERED.unpack(head)
        if size > WAITS:
            turn.wait()
        return what, answering.read(size)

    def _ended(self, kind: str, size: int) -> str:
        """Say why the process ended."""
        status = self._process.wait()
        if status == -signal.SIGPROF:
            return f"takes more than {seconds_for(kind, size, self._seconds):.3g} seconds of processor time to parse"
        return f"the parser crashed ({signal.Signals(-status).name if status < 0 else f'status {status}'})"

    def keeps_memory(self) -> bool:
        """Tell whether it keeps much of the memory that it took, or may, where the system does not say so."""
        try:
            with open(f"/proc/{self._process.pid}/statm") as said:
                return int(said.read().split()[0]) * resource.getpagesize() > KEPT
        except OSError:
            return True

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


def _take_worker() -> _Worker:
    """Return a process that waits, or a new one; those of the process that this one was forked from are not its own."""
    with _lock:
        while _idle:
            worker = _idle.pop()
            if worker.owner == os.getpid():
                return worker
    return _Worker()


def text_of(kind: str, held: list[bytes], most: int, extra: str = "", turn: threading.Event = _now) -> bytes:
    """Return the text of the document in a list, which is taken out, in UTF-8; a large one only when it is its turn.

    Raises
    ------
    UnreadableError
        If it has none, or cannot be parsed within the limits.
    MissingExtraError
        If the package that parses it is not installed.
    """
    worker, is_large = _take_worker(), len(held[0]) > WAITS
    try:
        what, payload = worker.text_of(kind, held, most, turn)
    except BaseException:
        worker.close()
        raise
    if is_large and worker.keeps_memory():
        worker.close()
    else:
        with _lock:
            _idle.append(worker)
    if what == MISSING:
        raise MissingExtraError(f"{payload.decode()} is not installed: pip install 'lookalike[{extra or 'html'}]'")
    if what not in (TEXT, ALL_TEXT):
        raise UnreadableError(payload.decode("utf-8", "replace"))
    return AllText(payload) if what == ALL_TEXT else payload


def texts_of(
    documents: Iterable[tuple[Key, Text]], kind: str, most: int, threads: int = 1, extra: str = ""
) -> Iterator[tuple[Key, Text]]:
    """Yield what comes of each document, in their order, some parsed at the same time; what is no document stays as it is."""
    from concurrent.futures import ThreadPoolExecutor  # here, for what is not needed to start

    def parsed(given: list[Any], turn: threading.Event) -> Text:
        try:
            return text_of(kind, given, most, extra, turn) if isinstance(given[0], bytes) else given[0]
        except UnreadableError as error:
            return error

    waiting: deque[tuple[Key, int, threading.Event, Future[Text]]] = deque()
    held = 0

    def first() -> tuple[Key, Text]:
        """Take out the document that was handed over first, whose turn it is; others may be with a process, too."""
        key, _, turn, answered = waiting.popleft()
        turn.set()
        return key, answered.result()

    with ThreadPoolExecutor(threads) as pool:
        try:
            for key, content in documents:
                size = len(content) if isinstance(content, bytes) else 0
                while waiting and (held + size > min(AHEAD, most) or len(waiting) >= 4 * threads):
                    held -= waiting[0][1]
                    yield first()
                turn = threading.Event()
                waiting.append((key, size, turn, pool.submit(parsed, [content], turn)))
                held += size
                del content
            while waiting:
                yield first()
        except InputDataError:  # of those before the fault, none is lost
            while waiting:
                yield first()
            raise
        finally:
            for _, _, turn, _ in waiting:  # which nobody asks for any longer
                turn.set()
