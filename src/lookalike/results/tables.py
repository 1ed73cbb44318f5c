"""What a result has found, as tables: who is kept, who is removed and for which document, and the evidence for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..errors import ParameterError, all_from_caller
from ..files.workspace import Appearing
from ..formats.split import Split
from ..formats.writers import Selection
from ..settings.settings import Settings, added_columns, count_columns
from ..steps.totals import of_inputs
from ..values import Float64Array, Int64Array
from ..values.arrays import MOST_SEED, rows_of, whole
from ..values.arrow import no_rows, to_numpy
from ..values.tables import SOURCE_BITS
from ..wording import called, plural
from .groups import annotated, annotation_columns, clusters_of, groups_of, keeper_columns
from .inputs import INPUTS, Inputs, OpenInputs, SavedInputs
from .members import shared_by
from .rows import Rows, TableRows, Tabular, collect, drawn, least_alike, matching_rows, not_skipped, rows_at
from .summary import Summary

NearMisses = Callable[[float], Iterator[tuple[Int64Array, Int64Array, Float64Array]]]
"""From a lower threshold to (left, right, score) of the kept documents that score between; left and right are orders."""


class Open(Protocol):
    """What tables need of an open job, whose inputs can be read again; the results of one job share it."""

    n_references: int
    closed: bool

    @property
    def appearing(self) -> Appearing:
        """What lets an output appear as that of a job that can be resumed."""

    @property
    def sources(self) -> Sequence[Split]:
        """All that was read, references first; positions in decisions count them."""

    def texts_of(self, number: int) -> Callable[[], Iterator[bytes]] | None:
        """Return what yields the texts that were parsed of an input, as they were compared; None: they are parsed again."""


@all_from_caller
class Tables(Tabular):
    """The tables of a result; those that are not asked for are not made."""

    def __init__(
        self, *, decisions: Rows, matches: Rows, settings: Settings, summary: Summary, provenance: dict[str, Any],
        against: bool, job: Open | None = None, near_misses: NearMisses | None = None, inputs: SavedInputs | None = None,
    ) -> None:  # fmt: skip
        self._decisions = decisions
        self._matches = matches
        self._job: Open | None = job
        self._noted = inputs or SavedInputs(no_rows(INPUTS), Path())
        self.against = against
        self.near_misses = near_misses
        self.settings = settings
        self.summary: Summary = summary
        self.provenance = provenance

    @property
    def threshold(self) -> float:
        """Minimum score of a removal."""
        return self.settings.threshold

    @property
    def evidence(self) -> str:
        """Whether ``pairs`` has the verified pairs with kept documents ("keepers"), or all ("all")."""
        return self.settings.evidence

    @property
    def is_open(self) -> bool:
        """Whether the job is at hand: it was neither loaded nor unpickled, and can read its inputs again."""
        return self._job is not None

    @property
    def sources(self) -> Sequence[Split]:
        """The inputs of an open job, references first; nothing may be written in their place."""
        self._check_open()
        return () if self._job is None else self._job.sources

    @property
    def appearing(self) -> Appearing:
        """What lets an output appear as that of a job that can be resumed, while the result is open."""
        self._check_open()
        assert self._job is not None
        return self._job.appearing

    def __repr__(self) -> str:
        """Name the counts that matter."""
        s = self.summary
        return f"<Result: {plural(s.documents, 'document')}, {s.kept:,} kept, threshold {self.threshold:g}>"

    def __len__(self) -> int:
        """Return the number of documents judged."""
        return self.summary.documents

    def _check_open(self) -> None:
        if self._job is not None and self._job.closed:  # by this result, or by another that shares its documents
            raise ParameterError("this result is closed: ask for rows, pairs and ids, write and save, before close()")

    @property
    def inputs(self) -> Inputs:
        """The files that were read, and the way back to their texts."""
        job = self._job
        if job is None:
            return self._noted
        checksums = [identity.get("checksum") for identity in self.provenance["inputs"]]
        return OpenInputs(job.sources, job.n_references, checksums)

    def rows(self, names: Sequence[str] | None = None) -> Rows:
        """Return ``decisions`` in batches, which are made, or read, when they are asked for.

        Parameters
        ----------
        names : sequence of str, optional
            The columns that are wanted; default: all.

        Returns
        -------
        Rows
            With ``schema``, ``batches()``, ``select(names)`` and ``slice(begin, end)``.

        Raises
        ------
        ParameterError
            If the result is closed.
        """
        self._check_open()
        return self._decisions if names is None else self._decisions.select(names)

    def _own(self, names: Sequence[str], begin: int = 0, end: int | None = None) -> Rows:
        """Return some columns of the decisions about some input rows; default: all."""
        first = self.summary.reference
        return self.rows().slice(first + begin, first + (len(self) if end is None else end)).select(names)

    def texts(self, places: Sequence[int] | Int64Array, most: int | None = None) -> dict[int, bytes]:
        """Read the texts of some documents again, from the inputs.

        Parameters
        ----------
        places : sequence of int
            Rows of ``decisions``.
        most : int, optional
            How many bytes of each text are wanted; default: all.

        Returns
        -------
        dict of int to bytes
            By place.

        Raises
        ------
        InputDataError
            If an input is not there any more, has changed, or was no file.
        """
        wanted = np.unique(rows_of(places, self.summary.reference + len(self), "places"))
        positions = to_numpy(rows_at(self.rows(["position"]), wanted)["position"])
        texts = self.inputs.texts(positions, self.settings, most)
        return {place: texts[position] for place, position in zip(wanted.tolist(), positions.tolist(), strict=True)}

    def by_input(self) -> tuple[Int64Array, list[str]]:
        """Return documents, and those kept, of each input (references are not counted), and the names of the inputs."""
        names = list(map(called, self.provenance["inputs"]))
        fold = of_inputs(len(names), kept=True)
        total = fold.start()
        for batch in self._own(["position", "kept"]).batches():
            fold.add(total, batch)
        return total, names

    @property
    def score_names(self) -> dict[str, str]:
        """The columns that state a score: their names in decisions, and what they are called in tables for users."""
        name = self.summary.score if self.summary.verified_by == "exact" else f"estimated_{self.summary.score}"
        second = [name for name in ("standard_error", "distance") if name in self._decisions.schema.names]
        return {"resemblance": name, **dict(zip(second, second, strict=True))}

    def _name_scores(self, table: pa.Table) -> pa.Table:
        """Name the columns of scores as users know them."""
        return table.rename_columns([self.score_names.get(name, name) for name in table.column_names])

    @property
    def _removed_columns(self) -> list[str]:
        """The columns of ``removed``, as they are named in decisions."""
        return ["id", *keeper_columns(self.against), *self.score_names]

    @cached_property
    def decisions(self) -> pa.Table:
        """Arrow table of all decisions, one row per document, references first: see the reference of files."""
        return collect(self.rows())

    @cached_property
    def keep(self) -> NDArray[np.bool_]:
        """Mask of kept rows, bool of shape (n_rows,)."""
        return to_numpy(collect(self._own(["kept"]))["kept"])

    @cached_property
    def kept(self) -> pa.Table:
        """Arrow table ``id, n_exact, n_duplicates`` of the kept documents, in input order.

        The counts are of the documents that it stands for: its copies byte for byte, and all that are removed for it. With
        ``counts`` follows ``n_sources``.
        """
        names = ["id", *(count_columns(self.settings) or ("n_exact", "n_duplicates"))]
        return matching_rows(self._own([*names, "kept"]), lambda batch: batch.column("kept")).drop("kept")

    @cached_property
    def removed(self) -> pa.Table:
        """Arrow table ``id, duplicate_of, resemblance`` of the removed documents, in input order.

        With ``verify="sketch"`` the last column is replaced by ``estimated_resemblance, standard_error``. With reference
        documents ``duplicate_source`` (the kept document's file, null in memory) and ``duplicate_is_reference`` (bool) follow
        ``duplicate_of``. Documents dropped as empty, left out as too large or unreadable, or removed by an override have nulls;
        those removed by key have a null resemblance.
        """
        names = [*self._removed_columns, "kept"]
        return self._name_scores(matching_rows(self._own(names), lambda batch: pc.invert(batch.column("kept"))).drop("kept"))

    @cached_property
    def groups(self) -> pa.Table:
        """Arrow table ``id, n_exact, n_duplicates, duplicates``: each kept document that stands for others, and their ids.

        With reference documents ``is_reference`` follows ``id``. In input order, references first.
        """
        return groups_of(self.rows(), self.against)

    @cached_property
    def matrix(self) -> pa.Table:
        """Arrow table ``removed_from, kept_in, documents``: how many documents of one source are removed for those of another.

        Sources are those of the setting ``source``, by default the inputs, references included; most documents come first.
        """
        return shared_by(self.rows(), self.settings.source, list(map(called, self.provenance["inputs"])))

    @cached_property
    def pairs(self) -> pa.Table:
        """Arrow table ``left_id, right_id, resemblance`` of verified pairs; one of several equal texts stands for all.

        They are those of a kept document and one removed that it matches, or, if ``evidence`` is "all", all verified pairs.
        With reference documents ``left_is_reference`` (bool) follows ``right_id``, which is never the id of one.
        """
        self._check_open()
        names = ["left_id", "right_id", *(["left_is_reference"] if self.against else ()), *self.score_names]
        return self._name_scores(collect(self._matches.select(names)))

    @cached_property
    def clusters(self) -> Int64Array:
        """For each row, the row of the kept document that stands for it; its own if it is kept, or removed for none.

        Rows of reference documents are negative: -1 for the first of them.
        """
        return clusters_of(self.rows(), self.summary.reference)

    @cached_property
    def annotations(self) -> pa.Table:
        """Arrow table ``keep, duplicate_of, resemblance, cluster``, one row for each input row.

        With reference documents ``duplicate_source`` and ``duplicate_is_reference`` follow ``duplicate_of`` as in ``removed``,
        and ``cluster_is_reference`` (bool) follows ``cluster``. The cluster is the id of the kept document that stands for a
        row, its own if it is kept; null for a document dropped as empty or removed by an override.
        """
        return self._annotated(0, 0, self.summary.documents)

    def _table(self) -> pa.Table:
        """Return the id of each document, and what was decided about it."""
        return self.annotations.add_column(0, "id", collect(self._own(["id"]))["id"])

    def _annotated(self, first: int, begin: int, end: int, annotate: bool = True, counts: bool = False) -> pa.Table:
        """Return some rows of ``annotations``, counted from ``first``, and of the columns of counts."""
        names = annotation_columns(self.score_names, self.against) if annotate else []
        names += count_columns(self.settings) if counts else ()
        return annotated(collect(self._own(names, first + begin, first + end)), self.score_names, self.against)

    def _attributes(self, first: int, begin: int, end: int) -> pa.Table:
        """Return the ids of some rows, counted from ``first``, and what was decided about them."""
        ids = collect(self._own(["id"], first + begin, first + end))["id"]
        told = self._annotated(first, begin, end, counts=True)
        removed = pc.invert(told["keep"])
        return told.drop_columns(["keep"]).add_column(0, "id", ids).add_column(1, "near_duplicate", removed)

    def _selections(self, annotate: bool, attributes: bool = False, removed: bool = False) -> list[Selection]:
        """Return the rows of each input that are to be written: those kept, or all or those removed, with annotations."""
        self._check_open()
        job = self._job
        if job is None:
            raise ParameterError(
                "this result was loaded or unpickled, and does not have the inputs: write before you save, or run dedup again "
                "(decisions has source and row of every document)"
            )
        rows_of = np.zeros(len(job.sources), np.int64)
        for batch in self._own(["position"]).batches():
            rows_of += np.bincount(to_numpy(batch.column(0)) >> SOURCE_BITS, minlength=len(rows_of))
        selections, end = [], 0
        for number, n_rows in enumerate(rows_of[job.n_references :].tolist(), job.n_references):
            source = replace(job.sources[number], texts=job.texts_of(number))
            begin, end = end, end + n_rows
            kept = self.keep[begin:end]
            mask = not_skipped(self._own(["reason"], begin, end)) & ~(kept & removed) if annotate else kept
            if annotate and not attributes and not self.settings.annotate:  # else reading has checked it, before any work
                source.check_free(added_columns(self.settings, self.against, annotated=True))
            added = partial(self._attributes, begin) if attributes else None
            if not attributes and (annotate or self.settings.counts):
                added = partial(self._annotated, begin, annotate=annotate, counts=True)
            left = ~not_skipped(self._own(["reason"], begin, end)) if source.form.keep_unread else None
            selections.append(Selection(source, mask, added, self.settings.encoding_errors, left=left))
        return selections

    def rethreshold(self, threshold: float) -> Tables:
        """Decide again at a higher threshold."""
        raise NotImplementedError

    def sample(self, n: int, *, seed: int = 1) -> pa.Table:
        """Draw removed documents at random.

        Parameters
        ----------
        n : int >= 1
            All, if there are fewer.
        seed : int in [0, 2^64), default 1

        Returns
        -------
        pyarrow.Table
            As ``removed``, in input order.
        """
        draw = drawn(self.rows(), whole("n", n, 1, None), whole("seed", seed, 0, MOST_SEED), "sample", ("exact", "near"))
        return self._name_scores(rows_at(self.rows(self._removed_columns), draw.rows))

    def least_alike(self, n: int) -> pa.Table:
        """Return the removed near-duplicates that resemble their kept documents least.

        Parameters
        ----------
        n : int >= 1
            All, if there are fewer.

        Returns
        -------
        pyarrow.Table
            As ``removed``, the least alike first.
        """
        least = least_alike(self.rows(), whole("n", n, 1, None))
        return self._name_scores(rows_at(self.rows(self._removed_columns), least.rows))

    def __getstate__(self) -> dict[str, Any]:
        """Return all but the job, tables whole."""
        self._check_open()
        held: dict[str, Any] = {"_job": None, "near_misses": None, "_noted": self.inputs.noted}
        held |= {"_decisions": TableRows(collect(self._decisions)), "_matches": TableRows(collect(self._matches))}
        return held | {name: getattr(self, name) for name in ("against", "settings", "summary", "provenance")}

    def _repr_html_(self) -> str:
        """Return the counts as a small table, for notebooks."""
        return self.summary._repr_html_()
