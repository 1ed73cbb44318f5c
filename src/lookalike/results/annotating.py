"""The rows of the inputs as a result gives them back, and what is added to them: all that was decided about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..engines.memory import peak_memory
from ..errors import ParameterError
from ..formats.writers import Selection, table_of, write_rows
from ..settings.settings import Settings, added_columns
from ..values.arrow import to_arrow, to_numpy
from ..values.tables import SOURCE_BITS
from .job import Job
from .rows import Rows, collect, there_of
from .summary import Summary


def naming(against: bool) -> list[str]:
    """Return the columns of decisions that name the kept document of a row."""
    return ["duplicate_of", *(("duplicate_source", "duplicate_is_reference") if against else ())]


def annotating(scores: Mapping[str, str], against: bool) -> list[str]:
    """Return the columns of decisions that annotations are made of."""
    return ["kept", *naming(against), *scores, "cluster"]


def annotated(decisions: pa.Table, scores: Mapping[str, str], against: bool) -> pa.Table:
    """Return the columns that annotation adds to some rows."""
    told = decisions.rename_columns([{"kept": "keep", **scores}.get(name, name) for name in decisions.column_names])
    if not against:
        return told
    own = to_arrow(np.zeros(len(told), np.bool_), to_numpy(told["cluster"].is_null()))
    return told.append_column("cluster_is_reference", pc.coalesce(told["duplicate_is_reference"], own))


class Written:
    """The methods of a result that give rows of the inputs, and what was decided about them."""

    _against: bool
    _job: Job | None
    settings: Settings
    summary: Summary
    provenance: dict[str, Any]

    @property
    def keep(self) -> NDArray[np.bool_]:
        raise NotImplementedError

    def _check_open(self) -> None:
        raise NotImplementedError

    def _rows(self, names: Sequence[str], begin: int = 0, end: int | None = None) -> Rows:
        raise NotImplementedError

    @property
    def _score_columns(self) -> dict[str, str]:
        raise NotImplementedError

    def _annotated(self, first: int, begin: int, end: int) -> pa.Table:
        """Return some rows of ``annotations``, counted from ``first``."""
        names = annotating(self._score_columns, self._against)
        return annotated(collect(self._rows(names, first + begin, first + end)), self._score_columns, self._against)

    @cached_property
    def annotations(self) -> pa.Table:
        """Arrow table ``keep, duplicate_of, resemblance, cluster``, one row for each input row.

        With reference documents ``duplicate_source`` and ``duplicate_is_reference`` follow ``duplicate_of`` as in ``removed``,
        and ``cluster_is_reference`` (bool) follows ``cluster``. The cluster is the id of the kept document that stands for a
        row, its own if it is kept; null for a document dropped as empty or removed by an override.
        """
        return self._annotated(0, 0, self.summary.documents)

    def _selections(self, annotate: bool) -> list[Selection]:
        """Return the rows of each input that are to be written: those kept, or all, with what annotation adds."""
        self._check_open()
        job = self._job
        if job is None:
            raise ParameterError(
                "this result was loaded or unpickled, and does not have the inputs: write before you save, or run dedup again "
                "(decisions has source and row of every document)"
            )
        rows_of = np.zeros(len(job.sources), np.int64)
        for batch in self._rows(["position"]).batches():
            rows_of += np.bincount(to_numpy(batch.column(0)) >> SOURCE_BITS, minlength=len(rows_of))
        selections, end = [], 0
        for source, n_rows in zip(job.sources[job.n_references :], rows_of[job.n_references :].tolist(), strict=True):
            begin, end = end, end + n_rows
            mask = there_of(self._rows(["reason"], begin, end)) if annotate else self.keep[begin:end]
            if annotate and not self.settings.annotate:  # else reading has checked it, before any work
                source.check_free(added_columns(self.settings, self._against))
            added = partial(self._annotated, begin) if annotate else None
            selections.append(Selection(source, mask, added, self.settings.encoding_errors))
        return selections

    def write(self, output: str | Path, *, annotate: bool = False, force: bool = False) -> None:
        """Write the kept rows, or with ``annotate`` all rows with what was decided about them.

        Documents left out as too large are not written.

        Parameters
        ----------
        output : str or path
            A name ending in .parquet, .jsonl, .json, .csv or .tsv (compressed or not) is one file for all inputs. One ending in
            "/" or without a suffix is a folder that receives one file per input, of the same relative name and format. "-" is
            standard output, which gets JSON lines.
        annotate : bool
            Write every row, with the columns of ``annotations`` added.
        force : bool
            Replace an existing output.

        Raises
        ------
        OutputError
            If the output exists, or cannot be written; nothing half written is left.
        InputDataError, ParameterError
            If an input changed in the meantime; if the result is closed, or was loaded or unpickled.
        """
        selections = self._selections(annotate)
        assert self._job is not None
        write_rows(output, selections, self.provenance, sources=self._job.sources, force=force)
        self.summary = replace(self.summary, peak_memory=peak_memory())

    def clean(self, *, annotate: bool = False) -> pa.Table:
        """Return the kept rows, or with ``annotate`` all rows with what was decided about them, as an Arrow table.

        It has all columns of the inputs, in their order. For data sets of Hugging Face it is
        ``dataset.select(numpy.flatnonzero(result.keep))`` that gives another data set.

        Parameters
        ----------
        annotate : bool
            Return every row, with the columns of ``annotations`` added. Documents left out as too large are missing.

        Returns
        -------
        pyarrow.Table

        Raises
        ------
        InputDataError, ParameterError
            As ``write`` does; also if a column holds values that fit no type of Arrow's.

        Notes
        -----
        Memory: the whole table, whatever the cap of the job; ``write`` needs no more than the cap.

        Examples
        --------
        >>> import lookalike as la
        >>> la.dedup({"a": "one text", "b": "one text", "c": "another"}).clean().to_pylist()
        [{'id': 'a', 'text': 'one text'}, {'id': 'c', 'text': 'another'}]
        """
        return table_of(self._selections(annotate))
