"""How far an engine is, for those who are told not only amounts."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

Share = Callable[[str, int, int, str], None]


def share_of(progress: Any) -> Share | None:
    """Return what takes (stage, done, total, unit): the method ``of`` of what progress is reported to, if it has one."""
    found: Share | None = getattr(progress, "of", None)
    return found


class Counted:
    """Reports how far a stage is whose pieces threads work at: the last pieces that were handed out do not count yet.

    Parameters
    ----------
    share : callable or None
        What ``share_of`` returns.
    total : int
        Of all pieces.
    """

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
