"""Results whose sketches can be saved for later jobs."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from ..errors import ParameterError
from ..recipes.saved_sketches import Saving, write_rows
from ..settings.settings import Settings
from ..values.arrow import to_arrow
from .choosing import of_reason
from .job import Job
from .rows import Rows, filtered


class Sketched:
    """The method of a result that saves sketches."""

    _decisions: Rows
    _job: Job | None
    settings: Settings
    provenance: dict[str, Any]

    def _check_open(self) -> None:
        raise NotImplementedError

    def save_sketches(self, folder: str | Path, *, force: bool = False) -> None:
        """Save the sketches of the kept documents to a new folder, which later jobs can be run ``against``.

        Texts are not saved: those that a later job compares it reads again from the inputs, which must stay where they are, as
        they are. Texts that came from no file are saved.

        Parameters
        ----------
        folder : str or path
            It may be on an object store, where it counts once its description is there, which is written last.
        force : bool
            Replace an existing folder, if an earlier run wrote all that is in it.

        Raises
        ------
        OutputError
            If the folder exists, holds files of others or an input, or cannot be written; nothing half written is left.
        ParameterError
            If the result is closed, or was loaded or unpickled; or if inputs that lie in no files are web pages.
        """
        self._check_open()
        if self._job is None or self._job.decider is None:
            raise ParameterError("this result was loaded or unpickled, and does not have the sketches: run dedup again")
        decider, engine = self._job.decider, self._job.decider.engine
        orders = filtered(self._decisions.select(["order", "reason"]), lambda batch: to_arrow(of_reason(batch, "kept")))
        saving = Saving(
            settings=self.settings, splits=self._job.sources, n_references=self._job.n_references, found=decider.found,
            key=decider.key, provenance=self.provenance,
        )  # fmt: skip
        path = saving.check(folder, force)
        rows = saving.rows(engine, engine.rows(orders.select(["order"])))
        if not engine.joins_in_place:
            rows = engine.meet(rows, None, "position")
        saving.write(path, force, engine, rows, partial(write_rows, saving, rows))
