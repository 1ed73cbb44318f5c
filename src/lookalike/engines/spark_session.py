"""What the engine asks of a session of Spark, and leaves as it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

N_TASKS = "spark.sql.shuffle.partitions"
USUAL = 200
"""Tasks of a shuffle where the session leaves it to the cluster: Spark's own default."""
BATCH_BYTES = 16 << 20
PANDAS_3 = "PySpark does not yet fully support pandas"
"""How a warning begins that means nothing to us, who leave pandas alone."""
_WHILE_AT_WORK = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
    "spark.sql.execution.arrow.maxBytesPerBatch": str(BATCH_BYTES),
}


def usual_tasks(session: Any) -> int:
    """Return how many tasks a shuffle usually has; some clusters say "auto"."""
    given = str(session.conf.get(N_TASKS, str(USUAL)))
    return int(given) if given.isdecimal() and int(given) else USUAL


@contextmanager
def settings_for(session: Any) -> Iterator[None]:
    """Set what our tasks need, and put it back."""
    before = {name: session.conf.get(name, None) for name in _WHILE_AT_WORK}
    for name, value in _WHILE_AT_WORK.items():
        session.conf.set(name, value)
    try:
        yield
    finally:
        for name, old in before.items():
            if old is None:
                session.conf.unset(name)
            else:
                session.conf.set(name, old)
