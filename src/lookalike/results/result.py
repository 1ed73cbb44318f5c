"""The result of a deduplication: who is kept, who is removed and for which document, and the evidence for it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..engines.memory import peak_memory
from ..errors import ParameterError
from ..inputs.sketches import Trusted
from ..settings.settings import Settings
from ..steps.totals import BySource
from ..values import Int64Array
from ..values.arrays import number
from ..values.arrow import no_rows, to_numpy
from ..wording import called, counted
from .annotating import Written
from .groups import clusters_of, groups_of
from .job import Job
from .nearly import Nearly
from .rethreshold import walk_again
from .rows import HeldRows, Rows, collect, filtered
from .saved_inputs import INPUTS, SavedInputs, inputs_of
from .saved_result import load_result, save_result
from .showing import Shown
from .sketched import Sketched
from .summary import Summary, count

NOT_PICKLED: dict[str, Any] = {"_job": None, "_nearly": None}


class Result(Shown, Sketched, Written):
    """The result of ``lookalike.dedup``. Rows are the rows of the input, without reference documents.

    A result pickles, and is saved to a folder and loaded. One that was loaded or unpickled has all tables, but cannot write
    documents.

    Attributes
    ----------
    settings : Settings
    summary : Summary
        Counts, times and sizes.
    provenance : dict
        Version, parameters, seed and inputs, as written with every output.
    """

    def __init__(
        self, *, decisions: Rows, matches: Rows, settings: Settings, summary: Summary, provenance: dict[str, Any],
        against: bool, job: Job | None = None, nearly: Nearly | None = None, inputs: SavedInputs | None = None,
    ) -> None:  # fmt: skip
        self._decisions = decisions
        self._matches = matches
        self._against = against
        self._job = job
        self._nearly = nearly
        self._noted = inputs or SavedInputs(no_rows(INPUTS), Path())
        self.settings = settings
        self.summary = summary
        self.provenance = provenance

    @property
    def threshold(self) -> float:
        """Minimum score of a removal."""
        return self.settings.threshold

    @property
    def evidence(self) -> str:
        """Whether ``pairs`` has the verified pairs with kept documents ("keepers"), or all ("all")."""
        return self.settings.evidence

    def __repr__(self) -> str:
        """Name the counts that matter."""
        s = self.summary
        return f"<Result: {counted(s.documents, 'document')}, {s.kept:,} kept, threshold {self.threshold:g}>"

    def __len__(self) -> int:
        """Return the number of documents judged."""
        return self.summary.documents

    def close(self) -> None:
        """Remove the files of the work folder, if there are any; after that, rows, pairs and ids are not available."""
        if self._job is not None and not self._job.closed:
            _ = self.keep
            self._job.closed = True
            self._job.finish()

    @property
    def _inputs(self) -> SavedInputs:
        """The files that were read."""
        job = self._job
        if job is None:
            return self._noted
        checksums = [identity.get("checksum") for identity in self.provenance["inputs"]]
        return SavedInputs(inputs_of(job.sources, job.n_references), Path(), checksums=checksums)

    @property
    def _first(self) -> int:
        return self.summary.reference

    def _rows(self, names: Sequence[str], begin: int = 0, end: int | None = None) -> Rows:
        """Return some columns of the decisions about some input rows; default: all."""
        self._check_open()
        end = len(self) if end is None else end
        return self._decisions.slice(self._first + begin, self._first + end).select(names)

    def _by_source(self) -> tuple[Int64Array, list[str]]:
        """Return documents, and those kept, of each input (references are not counted), and the names of the inputs."""
        names = list(map(called, self.provenance["inputs"]))
        fold = BySource(n=len(names))
        total = fold.start()
        for batch in self._rows(["position", "kept"]).batches():
            fold.add(total, batch)
        return total, names

    @cached_property
    def decisions(self) -> pa.Table:
        """Arrow table of all decisions, one row per document, references first: see the reference of files."""
        self._check_open()
        return collect(self._decisions)

    @cached_property
    def keep(self) -> NDArray[np.bool_]:
        """Mask of kept rows, bool of shape (n_rows,)."""
        kept = [to_numpy(batch.column(0)) for batch in self._rows(["kept"]).batches()]
        return np.concatenate([np.empty(0, np.bool_), *kept])

    @cached_property
    def kept(self) -> pa.Table:
        """Arrow table ``id, n_exact, n_duplicates`` of the kept documents, in input order.

        The counts are of the documents that it stands for: its copies byte for byte, and all that are removed for it.
        """
        return filtered(self._rows(["id", "n_exact", "n_duplicates", "kept"]), lambda batch: batch.column("kept")).drop("kept")

    @cached_property
    def removed(self) -> pa.Table:
        """Arrow table ``id, duplicate_of, resemblance`` of the removed documents, in input order.

        With ``verify="sketch"`` the last column is replaced by ``estimated_resemblance, standard_error``. With reference
        documents ``duplicate_source`` (the kept document's file, null in memory) and ``duplicate_is_reference`` (bool) follow
        ``duplicate_of``. Documents dropped as empty, left out as too large, or removed by an override have nulls.
        """
        names = [*self._removed_columns, "kept"]
        return self._told(filtered(self._rows(names), lambda batch: pc.invert(batch.column("kept"))).drop("kept"))

    @cached_property
    def groups(self) -> pa.Table:
        """Arrow table ``id, n_exact, n_duplicates, duplicates``: each kept document that stands for others, and their ids.

        With reference documents ``is_reference`` follows ``id``. In input order, references first.
        """
        self._check_open()
        return groups_of(self._decisions, self._against)

    @cached_property
    def pairs(self) -> pa.Table:
        """Arrow table ``left_id, right_id, resemblance`` of verified pairs; one of several equal texts stands for all.

        They are those of a kept document and one removed that it matches, or, if ``evidence`` is "all", all verified pairs.
        With reference documents ``left_is_reference`` (bool) follows ``right_id``, which is never the id of one.
        """
        self._check_open()
        names = ["left_id", "right_id", *(["left_is_reference"] if self._against else ()), *self._score_columns]
        return self._told(collect(self._matches.select(names)))

    @cached_property
    def clusters(self) -> Int64Array:
        """For each row, the row of the kept document that stands for it; its own if it is kept, or removed for none.

        Rows of reference documents are negative: -1 for the first of them.
        """
        self._check_open()
        return clusters_of(self._decisions, self._first)

    def rethreshold(self, threshold: float) -> Result:
        """Decide again at a higher threshold, without reading the inputs again.

        With ``evidence="all"`` the known pairs are walked again. Otherwise the job must be open: two documents that were both
        removed can now be one kept and one removed, and the result does not have their pair.

        Parameters
        ----------
        threshold : float
            Not below the threshold of this evidence, at most 1.

        Returns
        -------
        Result
            As ``dedup`` would return it, except for the bands, which were chosen for the lower threshold and find more.

        Raises
        ------
        ParameterError
            If the threshold is lower: pairs below the old one were never kept; or if this needs an open job.
        """
        threshold = number("threshold", threshold)
        lowest = self.threshold if self._job is None or self.evidence == "all" else self._job.threshold
        if not lowest <= threshold <= 1.0:
            raise ParameterError(f"rethreshold can go from {lowest} to 1; got {threshold}: for a lower one run dedup again")
        self._check_open()
        if self.evidence == "all":
            return self._walked(threshold)
        if self._job is None:
            raise ParameterError(
                "rethreshold needs all verified pairs, and this result has those with kept documents only: run dedup with "
                'evidence="all" and save that, or ask before the job is closed'
            )
        return self._job.again(self._job, threshold)

    def _walked(self, threshold: float) -> Result:
        """Walk all verified pairs again at a higher threshold."""
        began = perf_counter()
        settings = self.settings.at(threshold)
        method = settings.finder
        found = walk_again(collect(self._decisions), collect(self._matches), threshold, method.n_estimates)
        decisions, matches = map(HeldRows, found)
        summary = self.summary.at(
            threshold, method, verified_pairs=len(matches.table), peak_memory=peak_memory(),
            seconds={"keeping": perf_counter() - began}, **count(decisions, self._first),
        )  # fmt: skip
        provenance = self.provenance | {"parameters": settings.to_dict()}
        return Result(
            decisions=decisions, matches=matches, settings=settings, summary=summary, provenance=provenance,
            against=self._against, job=self._job, inputs=self._noted,
        )  # fmt: skip

    def save(self, folder: str | Path, *, force: bool = False) -> None:
        """Save all but the documents to a new folder: decisions, pairs and the files that were read (Parquet), ``result.json``.

        Parameters
        ----------
        folder : str or path
        force : bool
            Replace an existing folder, if an earlier run wrote all that is in it.

        Raises
        ------
        OutputError
            If the folder exists, holds files of others or an input, or cannot be written; nothing half written is left.
        ParameterError
            If the result is closed.
        """
        self._check_open()
        facts = {"evidence": self.evidence, "against": self._against, "summary": self.summary.to_dict()}
        sources = () if self._job is None else self._job.sources
        inputs = self._inputs
        tables = {"decisions": self._decisions, "pairs": self._matches, "inputs": HeldRows(inputs.table)}
        facts["provenance"] = self.provenance
        save_result(folder, tables, facts, self.settings, sources=sources, own=inputs.trusted is None, force=force)

    @classmethod
    def load(cls, folder: str | Path, *, trust: Trusted = ()) -> Result:
        """Load a saved result.

        Parameters
        ----------
        folder : str or path
        trust : path or sequence of paths
            Files, folders or URLs: the only ones that texts are read from if you did not save the result on this machine.

        Returns
        -------
        Result
            It cannot write documents. If a custom tokenizer was used, ``settings`` lacks it; ``provenance`` has its name.

        Raises
        ------
        InputDataError
            If there is no saved result, it is damaged or changed, or a newer version saved it.
        """
        return cls(**load_result(folder, trust=trust))

    def __getstate__(self) -> dict[str, Any]:
        """Return all but the job, tables whole."""
        self._check_open()
        held = NOT_PICKLED | {"_noted": self._inputs}
        held |= {"_decisions": HeldRows(collect(self._decisions)), "_matches": HeldRows(collect(self._matches))}
        names = ("_against", "settings", "summary", "provenance")
        return held | {name: getattr(self, name) for name in names}


DedupResult = Result
