"""What an interrupt leaves behind, in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Leaves:
    """What the user is told if the job is interrupted now."""

    def __init__(self, resumable: bool) -> None:
        self.noted: Callable[[str], None] | None = None
        """Called with each output that is complete."""
        self.said = "nothing was written" + ("; pass --resume to continue the job" if resumable else "")
        self._complete: list[str] = []

    def writing(self, output: str) -> None:
        """Note that an output is about to appear, or standard output ("-") about to be written to."""
        before = f"{self._told()}; " if self._complete else ""
        left = f"each file found at {output} is complete, from this job or from an earlier one"
        self.said = f"{before}{left if output != '-' else 'what was printed is not complete'}"

    def written(self, output: str) -> None:
        """Note that an output is complete."""
        if output != "-":
            self._complete.append(output)
            if self.noted is not None:
                self.noted(output)
        self.said = self._told() if self._complete else "everything was printed"

    def _told(self) -> str:
        """Name what is complete."""
        verbs = ("were", "are") if len(self._complete) > 1 else ("was", "is")
        return f"{', '.join(self._complete)} {verbs[0]} written, and {verbs[1]} complete"


@contextmanager
def explained(resumable: bool = False) -> Iterator[Leaves]:
    """Add to a KeyboardInterrupt a note that says what it leaves behind."""
    leaves = Leaves(resumable)
    try:
        yield leaves
    except KeyboardInterrupt as interrupt:
        interrupt.add_note(leaves.said)
        raise
