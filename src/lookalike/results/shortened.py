"""The result of looking for repeated text: how much is removed, the cleaned documents, and lists of what was found."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from .. import __version__
from ..errors import all_from_caller
from ..formats.cuts import Cuts
from ..formats.split import names_of
from ..formats.writers import Selection, write_rows, write_table
from ..steps.repeats import OUTCOMES
from ..values.arrays import whole
from ..values.arrow import to_numpy
from ..wording import Brief, counted
from .repeats import Removed, Repeated, Repeats


@all_from_caller
class RepeatsResult(Brief):
    """What is removed of a corpus.

    Attributes
    ----------
    n_documents : int
        Documents of the corpus.
    """

    _what = ""

    def __init__(self, found: Repeats) -> None:
        self._found, self.n_documents = found, found.corpus.n
        self._dropped = np.zeros(self.n_documents, np.bool_)
        totals = np.zeros(4, np.int64)  # documents that lose something; runs, words or lines, bytes that are removed
        columns = found.documents.select(["order", "n", "whole", "units"])
        for batch in found.engine.map(columns, found.marks.count, OUTCOMES).batches():
            order, runs, size, n_bytes, emptied = (to_numpy(column) for column in batch.columns)
            totals += [int((runs > 0).sum()), int(runs.sum()), int(size.sum()), int(n_bytes.sum())]
            self._dropped[order[emptied]] = True
        self._changed, self._runs, self._size, self._bytes = totals.tolist()

    def _facts(self) -> dict[str, str]:
        """Return what is said of it."""
        s = self.summary
        of = f"{s['changed']:,} of {counted(self.n_documents, 'document')} changed"
        return {"documents": of, "removed": f"{self._size:,} {self._what} removed", "dropped": f"{s['dropped']:,} dropped"}

    @property
    def summary(self) -> dict[str, int]:
        """Counts: documents, those that lose text, those dropped (no word is left) or skipped, what is removed, its bytes."""
        return {
            "documents": self.n_documents,
            "changed": self._changed,
            "dropped": int(self._dropped.sum()),
            "skipped": int(self._found.skipped.sum()),
            f"removed_{self._what}": self._size,
            "removed_bytes": self._bytes,
        }

    @property
    def provenance(self) -> dict[str, Any]:
        """Version, parameters, inputs and counts, as written with every output."""
        inputs = [source.identity() for source in self._found.corpus.sources]
        return {"lookalike": __version__, **self._found.settings, "inputs": inputs, "summary": self.summary}

    @cached_property
    def removed(self) -> pa.Table:
        """What is removed, in input order: ``id``, ``begin`` and ``end`` in bytes of the text, and how many lines or words."""
        return Removed(self._found, self._runs, self._what, False).table()

    def _write(self, output: str | Path, mask: str | None, force: bool) -> None:
        found, selections = self._found, []
        corpus, errors = found.corpus, found.reading.encoding_errors
        written = ~(found.skipped | self._dropped) if mask is None else ~found.skipped
        for source, begin, end in zip(corpus.sources, corpus.starts[:-1].tolist(), corpus.starts[1:].tolist(), strict=True):

            def ranges(first: int, last: int, begin: int = begin) -> Iterator[pa.ListArray]:
                return found.ranges(begin + first, begin + last)

            cuts = Cuts(column=names_of(found.reading.text)[0], ranges=ranges, replacement=mask or "")
            selections.append(Selection(source, written[begin:end], None, errors, cuts))
        said = self.provenance
        if mask is not None:
            said["summary"]["dropped"] = 0
        write_rows(output, selections, said, sources=corpus.sources, force=force)

    def _list(self, output: str | Path, rows: Any, force: bool) -> None:
        write_table(output, rows, self.provenance, sources=self._found.corpus.sources, force=force)


@all_from_caller
class LinesResult(RepeatsResult):
    """The result of ``lines``.

    Attributes
    ----------
    n_documents : int
        Documents of the corpus.
    """

    _what = "lines"

    def __init__(self, found: Repeats) -> None:
        super().__init__(found)
        counts = found.repeated.select(["count"]).batches()
        self._n = sum(int((to_numpy(batch.column(0)) > 0).sum()) for batch in counts)

    @property
    def summary(self) -> dict[str, int]:
        """Counts: documents, those that lose lines (changed), those dropped (no word is left) or skipped (too large);
        removed_lines, removed_bytes; repeated_lines: how many different lines occur more than once."""
        return super().summary | {"repeated_lines": self._n}

    @cached_property
    def repeated(self) -> pa.Table:
        """Lines that occur more than once: ``text, count, documents``, and ``id, begin`` of the first, in input order."""
        return Repeated(self._found, self._n).table()

    def top(self, n: int = 10) -> pa.Table:
        """Return the lines that occur most often, most frequent first; ties go to the earlier one.

        Parameters
        ----------
        n : int, default 10
            How many at most.

        Returns
        -------
        pyarrow.Table
            With the columns of ``repeated``.
        """
        return Repeated(self._found, self._n).top(whole("n", n, 1, None))

    def write(self, output: str | Path, *, force: bool = False) -> None:
        """Write the documents without the removed lines; documents that keep no word are left out.

        Files, formats and errors are those of ``Result.write``. Documents that lose nothing are written byte for byte, and
        documents that were skipped are not written.

        Parameters
        ----------
        output : path
        force : bool, default False
            Replace an existing output.
        """
        self._write(output, None, force)

    def write_repeated(self, output: str | Path, *, force: bool = False) -> None:
        """Write all lines of ``repeated`` as parquet, JSON lines or CSV, by the suffix; some are held at a time.

        Parameters
        ----------
        output : path
        force : bool, default False
            Replace an existing output.
        """
        self._list(output, Repeated(self._found, self._n), force)


@all_from_caller
class PassagesResult(RepeatsResult):
    """The result of ``passages``.

    Attributes
    ----------
    n_documents : int
        Documents of the corpus.
    """

    _what = "words"

    @property
    def summary(self) -> dict[str, int]:
        """Counts: documents, those that lose text (changed), those dropped (no word is left) or skipped (too large);
        removed_words, removed_bytes, removed_passages."""
        return super().summary | {"removed_passages": self._runs}

    def write(self, output: str | Path, *, mask: str | None = None, force: bool = False) -> None:
        """Write the documents without the removed passages; documents that keep no word are left out.

        Files, formats and errors are those of ``Result.write``. Documents that lose nothing are written byte for byte, and
        documents that were skipped are not written.

        Parameters
        ----------
        output : path
        mask : str, optional
            What takes the place of each passage. Then no document is left out, nor counted as dropped in what is written.
        force : bool, default False
            Replace an existing output.
        """
        self._write(output, mask, force)

    def write_removed(self, output: str | Path, *, force: bool = False) -> None:
        """Write all rows of ``removed``, with a column ``text``, as parquet, JSON lines or CSV, by the suffix.

        Parameters
        ----------
        output : path
        force : bool, default False
            Replace an existing output.
        """
        self._list(output, Removed(self._found, self._runs, self._what, True), force)
