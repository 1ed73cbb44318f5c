"""How a result is looked at: some rows of it, an audit, and what a notebook shows. The page is made a layer above."""

from __future__ import annotations

from dataclasses import replace
from html import escape
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa

from ..errors import ParameterError
from ..settings.settings import Settings
from ..values import Int64Array
from ..values.arrays import MOST_SEED, whole
from ..wording import printable
from .annotating import naming
from .choosing import drawn, least_alike, rows_at
from .job import Job
from .rows import Rows
from .summary import Summary


class Shown:
    """The methods of a result that show it."""

    _decisions: Rows
    _against: bool
    _job: Job | None
    settings: Settings
    summary: Summary

    def _check_open(self) -> None:
        if self._job is not None and self._job.closed:  # by this result, or by another that shares its documents
            raise ParameterError("this result is closed: ask for rows, pairs and ids, write and save, before close()")

    @property
    def _score_columns(self) -> dict[str, str]:
        """The columns that state a score: their names in decisions, and what they are called in tables for users."""
        name = self.summary.score if self.summary.verified_by == "exact" else f"estimated_{self.summary.score}"
        second = [name for name in ("standard_error", "distance") if name in self._decisions.schema.names]
        return {"resemblance": name, **dict(zip(second, second, strict=True))}

    def _told(self, table: pa.Table) -> pa.Table:
        """Name the columns of scores as users know them."""
        return table.rename_columns([self._score_columns.get(name, name) for name in table.column_names])

    @property
    def _removed_columns(self) -> list[str]:
        """The columns of ``removed``, as they are named in decisions."""
        return ["id", *naming(self._against), *self._score_columns]

    def _removed_at(self, places: Int64Array) -> pa.Table:
        """Return what ``removed`` says of the documents at some places in ``decisions``."""
        return self._told(rows_at(self._decisions.select(self._removed_columns), places))

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
        self._check_open()
        draw = drawn(self._decisions, whole("n", n, 1, None), whole("seed", seed, 0, MOST_SEED), "sample", ("exact", "near"))
        return self._removed_at(draw.rows)

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
        self._check_open()
        return self._removed_at(least_alike(self._decisions, whole("n", n, 1, None)).rows)

    def audit(self, n: int, *, seed: int = 1) -> dict[str, Any]:
        """Measure the recall: compare some kept documents with all others, exactly.

        The documents are drawn at random. Each document that resembles one of them by at least the threshold should have been
        removed; those that are kept were missed. Copies byte for byte of kept documents do not count.

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
            ``high`` (its 95% interval), ``examples`` (up to 20 misses: two places in ``decisions``, and the resemblance). The
            ``summary`` has it too.

        Raises
        ------
        ParameterError
            If the method is not minhash, or the inputs cannot be read again: the result was closed, loaded or unpickled.
        InputDataError
            If an input has changed.

        Notes
        -----
        Time: all inputs are read and shingled once more. Exact: each shingle of each document is looked up among those of the
        audited documents. What ``verify="sketch"`` left because of its estimate counts as missed.
        """
        self._check_open()
        if self._job is None:
            raise ParameterError("an audit reads the inputs again, which a loaded or unpickled result does not have")
        from .auditing import Audit  # here, for what is not needed to start

        found = Audit(self._decisions, self._job.sources, self.settings).run(
            whole("n", n, 1, None), whole("seed", seed, 0, MOST_SEED)
        )
        self.summary = replace(self.summary, audit=found)
        return found

    def report(
        self, output: str | Path, *, texts: str = "full", force: bool = False, title: str | None = None,
        command: str | None = None,
    ) -> None:  # fmt: skip
        """Write a page that shows what was removed and why: one HTML file that needs no network.

        Parameters
        ----------
        output : str or path
        texts : {"full", "none", "hash"}, default "full"
            Whether the page shows texts; "hash": a keyed hash in place of each word.
        force : bool, default False
            Replace an existing file.
        title : str, optional
        command : str, optional
            How to repeat the job; default: made of the settings.

        Raises
        ------
        ParameterError, MissingExtraError, OutputError, InputDataError
            As ``lookalike.write_report``, which says more.
        """
        writing = import_module("lookalike.report.writing")  # by its name: the page is made a layer above the jobs
        writing.write_report(self, output, texts=texts, force=force, title=title, command=command)

    def _repr_html_(self) -> str:
        """Return the counts as a small table, for notebooks."""
        s = self.summary
        rows = [
            ("documents", f"{s.documents:,}"),
            ("exact duplicates removed", f"{s.exact_duplicates:,}"),
            ("near-duplicates removed", f"{s.near_duplicates:,} ({s.score} &ge; {s.threshold:g})"),
            ("kept", f"<b>{s.kept:,}</b>"),
            ("recall at the threshold, on average", f"{s.recall_vouched:.4f}"),
        ]
        rows += [
            (f"{value:.4f}", f"{escape(printable(f'{gone}')[:80])} &rarr; {escape(printable(f'{kept}')[:80])}")
            for gone, kept, value, _ in s.least_alike
        ]
        body = "".join(f"<tr><th style='text-align:left'>{name}</th><td>{value}</td></tr>" for name, value in rows)
        return f"<table><caption>lookalike: {s.documents - s.kept:,} removed</caption>{body}</table>"
