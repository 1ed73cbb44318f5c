"""How long a job takes, stage by stage."""

from __future__ import annotations

import time


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
