"""The result of a deduplication on Spark: tables as data frames."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from ...errors import ParameterError, all_from_caller
from ...results.groups import keeper_columns
from ...results.inputs import Inputs
from ...results.result import Result, timed
from ...results.rows import DeferredRows
from ...settings.settings import count_columns
from ...steps.totals import of_inputs
from ...values import Int64Array
from .finished import SparkJob


@all_from_caller
class SparkResult(Result):
    """The result of ``lookalike.dedup`` on Spark.

    Its tables are data frames over files in the work folder, so that they are read as often as they are asked for, until
    ``close``. ``id`` and ``duplicate_of`` have the type that the ids have in the input. All else is as on one machine: for what
    is no data frame (``report``, ``save``, ``sample``, ``audit``, ``keep``, ...) the decisions come to the driver once, as a
    temporary file.

    Attributes
    ----------
    settings : Settings
    summary : Summary
        Counts, times and sizes; ``peak_memory`` is that of the driver.
    provenance : dict
        Version, parameters, seed and inputs.
    """

    def __init__(self, finished: SparkJob) -> None:
        super().__init__(
            decisions=DeferredRows(finished.decisions.schema, finished.rows), settings=finished.settings,
            matches=DeferredRows(finished.pairs_schema, finished.rows_of_pairs), summary=finished.summary,
            provenance=finished.provenance, against=finished.n_references > 0, job=finished,
        )  # fmt: skip
        self._finished = finished

    def __repr__(self) -> str:
        """Name the counts that matter."""
        return super().__repr__().replace("<Result", "<SparkResult", 1)

    def __enter__(self) -> SparkResult:
        """Return the result itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close it."""
        self.close()

    def __reduce__(self) -> Any:
        """Pickle as a result of tables, which come to the driver for that."""
        return Result.__new__, (Result,), self.__getstate__()

    def close(self) -> None:
        """Remove the files of the work folder; the data frames cannot be read after that."""
        if not self._finished.closed:
            self._finished.close()

    def _check_open(self) -> None:
        if self._finished.closed:
            raise ParameterError("this result is closed: write, or cache, its data frames before close()")

    @property
    def is_open(self) -> bool:
        """Whether candidates can be compared again: never on Spark."""
        return False

    @property
    def inputs(self) -> Inputs:
        """The files that were read, and the way back to their texts; of data frames there is none."""
        found = super().inputs
        return found if self._finished.id_type is None else found.noted

    def _walked(self, threshold: float) -> Result:
        """Walk all verified pairs again; what is found is a result of tables alone."""
        walked = super()._walked(threshold)
        walked._job, walked._noted = None, self.inputs.noted
        return walked

    def by_input(self) -> tuple[Int64Array, list[str]]:
        """Return documents, and those kept, of each input (references are not counted), and the names of the inputs."""
        self._check_open()
        names = [identity["name"] for identity in self.provenance["inputs"]]
        found = self._finished.engine.aggregate(
            self._finished.decisions.select(["position", "kept"]), of_inputs(len(names), kept=True)
        )
        found[:, : self._finished.n_references] = 0
        return found, names

    @cached_property
    def decisions(self) -> Any:
        """Data frame of all decisions, a row for each document, references too: see the reference of files."""
        self._check_open()
        return self._with_ids(
            self._finished.decisions.frame_in(self._finished.engine.session), ("id", "duplicate_of", "cluster")
        )

    def _with_ids(self, frame: Any, names: Sequence[str]) -> Any:
        """Give ids the type that they have in the input."""
        kind = self._finished.id_type
        return frame if kind is None else frame.withColumns({name: frame[name].cast(kind) for name in names})

    def _named_columns(self, frame: Any, names: Sequence[str]) -> Any:
        return frame.select(*names).withColumnsRenamed(self.score_names)

    @property
    def _judged(self) -> Any:
        return self.decisions.filter(self.decisions["reason"] != "reference")

    @property
    def kept(self) -> Any:
        """Data frame ``id, n_exact, n_duplicates`` of the kept documents; with ``counts``, all of its columns."""
        return self._judged.filter("kept").select("id", *(count_columns(self.settings) or ("n_exact", "n_duplicates")))

    @property
    def removed(self) -> Any:
        """Data frame ``id, duplicate_of, resemblance`` of the removed documents.

        With ``verify="sketch"`` the last column is replaced by ``estimated_resemblance, standard_error``. With reference
        documents ``duplicate_source`` and ``duplicate_is_reference`` follow ``duplicate_of``. Documents dropped as empty,
        left out as too large, or removed by an override have nulls. One that is removed by its key has a null resemblance.
        """
        return self._named_columns(self._judged.filter("not kept"), ["id", *keeper_columns(self.against), *self.score_names])

    @property
    def groups(self) -> Any:
        """Data frame ``id, n_exact, n_duplicates, duplicates``: each kept document that stands for others, and their ids.

        With reference documents ``is_reference`` follows ``id``.
        """
        from pyspark.sql import functions

        decisions = self.decisions
        removed = decisions.filter("reason in ('exact', 'near', 'key')").groupBy("keeper")
        lists = removed.agg(functions.array_sort(functions.collect_list(functions.struct("position", "id"))).alias("found"))
        joined = decisions.filter("n_duplicates > 0").join(lists.withColumnRenamed("keeper", "__keeper"),
                                                           functions.col("order") == functions.col("__keeper"))  # fmt: skip
        reference = [(functions.col("reason") == "reference").alias("is_reference")] if self.against else []
        return joined.select("id", *reference, "n_exact", "n_duplicates", functions.col("found.id").alias("duplicates"))

    @property
    def pairs(self) -> Any:
        """Data frame ``left_id, right_id, resemblance`` of verified pairs; one of several equal texts stands for all.

        They are those of a kept document and one removed that it matches, or, if ``evidence`` is "all", all verified pairs.
        With reference documents ``left_is_reference`` (bool) follows ``right_id``.
        """
        self._check_open()
        frame = self._with_ids(self._finished.pairs.frame_in(self._finished.engine.session), ("left_id", "right_id"))
        return self._named_columns(
            frame, ["left_id", "right_id", *(["left_is_reference"] if self.against else []), *self.score_names]
        )

    def clean(self, frame: Any) -> Any:  # type: ignore[override]
        """Return the rows of a data frame whose documents are kept: those with the ids that ``kept`` has.

        Parameters
        ----------
        frame : pyspark.sql.DataFrame
            That was deduplicated, with all its columns.

        Raises
        ------
        ParameterError
            If the result is one of files: these ``write`` writes.
        """
        if self.settings.id is None:
            raise ParameterError("clean is for data frames that were deduplicated by their ids; write() writes files")
        return frame.join(self.kept.withColumnRenamed("id", self.settings.id), self.settings.id, "left_semi")

    def write(
        self, output: str | Path, *, annotate: bool = False, removed: bool = False, attributes: bool = False,
        force: bool = False,
    ) -> None:  # fmt: skip
        """Write the kept rows of files as ``lookalike.Result.write`` does on one machine, byte for byte: the tasks write.

        The files appear together, when all are complete, whichever workers fail meanwhile. ``output`` is a folder, on an object
        store or on storage that the driver and all workers have mounted, with a file for each input. ``attributes`` are not
        written here, nor the result of a data frame.
        """
        self._check_open()
        if self._finished.id_type is not None:
            raise ParameterError(
                "write() writes files, and this result is that of a data frame: clean(frame) returns its kept rows, which are "
                "written as any data frame is: result.clean(frame).write.parquet(...)"
            )
        if attributes:
            raise ParameterError("attributes are written on one machine; here annotate=True writes them with the rows")
        with timed(self, "writing"):
            self._finished.write(output, self.score_names, annotate=annotate, removed=removed, force=force)
