"""The result of a deduplication: its tables, and what can be done with them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, TypeVar, overload

import pyarrow as pa

from ..choices import ReportTexts
from ..engines.memory import peak_memory
from ..errors import ParameterError, all_from_caller
from ..formats.frames import filter_data
from ..formats.writers import table_of, write_attributes, write_rows
from ..inputs.sketches import Trusted
from ..values.arrays import MOST_SEED, number, whole
from .groups import rethreshold
from .rows import TableRows, collect
from .saved import load_result, save_result
from .summary import Summary, count
from .tables import Open, Tables

T = TypeVar("T")


class Job(Open, Protocol):
    """What only an open job can do."""

    @property
    def threshold(self) -> float:
        """The lowest that ``again`` takes."""

    def again(self, threshold: float) -> Result:
        """Decide at a higher threshold."""

    def audit(self, result: Result, n: int, seed: int) -> dict[str, Any]:
        """Compare some kept documents with all others."""

    def save_sketches(self, result: Result, folder: str | Path, force: bool, texts: bool) -> None:
        """Save the sketches of the kept documents."""

    def close(self) -> None:
        """Remove what the job keeps on the disk."""


@contextmanager
def timed(result: Tables, stage: str) -> Iterator[None]:
    """Add the seconds of a stage to the summary of an open result, and the memory that it took."""
    began = time.perf_counter()
    yield
    if result._job is None or result._job.closed:
        return
    seconds = result.summary.seconds
    added = {stage: seconds.get(stage, 0.0) + time.perf_counter() - began}
    result.summary = replace(result.summary, peak_memory=peak_memory(), seconds=seconds | added)


@all_from_caller
class Result(Tables):
    """The result of ``lookalike.dedup``. Rows are the rows of the input, without reference documents.

    Its tables are Arrow's, which have ``to_pandas()``, and which polars and DuckDB take as they are. It is such a table itself,
    of ids and ``annotations``. A result pickles, and is saved to a folder and loaded. One that was loaded or unpickled has all
    tables, but cannot write documents.

    Attributes
    ----------
    settings : Settings
    summary : Summary
        Counts, times and sizes.
    provenance : dict
        Version, parameters, seed and inputs, as written with every output.
    against : bool
        Whether there were reference documents.
    """

    _job: Job | None
    summary: Summary

    def close(self) -> None:
        """Remove the files of the work folder, if there are any; after that, rows, pairs and ids are not available."""
        if self._job is not None and not self._job.closed:
            _ = self.keep
            self._job.close()

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
            raise ParameterError(f"must be from {lowest} to 1; for a lower one, run dedup again", "threshold", threshold)
        self._check_open()
        if self.evidence == "all":
            return self._walked(threshold)
        if self._job is None:
            raise ParameterError(
                "rethreshold needs all verified pairs, and this result has those with kept documents only: run dedup with "
                "--evidence all (evidence='all') and save that, or ask before the job is closed"
            )
        return self._job.again(threshold)

    def _walked(self, threshold: float) -> Result:
        """Walk all verified pairs again at a higher threshold."""
        began = time.perf_counter()
        settings = self.settings.at(threshold)
        if (settings.at_most or 1) > 1 or settings.counts:  # which known pairs do not tell
            raise ParameterError("rethreshold does not count groups again (at_most, counts): run dedup again")
        method = settings.finder
        found = rethreshold(collect(self._decisions), collect(self._matches), threshold, method.n_estimates)
        decisions, matches = map(TableRows, found)
        summary = self.summary.at(
            threshold, method, verified_pairs=len(matches.table), peak_memory=peak_memory(),
            seconds={"keeping": time.perf_counter() - began}, **count(decisions, self.summary.reference, settings.slices or ()),
        )  # fmt: skip
        provenance = self.provenance | settings.described()
        return Result(
            decisions=decisions, matches=matches, settings=settings, summary=summary, provenance=provenance,
            against=self.against, job=self._job, inputs=self._noted,
        )  # fmt: skip

    def write(
        self, output: str | Path, *, annotate: bool = False, removed: bool = False, attributes: bool = False,
        force: bool = False,
    ) -> None:  # fmt: skip
        """Write the kept rows, or with ``annotate`` all rows, or those removed, with what was decided about them.

        Documents left out as too large or unreadable are not written. With ``counts`` rows have its columns, too.

        Parameters
        ----------
        output : str or path
            A name ending in .parquet, .jsonl, .json, .csv or .tsv (compressed or not) is one file for all inputs. One ending in
            "/" or without a suffix is a folder that receives one file per input, of the same relative name and format. "-" is
            standard output, which gets JSON lines.
        annotate : bool
            Write every row, with the columns of ``annotations`` added.
        removed : bool
            Write the removed rows only, with the same columns, which say why.
        attributes : bool
            Write to a folder, in place of rows, a line ``{"id": ..., "attributes": {...}}`` of JSON about each, in files of the
            inputs' names, as Dolma does: ``near_duplicate`` (bool: removed) and the other columns of ``annotations``.
        force : bool
            Replace an existing output.

        Raises
        ------
        OutputError
            If the output exists, or cannot be written; nothing half written is left.
        InputDataError, ParameterError
            If an input changed in the meantime; if the result is closed, or was loaded or unpickled.
        """
        selections = self._selections(annotate or removed or attributes, attributes, removed)
        assert self._job is not None
        write = write_attributes if attributes else write_rows
        with timed(self, "writing"):
            write(output, selections, self.provenance, sources=self._job.sources, force=force)

    @overload
    def clean(self, data: None = None, *, annotate: bool = False) -> pa.Table: ...

    @overload
    def clean(self, data: T) -> T: ...

    def clean(self, data: Any = None, *, annotate: bool = False) -> Any:
        """Return the kept rows, or with ``annotate`` all rows with what was decided about them, as an Arrow table.

        It has all columns of the inputs, in their order.

        Parameters
        ----------
        data : list, dict, column, table, frame or data set, optional
            What was the input: the kept rows of it are returned, as one of the same kind.
        annotate : bool
            Return every row, with the columns of ``annotations`` added; only without ``data``. Documents that were left out are
            missing.

        Returns
        -------
        pyarrow.Table, or what ``data`` is

        Raises
        ------
        InputDataError, ParameterError
            As ``write`` does; also if ``data`` has other rows, or a column holds values that fit no type of Arrow's.

        Notes
        -----
        Memory: the whole table, whatever the cap of the job; ``write`` needs no more than the cap.

        Examples
        --------
        >>> import lookalike as la
        >>> la.dedup({"a": "one text", "b": "one text", "c": "another"}).clean().to_pylist()
        [{'id': 'a', 'text': 'one text'}, {'id': 'c', 'text': 'another'}]
        """
        if data is not None and annotate:
            raise ParameterError("annotate is for clean() without data: the rows of data are returned as they are")
        return table_of(self._selections(annotate)) if data is None else filter_data(data, self.keep)

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
        sources = self.sources
        facts = {"evidence": self.evidence, "against": self.against, "summary": self.summary.to_dict()}
        inputs = self.inputs
        tables = {"decisions": self._decisions, "pairs": self._matches, "inputs": TableRows(inputs.noted.table)}
        facts["provenance"] = self.provenance
        with timed(self, "saving"):
            save_result(folder, tables, facts, self.settings, sources=sources, own=inputs.own, force=force)

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

    @classmethod
    def open(cls, folder: str | Path, *, trust: Trusted = ()) -> Result:
        """Load a saved result as ``load`` does, but leave its tables in their files: they are read when they are asked for.

        Parameters
        ----------
        folder : str or path
        trust : path or sequence of paths
            As for ``load``.

        Returns
        -------
        Result
        """
        return cls(**load_result(folder, held=False, trust=trust))

    def save_sketches(self, folder: str | Path, *, force: bool = False, texts: bool = False) -> None:
        """Save the sketches of the kept documents to a new folder, which later jobs can be run ``against``.

        Unless texts are saved as well, a later job reads those that it compares from the inputs again, which must stay where
        they are, unchanged. Texts that came from no file are always saved. With ``counts``, so are counts, those of saved
        references too.

        Parameters
        ----------
        folder : str or path
            It may be on an object store, where it counts once its description is there, which is written last.
        force : bool, default False
            Replace an existing folder, if an earlier run wrote all that is in it.
        texts : bool, default False
            Save the texts of the kept documents too, compressed, so that the inputs can be deleted.

        Raises
        ------
        OutputError
            If the folder exists, holds files of others or an input, or cannot be written; nothing half written is left.
        ParameterError
            If the result is closed, or was loaded; or if web pages are in no files.
        """
        self._check_open()
        if self._job is None:
            raise ParameterError("this result was loaded or unpickled, and does not have the sketches: run dedup again")
        with timed(self, "saving sketches"):
            self._job.save_sketches(self, folder, force, texts)

    def audit(self, n: int, *, seed: int = 1) -> dict[str, Any]:
        """Measure the recall: compare some kept documents with all others, exactly.

        The documents are drawn at random. Each that resembles one of them by at least the threshold should have been removed;
        those that are kept were missed. Copies byte for byte of kept documents do not count. With containment copies are drawn,
        too, and one was missed if a kept document before it contains it.

        Parameters
        ----------
        n : int >= 1
            How many documents to compare; all kept ones, if there are fewer.
        seed : int in [0, 2^64), default 1
            What the draw depends on.

        Returns
        -------
        dict
            ``audited``, ``of`` (kept documents), ``seed``, ``with_near_duplicates`` (audited documents that have any),
            ``found`` and ``missed`` (near-duplicates of audited documents), ``recall`` (None if there were none), ``low`` and
            ``high`` (its 95% interval), ``examples`` (up to 20 misses: two places in ``decisions``, and the score). With
            containment ``found`` is all that were removed, ``missed`` counts those drawn. The ``summary`` has it too.

        Raises
        ------
        ParameterError
            If the method is not minhash, or the inputs cannot be read again: the result was closed, loaded or unpickled.
        InputDataError
            If an input has changed.

        Notes
        -----
        All inputs are read and shingled once more. What ``verify="sketch"`` left because of its estimate counts as missed.
        """
        self._check_open()
        if self._job is None:
            raise ParameterError("an audit reads the inputs again, which a loaded or unpickled result does not have")
        with timed(self, "auditing"):
            found = self._job.audit(self, whole("n", n, 1, None), whole("seed", seed, 0, MOST_SEED))
        self.summary = replace(self.summary, audit=found)
        return found

    def report(
        self, output: str | Path, *, texts: ReportTexts = "full", force: bool = False, title: str | None = None,
        command: str | None = None,
    ) -> None:  # fmt: skip
        """Write a page that shows what was removed, why, and whether to trust it: one HTML file of at most 2 MB.

        It needs no network, and runs only its own script: texts, ids and names are shown as they are, whatever they hold.
        Samples are drawn by the job's seed, and each says how.

        Parameters
        ----------
        output : str or path
        texts : {"full", "none", "hash"}, default "full"
            Whether the page shows the texts of its samples; "none": ids and scores only; "hash": a keyed hash in place of each
            word, under a key that is drawn for the page and kept nowhere. Ids and names of files are shown in any case.
        force : bool, default False
            Replace an existing file.
        title : str, optional
        command : str, optional
            How to repeat the job; default: made of the settings.

        Raises
        ------
        ParameterError, MissingExtraError, OutputError, InputDataError
            If the result is closed; without the extra ``report``; if the file exists or is an input; if an input has changed.

        Notes
        -----
        Time: the decisions are read twice; the inputs for their digests, and up to the last text that is shown. Of an open job,
        candidates among kept documents are compared again, for near misses.
        A loaded or unpickled result has no near misses; what its inputs no longer have, the page says. Memory: 32 bytes per
        document.
        """
        from ..report.page import write_report  # a layer above: methods of results are where users look for it

        with timed(self, "writing the report"):
            write_report(self, output, texts=texts, force=force, title=title, command=command)
