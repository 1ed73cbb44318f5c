"""How far an engine is, for those who are told not only amounts; and how long a job takes, stage by stage."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

Progress = Callable[[str, int], None]
"""Called with the name of a stage and an amount done since the last call."""
Share = Callable[[str, int, int, str], None]


def share_of(progress: Progress | None) -> Share | None:
    """Return what takes (stage, done, total, unit): the method ``of`` of what progress is reported to, if it has one."""
    found: Share | None = getattr(progress, "of", None)
    return found


class WorkProgress:
    """Reports how far a stage is whose pieces threads work at: the last pieces that were handed out do not count yet."""

    def __init__(self, share: Share | None, stage: str, total: int, unit: str, threads: int) -> None:
        self._share, self._stage, self._total, self._unit = share, stage, total, unit
        self._under_way: deque[int] = deque(maxlen=2 * threads)
        self._done = 0

    def add(self, amount: int) -> None:
        """Take note that a piece is handed out."""
        if len(self._under_way) == self._under_way.maxlen:
            self._done += self._under_way[0]
        self._under_way.append(amount)
        if self._share is not None:
            self._share(self._stage, self._done, self._total, self._unit)

    def end(self) -> None:
        """Take note that there is no other piece: what follows of the stage cannot be counted."""
        if self._share is not None:
            self._share(self._stage, self._total, self._total, self._unit)


class Clock:
    """Seconds spent in each stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def restart(self) -> None:
        """Forget all stages so far, and the time since the last lap."""
        self.seconds = {}
        self._last = time.perf_counter()

    def lap(self, stage: str) -> None:
        """Give the time since the last lap to a stage."""
        now = time.perf_counter()
        self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self._last
        self._last = now
