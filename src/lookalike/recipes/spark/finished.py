"""What a job on Spark has made, and can still do: decisions and pairs as stored tables, and what tasks write of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa

from ...engines.engine import Table
from ...engines.spark.tables import SparkTable, StoredTable, of_frame
from ...errors import ParameterError
from ...files.folder import folder_of
from ...files.names import show_path
from ...files.workspace import Appearing
from ...formats.split import Split
from ...formats.writers import check_before, check_editing, describe
from ...results.groups import annotation_columns
from ...results.result import Result
from ...results.rows import ParquetRows, TableRows, pairs_schema, second_columns, spill_to_parquet
from ...results.summary import Summary
from ...settings.settings import Settings, added_columns, count_columns
from ...steps.pairs import MEMBERS
from ...steps.sketch import choose_kept
from ...values.tables import SOURCE_BITS
from ..decide import in_order
from ..saved_sketches import Saving
from ..search import Candidates
from .files import MOST_TASKS, TOLD, WRITTEN, Writing, check_where, take_files, write_inputs, write_sketches


@dataclass(frozen=True, slots=True, repr=False)
class SparkSummary(Summary):
    """The summary of a job on Spark: the peak memory is that of the driver."""

    peak_of: ClassVar[str] = "peak memory of the driver"


@dataclass(slots=True, kw_only=True, eq=False)
class SparkJob:
    """What a job on Spark has made, and can still do: see ``results.result.Job``."""

    engine: Any
    decisions: Any  # stored, as pairs are
    pairs: Any
    settings: Settings
    summary: Summary
    provenance: dict[str, Any]
    splits: list[Split]  # references first
    n_references: int
    id_type: str | None  # Spark's, in a data frame; None: as they are
    finish: Callable[[], None]  # removes the work folder
    appearing: Appearing
    found: Candidates
    key: bytes  # the secret of the job
    shares: Table | None  # what it counted: see ``DecisionTables.shares``
    closed: bool = False

    @property
    def sources(self) -> Sequence[Split]:
        """All that was read, references first."""
        return self.splits

    def texts_of(self, number: int) -> None:
        """Keep none of an input: they are parsed again."""

    @property
    def threshold(self) -> float:
        """The lowest that ``again`` would take."""
        return self.settings.threshold

    def again(self, threshold: float) -> Result:
        """Refuse it: candidates are not compared again."""
        raise ParameterError(
            "rethreshold on Spark needs all verified pairs: run dedup with --evidence all (evidence='all'), or again at the "
            "threshold"
        )

    def audit(self, result: Result, n: int, seed: int) -> dict[str, Any]:
        """Compare some kept documents with all others, on the driver."""
        if self.id_type is not None:
            raise ParameterError(
                "an audit reads the inputs again on one machine, and this result is that of a data frame: write the frame to "
                "files, and deduplicate these"
            )
        from ..audit import Audit  # here, for what is not needed to start

        return Audit(result.rows(), self.splits, self.settings).run(n, seed)

    def save_sketches(self, result: Result, folder: str | Path, force: bool, texts: bool) -> None:
        """Let the tasks save the sketches of the kept documents, and take the files that count."""
        engine = self.engine
        if texts and self.settings.html:
            raise ParameterError(
                "the texts of web pages are saved on one machine: write the pages to files, and save sketches alone"
            )
        saving = Saving(
            settings=self.settings, splits=self.splits, n_references=self.n_references, found=self.found, key=self.key,
            provenance=self.provenance, shares=self.shares, with_texts=texts,
        )  # fmt: skip
        place = saving.check(folder, force)
        rows = saving.rows(engine, engine.map(self.decisions.select(["order", "reason"]), choose_kept, MEMBERS))
        saving.write(place, force, engine, rows, partial(write_sketches, saving, rows))

    def write(self, output: str | Path, scores: Mapping[str, str], *, annotate: bool, removed: bool, force: bool) -> None:
        """Let the tasks write the rows of the inputs: see ``SparkResult.write``."""
        folder, annotate = check_where(output, force), annotate or removed
        references, inputs = self.splits[: self.n_references], self.splits[self.n_references :]
        check_before(output, inputs, references)
        if annotate or self.settings.counts:
            check_editing(output, inputs, adding=True)
        names = [name for split in inputs for name in split.form.names_in_folder(split)]
        with folder.publish(names, replace=force) as new:
            with new.tasks() as attempts:
                added = annotate and not self.settings.annotate
                counts = count_columns(self.settings)
                columns = [*(annotation_columns(scores, self.n_references > 0) if annotate else ()), *counts]
                free = added_columns(self.settings, self.n_references > 0, annotated=True) if added else ()
                writing = Writing(
                    splits=tuple(self.splits), provenance=self.provenance, encoding_errors=self.settings.encoding_errors,
                    output=show_path(folder.path), attempts=attempts, scores=scores if columns else None,
                    against=self.n_references > 0, free=free,
                )  # fmt: skip
                rows = self._decision_columns(annotate, removed, columns).mapped(
                    partial(write_inputs, writing=writing), WRITTEN
                )
                told = self.engine.write(rows, "written", again=True)
                take_files(StoredTable(self.engine, told, WRITTEN).batches(), new, len(inputs))
                folder_of(told.folder).remove()
            describe(new, self.provenance)

    def _decision_columns(self, annotate: bool, removed: bool, added: Sequence[str]) -> SparkTable:
        """Return what tasks need of the decisions: all about an input together, a row without position first."""
        from pyspark.sql import functions

        column, first = functions.col, self.n_references
        wanted = (column("reason") != "skipped") & ~(column("kept") & functions.lit(removed)) if annotate else column("kept")
        source = functions.shiftright("position", SOURCE_BITS)
        session = self.engine.own_session
        own = self.decisions.frame_in(session).filter(column("position") >= first << SOURCE_BITS)
        rows = own.select(source.alias("source"), "position", wanted.alias("wanted"), *added)
        heads = session.range(first, len(self.splits)).withColumnRenamed("id", "source")  # inputs without rows, too
        together = rows.unionByName(heads, allowMissingColumns=True)
        n = min(len(self.splits) - first, MOST_TASKS)
        schema = pa.schema([*TOLD, *(self.decisions.schema.field(name) for name in added)])
        return of_frame(self.engine, together.repartition(n, "source").sortWithinPartitions("source", "position"), schema)

    def close(self) -> None:
        """Remove the work folder."""
        self.closed = True
        self.finish()

    def rows(self) -> ParquetRows:
        """Bring the decisions to the driver, in the order of the input: they come in runs, each of which is sorted."""
        return spill_to_parquet(self.decisions.batches(), self.decisions.schema, "position")

    def rows_of_pairs(self) -> TableRows:
        """Bring the pairs to the driver, in the order of the input."""
        return TableRows(in_order(self.pairs).select(self.pairs_schema.names))

    @property
    def pairs_schema(self) -> pa.Schema:
        """The columns of pairs that are saved."""
        return pairs_schema(self.decisions.schema.field("id").type, second_columns(self.settings.finder))
