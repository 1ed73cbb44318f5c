"""How far a job is, on one line that is drawn again: on a terminal, or in a notebook."""

from __future__ import annotations

import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from time import monotonic
from typing import Any, Self

from ..engines.progress import share_of
from ..errors import ParameterError
from ..wording import printable

Progress = Callable[[str, int], None]
EVERY, IN_NOTEBOOKS = 0.1, 0.5  # seconds between two drawings
SURE = 3.0  # seconds of a stage, before which what is left of it is not estimated
BAR = 20  # columns
WORTH = 1.0  # seconds of a stage that are worth a line
_UNITS = {"sketching": "documents", "verifying": "pairs"}  # of amounts without a total


def no_progress(stage: str, amount: int) -> None:
    """Report nothing."""


class Following:
    """Reports how many documents a table has, and how far inputs are read: by a name that people are shown, once begun."""

    def __init__(self, progress: Progress, name: str, table: str) -> None:
        self._progress, self._share, self._table = progress, share_of(progress), table
        self.name, self.begun = name, False

    def __call__(self, stage: str, amount: int) -> None:
        """Report an amount."""
        if stage == self._table:
            self._progress(self.name, amount)

    def of(self, stage: str, done: int, total: int, unit: str) -> None:
        """Report how far a stage is."""
        if self.begun and self._share is not None and unit == "bytes":
            self._share(self.name, done, total, unit)


@dataclass(slots=True)
class _Stage:
    """What is being done."""

    name: str
    began: float  # ``monotonic``
    amount: int = 0  # reported so far
    done: int = 0
    first: int = -1  # ``done`` at the first report
    total: int = 0  # 0: not known
    unit: str = ""  # of ``done`` and ``total``

    @property
    def share(self) -> float:
        """How much of it is done; 0 if that is not known, as after the last thing that can be counted."""
        return self.done / self.total if 0 < self.done < self.total else 0.0

    def parts(self, now: float) -> list[str]:
        """Return what there is to say; the last parts matter most, but for the first."""
        seconds = now - self.began
        if not self.share:
            counted = self.amount and self.name in _UNITS
            return [self.name, f"{self.amount:,} {_UNITS[self.name]}" if counted else "", duration(seconds)]
        rate = (self.done - self.first) / seconds if seconds else 0.0
        left = (self.total - self.done) / rate if rate else 0.0
        known = seconds >= SURE and left > 0
        amounts = _of_bytes if self.unit == "bytes" else _of_things
        done, speed = amounts(self.done, self.total, rate, self.unit)
        head = f"{self.name} {int(100 * self.share):3}%"
        return [head, done, speed if known else "", f"{duration(left)} left" if known else ""]


def _of_bytes(done: int, total: int, rate: float, unit: str) -> tuple[str, str]:
    """Say how many bytes are done, and how quickly."""
    size, name = (1e9, "GB") if total >= 1e10 else (1e6, "MB")
    return f"{done / size:,.1f} of {total / size:,.1f} {name}", f"{rate / 1e6:,.1f} MB/s"


def _of_things(done: int, total: int, rate: float, unit: str) -> tuple[str, str]:
    """Say how many of other things are done, and how quickly."""
    return f"{done:,} of {total:,} {unit}", f"{rate:,.0f} {unit}/s" if rate >= 10 else ""


def duration(seconds: float) -> str:
    """Return "12 s", "3 min 20 s", "2 h 5 min": no more than can be known."""
    minutes, rest = divmod(round(seconds), 60)
    if not minutes:
        return f"{rest} s"
    if minutes < 60:
        return f"{minutes} min {rest // 10 * 10} s" if minutes < 10 else f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"


class _Watch:
    """What a job does now, at which a thread looks every so many seconds, so that reports cost next to nothing."""

    def __init__(self, every: float) -> None:
        self._every = every
        self._stage = _Stage("", monotonic())
        self._turn, self._ended = threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="lookalike-progress", daemon=True)

    def _look(self) -> None:
        raise NotImplementedError

    def _run(self) -> None:
        while not self._ended.wait(self._every):
            self._look()

    def __enter__(self) -> Self:
        """Begin to look."""
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        """End it."""
        self._ended.set()
        self._thread.join()


class Bar(_Watch):
    """A line that says what a job does and how far it is.

    ``draw`` puts a line in place of the last, an empty one removes it; ``every`` is in seconds; ``blocks``: a column each.
    """

    def __init__(
        self, draw: Callable[[str], None], width: Callable[[], int], every: float = EVERY,
        blocks: tuple[str, str] = ("#", "-"),
    ) -> None:  # fmt: skip
        super().__init__(every)
        self._draw, self._width, self._blocks, self._shown = draw, width, blocks, ""

    def __call__(self, stage: str, amount: int) -> None:
        """Report an amount that was done of a stage since the last call."""
        with self._turn:
            self._at(stage).amount += amount

    def of(self, stage: str, done: int, total: int, unit: str) -> None:
        """Report how far a stage is: ``done`` of ``total`` bytes, or other things."""
        with self._turn:
            now = self._at(stage)
            if now.first < 0:
                now.first = done
            now.done, now.total, now.unit = done, total, unit

    def _at(self, stage: str) -> _Stage:
        if stage != self._stage.name:
            self._stage = _Stage(stage, monotonic())
        return self._stage

    def line(self, now: float) -> str:
        """Return what is to be seen: of what there is to say, as much as there is room for."""
        room = self._width() - 1  # in the last column some terminals begin a new line
        with self._turn:
            head, *rest = self._stage.parts(now)
            full = int(self._stage.share * BAR)
            bar = self._blocks[0] * full + self._blocks[1] * (BAR - full) if self._stage.share else ""
        said = printable(head)[: max(0, room)].rstrip()
        after = ""
        for part in filter(None, reversed(rest)):
            if len(said) + len(after) + 2 + len(part) > room:
                break
            after = f"  {part}{after}"
        if bar and len(said) + len(after) + 2 + BAR <= room:
            said += f"  {bar}"
        return said + after

    def _show(self, line: str) -> None:
        with self._turn:
            if line != self._shown:
                self._shown = line
                with suppress(OSError, ValueError):  # the terminal is gone: no reason to end a job
                    self._draw(line)

    def above(self, write: Callable[[], None]) -> None:
        """Do something that writes lines; they come above this one."""
        with self._turn:
            if self._shown:
                self._shown = ""
                self._draw("")
            write()

    def __exit__(self, *error: object) -> None:
        """Remove the line."""
        super().__exit__(*error)
        self._show("")

    def _look(self) -> None:
        if self._stage.name:
            self._show(self.line(monotonic()))


class Lines(_Watch):
    """A line for each stage, for files and pipes; stages that last are mentioned ``every`` so many seconds."""

    def __init__(self, write: Callable[[str], None], every: float = 60.0) -> None:
        super().__init__(every)
        self._write = write

    def __call__(self, stage: str, amount: int) -> None:
        """Take note that a stage is at work."""
        with self._turn:
            if stage != self._stage.name:
                self._say("", WORTH)
                self._stage = _Stage(stage, monotonic())

    def _say(self, more: str, least: float) -> None:
        """Write a line about the stage if it has taken this long."""
        seconds = monotonic() - self._stage.began
        if self._stage.name and seconds >= least:
            with suppress(OSError, ValueError):  # nobody reads: no reason to end a job
                self._write(f"{self._stage.name}: {duration(seconds)}{more}")

    def __exit__(self, *error: object) -> None:
        """Say how long the last stage took."""
        super().__exit__(*error)
        self("", 0)

    def _look(self) -> None:
        with self._turn:
            self._say(" so far", self._every)


class _Terminal:
    """Draws on standard error, over what was drawn before."""

    def __init__(self, stream: Any) -> None:
        self._stream, self._columns = stream, 0

    def __call__(self, line: str) -> None:
        """Show a line."""
        padding = " " * (self._columns - len(line))
        self._stream.write(f"\r{line}{padding}" if line else f"\r{padding}\r")
        self._stream.flush()
        self._columns = len(line)


class _Notebook:
    """Shows a line of text below a cell, which takes the place of the one before."""

    def __init__(self) -> None:
        self._handle: Any = None

    def __call__(self, line: str) -> None:
        """Show a line."""
        from IPython.display import display  # type: ignore[import-not-found,unused-ignore]  # loaded, or this is not called

        if self._handle is None:
            self._handle = display({"text/plain": line}, raw=True, display_id=True)
        else:
            self._handle.update({"text/plain": line}, raw=True)


def _in_notebook() -> bool:
    """Tell whether a kernel of IPython runs this."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None


def make_bar() -> Bar | None:
    """Return a bar for where the program runs; None if nothing can be drawn there: standard error is a file or a pipe."""
    if _in_notebook():
        return Bar(_Notebook(), lambda: 100, IN_NOTEBOOKS)
    stream = sys.stderr
    if stream is None or not stream.isatty() or os.environ.get("TERM") == "dumb":
        return None
    blocks = ("#", "-")
    with suppress(UnicodeEncodeError, LookupError, TypeError):
        "█░".encode(stream.encoding)
        blocks = ("█", "░")
    return Bar(_Terminal(stream), lambda: shutil.get_terminal_size().columns, blocks=blocks)


@contextmanager
def show_progress(progress: Any) -> Iterator[Progress | None]:
    """Give what a job reports to."""
    if progress is True:
        bar = make_bar()
        if bar is None:
            yield None
            return
        with bar:
            yield bar
        return
    if progress is not None and progress is not False and not callable(progress):
        raise ParameterError("must be True, False, or a callable of a stage and an amount", "progress", progress)
    yield progress or None
