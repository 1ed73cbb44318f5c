"""Engines by name: the local one, and those of other packages; the one on Spark has a function of its own.

Another package adds an engine by an entry point of the group ``lookalike.engines``. Its name is that of the engine; its value
is a function from ``Running`` to an ``Engine``::

    [project.entry-points."lookalike.engines"]
    toy = "toy_package.engine:make"
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..errors import ParameterError
from ..files.workspace import Workspace
from ..packages import added
from .local.engine import LocalEngine, Progress
from .memory import Memory

GROUP = "lookalike.engines"
OURS = ("local", "spark")
_OPERATIONS = (
    "source",
    "rows",
    "map",
    "meet",
    "join",
    "union",
    "fold",
    "rank",
    "store",
    "components",
    "slices",
    "together",
    "joins_in_place",
    "close",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """What a job may use.

    Parameters
    ----------
    workspace : Workspace
        Where parts of the job are kept.
    progress : callable
        Called with the name of a stage and an amount done since the last call.
    """

    threads: int
    memory: Memory
    workspace: Workspace
    progress: Progress


def names() -> tuple[str, ...]:
    """Return the names of all engines there are, ours first."""
    return (*OURS, *sorted({point.name for point in added(GROUP)} - set(OURS)))


def make_engine(name: str, running: Running) -> Any:
    """Return the engine of a name; other packages are looked through unless it is "local"."""
    if name == "local":
        return LocalEngine(
            threads=running.threads, memory=running.memory, workspace=running.workspace, progress=running.progress
        )
    if name == "spark":
        raise ParameterError(
            "on Spark the tables of a result are data frames: call lookalike.spark.dedup (from lookalike import spark), or "
            "the command lookalike dedup --engine spark"
        )
    found = [point for point in added(GROUP) if point.name == name]
    if not found:
        raise ParameterError(f"engine must be one of {', '.join(names())}; got {name!r}")
    if len({point.value for point in found}) > 1:
        raise ParameterError(f"engine {name!r} comes from several packages: uninstall all but one")
    try:
        make: Callable[[Running], Any] = found[0].load()
    except Exception as error:  # whatever the import of another package raises
        raise ParameterError(f"engine {name!r} cannot be loaded: {type(error).__name__}: {error}") from error
    made = make(running)
    if missing := [operation for operation in _OPERATIONS if not hasattr(made, operation)]:
        raise ParameterError(f"engine {name!r} lacks {', '.join(missing)}")
    return made
