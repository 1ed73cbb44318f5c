"""What the engine asks of a session of Spark, and leaves as it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

N_TASKS = "spark.sql.shuffle.partitions"
USUAL = 200
"""Tasks of a shuffle where the session leaves it to the cluster: Spark's own default."""
BATCH_BYTES = 16 << 20
_WHILE_AT_WORK = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
    "spark.sql.execution.arrow.maxBytesPerBatch": str(BATCH_BYTES),
}
_NOT_ADAPTIVE = {"spark.sql.adaptive.enabled": "false"}
"""Our shuffles say how many tasks they have, so that planning anew after each of them takes time for nothing."""


def usual_tasks(session: Any) -> int:
    """Return how many tasks a shuffle usually has; some clusters say "auto"."""
    given = str(session.conf.get(N_TASKS, str(USUAL)))
    return int(given) if given.isdecimal() and int(given) else USUAL


@contextmanager
def settings_for(session: Any, adaptive: bool = False) -> Iterator[None]:
    """Set what our tasks need, and put it back; with ``adaptive`` Spark plans as the session says."""
    wanted = _WHILE_AT_WORK if adaptive else _WHILE_AT_WORK | _NOT_ADAPTIVE
    before = {name: session.conf.get(name, None) for name in wanted}
    for name, value in wanted.items():
        session.conf.set(name, value)
    try:
        yield
    finally:
        for name, old in before.items():
            if old is None:
                session.conf.unset(name)
            else:
                session.conf.set(name, old)
