"""What only an open job can do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..recipes.decide import Decider
    from .result import Result


@dataclass(slots=True, eq=False)
class Job:
    """A job whose inputs can be read again; the results of one job share it.

    Parameters
    ----------
    sources : sequence of Source
        All that was read, references first; positions in decisions count them.
    n_references : int
        Sources that hold references.
    again : callable
        From this job and a higher threshold to a result.
    threshold : float
        The lowest that ``again`` takes.
    finish : callable
        Removes what the job keeps on the disk.
    note : callable, optional
        Remembers that an output is complete, for a run that resumes the job.
    decider : Decider, optional
        What knows the sketches of the job, for those that can be saved.
    """

    sources: Sequence[Any]
    n_references: int
    again: Callable[[Job, float], Result]
    threshold: float
    finish: Callable[[], None]
    closed: bool = False
    note: Callable[[str], None] | None = None
    decider: Decider | None = None
