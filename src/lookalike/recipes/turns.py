"""A job that is run against a folder of generations, before it runs: whether it has run before, and against what it runs."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..errors import InputDataError, OutputError, ParameterError
from ..files.atomic import atomic_file
from ..files.descriptions import places_named
from ..files.job import differences
from ..files.names import show_path
from ..files.publication import Publication
from ..files.urls import is_inside, path_of
from ..files.workspace import unfinished_job
from ..formats.split import Inputs, Split
from ..formats.writers import check_output
from ..inputs.generations import Account, Generation, Job, digest_of_output, encoded_accounts, next_name
from ..inputs.sketch_rows import GENERATIONS
from ..inputs.sketches import described_in, open_saved
from ..results.result import Result
from ..settings.settings import RunSettings
from .counts import check_source
from .outputs import Outputs
from .preparation import check_repeatable
from .saved_sketches import check_saving


@dataclass(frozen=True, kw_only=True, eq=False)
class HistoryRun:
    """What distinguishes a job, the generations that it is run against, and what is known of it if it has run before."""

    sources: Sequence[Split]
    others: Sequence[Split]  # references beside the history
    settings: RunSettings
    inputs: str
    parameters: dict[str, Any]
    before: Sequence[Generation]
    job: Job | None

    @property
    def folder(self) -> Path:
        """The history."""
        return Path(self.settings.history or "")

    @cached_property
    def name(self) -> str:
        """The name of the generation that it adds, or has added."""
        last = self.before[-1].name if self.before else None
        return self.job.generation if self.job else next_name(last, self.settings.generation)

    def has_written(self, output: str | None) -> bool:
        """Tell whether an output is there that this job wrote; refuse another one."""
        if self.job is None or output is None or not os.path.lexists(output):
            return False
        if digest_of_output(output) == self.job.output:
            return True
        raise OutputError(
            f" exists, but is not what this job wrote when it added {self.job.generation}; pass "
            "--force (force=True) to replace it, or choose another name",
            output,
        )

    def missing(self, outputs: Outputs) -> Outputs | None:
        """Return what is to be written; None if the job has run before, what it wrote is there, and nothing is left of it."""
        if self.job is not None and not outputs.force:
            made = (outputs.report, outputs.save, outputs.removed)
            report, save, removed = (None if path is not None and os.path.lexists(path) else path for path in made)
            wrote = self.has_written(outputs.output)
            output = None if wrote else outputs.output
            outputs = replace(outputs, report=report, save=save, removed=removed, output=output)
            left = self.settings.work is not None and unfinished_job(Path(self.settings.work)) is not None
            if wrote and not left and not outputs.paths:
                return None
        for path in outputs.rows:
            check_output(path, outputs.force)
        return outputs

    def check(self, references: Sequence[Split], outputs: Sequence[str]) -> None:
        """Check that its generation can be saved, and that nothing that is written meets the history."""
        for output in outputs:
            if is_inside(path_of(output), self.folder):
                raise OutputError(
                    f" is inside {show_path(self.folder)}, which holds generations only; choose another name", output
                )
        check_saving(self.folder / self.name, self.job is not None, self.sources, references, self.settings.html, outputs)

    def references(self, outputs: Sequence[str]) -> Inputs:
        """Return the history as inputs, then others, if what the job writes meets none of them."""
        if self.job is not None and self.job.before != [one.checksum for one in self.before]:
            raise InputDataError(
                f"the outputs of this job cannot be recreated: since it added {self.job.generation}, generations "
                f"before it were "
                "merged, removed or replaced"
            )
        trusted = places_named(self.settings.trust)
        saved = (split for one in self.before for split in open_saved(one.folder, trusted))
        references = Inputs([*saved, *self.others])
        self.check(references, outputs)
        return references

    def remember(self, together: Publication, result: Result, output: str) -> None:
        """Write the generation of a job, and the account of it, to appear with its output."""
        folder = together.place(self.folder / self.name)
        result.save_sketches(folder, texts=self.settings.history_texts)
        described = described_in(Path(folder))
        before = [one.checksum for one in self.before]
        job = Job(self.name, self.inputs, self.parameters, before, digest_of_output(output))
        accounts = [one.account for one in self.before if one.account is not None]
        write_accounts(together, self.folder, [*accounts, Account(self.name, described.checksum, [job])])


def write_accounts(together: Publication, folder: Path, accounts: list[Account]) -> None:
    """Write the account of generations, to appear last."""
    with atomic_file(Path(together.place(folder / GENERATIONS, replace=True))) as stream:
        stream.write(encoded_accounts(accounts))


def history_run_of(
    generations: Sequence[Generation], sources: Sequence[Split], settings: RunSettings, others: Sequence[Split]
) -> HistoryRun:  # fmt: skip
    """Return a job with some settings; ``others`` are references beside the history."""
    check_source(generations, settings.source, settings.counts)
    identities = [split.identity() for split in (*others, *sources)]
    check_repeatable(sources, identities[len(others) :], "a history")
    inputs = sha256(json.dumps(identities, sort_keys=True).encode()).hexdigest()
    parameters = json.loads(json.dumps(settings.to_dict()))
    before, job = generations, None
    for number, one in enumerate(generations):
        for known in one.jobs:
            if known.inputs == inputs:
                before, job = generations[:number], known
    if job is not None and (changed := differences(job.parameters, parameters)):
        raise ParameterError(
            f"these inputs were added to {show_path(str(settings.history))} before, as {job.generation}, with other settings: "
            f"{'; '.join(changed[:5])}: pass the old ones, or run history forget first"
        )
    return HistoryRun(
        sources=sources, others=others, settings=settings, inputs=inputs, parameters=parameters, before=before, job=job
    )  # fmt: skip
