"""Documents are searched, decided about, and the decisions become a result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from .. import __version__
from ..engines.engine import Engine, Table
from ..engines.memory import peak_memory
from ..formats.split import Split
from ..inputs.ids import Labels
from ..results.result import Result
from ..results.rows import filtered, of_reason
from ..results.summary import Summary, count
from ..settings.settings import Settings
from ..steps.totals import BYTES, EMPTY, N_ROWS, TEXT_IDS
from ..values.arrow import to_arrow
from .decide import Decider, Deciding
from .decisions import Told
from .opening import Opened
from .saved_sketches import Saving, write_rows
from .search import Searched, Searching, search
from .vouching import vouched

_POLICIES = {
    "first": ("position",), "last": ("-position",), "longest": ("-bytes", "position"), "shortest": ("bytes", "position"),
    "largest": ("-priority", "position"), "smallest": ("priority", "position"),
}  # fmt: skip


def searching_of(settings: Settings, *, every_pair: bool = False, limit: int | None = None) -> Searching:
    """Return how candidates are found.

    With ``every_pair`` all matches among the pairs of all buckets are wanted, and references have copies of their own. Pairs of
    a crowd that cannot match are left out if the exact resemblance decides and no limit is set.
    """
    finder = settings.finder
    reaching = every_pair and limit is None and finder.exact and finder.score == "resemblance" and settings.verify == "exact"
    return Searching(
        method=finder, shingling=settings.shingling, encoding_errors=settings.encoding_errors,
        by=_POLICIES[settings.keep.partition(":")[0]],
        max_bucket=settings.max_bucket if reaching or not every_pair else None,
        reaching=settings.threshold if reaching else None,
        least=settings.least, apart=every_pair, limit=limit, threads=settings.n_threads,
        overrides=settings.overrides,
    )  # fmt: skip


def deciding_of(settings: Settings) -> Deciding:
    """Return how candidates are compared."""
    return Deciding(
        method=settings.finder, shingling=settings.shingling, threshold=settings.threshold, empty=settings.empty
    )  # fmt: skip


def count_rows(engine: Engine, rows: Table) -> int:
    """Return the number of rows."""
    return int(engine.fold(rows, N_ROWS)[0])


def labels_of(opened: Opened, found: Searched) -> Labels:
    """Return what documents are called."""
    return Labels.of(opened.splits, opened.reading.id is not None, not found.totals[TEXT_IDS])


class OpenJob:
    """A job whose inputs can be read again: see ``results.tables.Job``."""

    def __init__(self, opened: Opened, decider: Decider) -> None:
        self._opened, self._decider, self.closed = opened, decider, False
        self.sources: Sequence[Split] = opened.splits
        self.n_references = opened.reading.n_references
        self.threshold = opened.settings.threshold
        self.note: Callable[[str], None] | None = getattr(opened.workspace, "note", None)
        self.engine = opened.engine

    def result(self, decider: Decider, settings: Settings) -> Result:
        """Decide, and tell it."""
        told, summary = judge(self._opened, decider, settings, lambda told: count(told.decisions, decider.found.boundary))
        return Result(
            decisions=told.decisions, matches=told.pairs, settings=settings, summary=summary,
            provenance=provenance_of(settings, self.sources), against=self.n_references > 0, job=self,
            near_misses=told.near_misses,
        )  # fmt: skip

    def again(self, threshold: float) -> Result:
        """Decide at another threshold about the candidates that were found."""
        self._opened.clock.restart()
        return self.result(self._decider.at(threshold), self._opened.settings.at(threshold))

    def audit(self, result: Result, n: int, seed: int) -> dict[str, Any]:
        """Compare some kept documents with all others."""
        from .audit import Audit  # here, for what is not needed to start

        return Audit(result.rows(), self.sources, result.settings).run(n, seed)

    def save_sketches(self, result: Result, folder: str | Path, force: bool) -> None:
        """Save the sketches of the kept documents."""
        engine = self.engine
        orders = filtered(result.rows(["order", "reason"]), lambda batch: to_arrow(of_reason(batch, "kept")))
        saving = Saving(
            settings=result.settings, splits=self.sources, n_references=self.n_references, found=self._decider.found,
            key=self._decider.key, provenance=result.provenance,
        )  # fmt: skip
        path = saving.check(folder, force)
        rows = saving.rows(engine, engine.rows(orders.select(["order"])))
        if not engine.joins_in_place:
            rows = engine.meet(rows, None, "position")
        saving.write(path, force, engine, rows, partial(write_rows, saving, rows))

    def close(self) -> None:
        """Remove what the job keeps on the disk."""
        self.closed = True
        self.engine.close()


def decide(opened: Opened) -> Result:
    """Find candidates, decide who stays, and return the result."""
    settings = opened.settings
    found = search(opened.engine, opened.splits, opened.reading, searching_of(settings), opened.key, opened.clock.lap)
    decider = Decider(opened.engine, found, deciding_of(settings), opened.key)
    return OpenJob(opened, decider).result(decider, settings)


def provenance_of(settings: Settings, splits: Sequence[Split]) -> dict[str, Any]:
    """Return what is written beside every output: how it was made, and from what."""
    return {
        "lookalike": __version__,
        "parameters": settings.to_dict(),
        "inputs": [split.identity() for split in splits],
    }


def judge(
    opened: Opened, decider: Decider, settings: Settings, count_told: Callable[[Told], dict[str, Any]]
) -> tuple[Told, Summary]:
    """Decide about all documents; return the decisions, and their summary, of which ``count_told`` makes the counts."""
    engine, found, clock = opened.engine, decider.found, opened.clock
    every = opened.settings.evidence == "all"
    all_matches = decider.all_matches if every else decider.matches
    matches = decider.kept_matches(all_matches) if every else all_matches
    clock.lap("verification")
    standing = decider.standing(matches)
    told = Told(decider, all_matches, standing, labels_of(opened, found), leaders=every)
    counted = count_told(told)
    clock.lap("keeping")
    summary = Summary(
        **counted,
        empty=int(found.totals[EMPTY]),
        text_bytes=int(found.totals[BYTES]),
        candidate_pairs=count_rows(engine, found.pairs),
        verified_pairs=count_rows(engine, all_matches),
        crowded=count_rows(engine, found.crowded.select(["order"])),
        recall_planned=settings.finder.recall(settings.threshold),
        recall_vouched=vouched(decider, standing, settings, counted["kept"]),
        verified_by=settings.verify,
        threshold=settings.threshold,
        score=settings.finder.score,
        found_by=settings.finder.describe(),
        seconds=dict(clock.seconds),
        peak_memory=peak_memory(),
        plan=settings.finder.plan_dict(),
        skipped=opened.skipped,
        kept_by_override=0 if settings.overrides is None else settings.overrides.keep,
    )
    return told, summary
