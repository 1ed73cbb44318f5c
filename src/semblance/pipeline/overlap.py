"""Which documents of one corpus appear in another: what has to go from a training set before it is judged by a test set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from .. import __version__
from ..errors import ParameterError
from ..io.memory import as_sources
from ..io.sources import Columns
from ..io.writers import Selection, write_rows
from ..kernels import overlap as kernel
from ..kernels._threads import in_order
from ..text.shingle import Shingling
from ..text.texts import Texts
from ..values import Float64Array, Int64Array, UInt64Array, drop_repeats
from .batches import label_rows
from .documents import check_encoding
from .settings import available_threads

MEASURES = ("resemblance", "containment")
ADDED = ("overlap_with", "overlap_passage", "resemblance", "containment")


@dataclass(frozen=True, slots=True, eq=False)
class Passages:
    """Passages of reference documents, as an inverted list of their shingles."""

    sizes: Int64Array
    document: Int64Array
    start: Int64Array
    table: UInt64Array
    numbers: NDArray[np.int32]
    list_offsets: Int64Array
    lists: NDArray[np.int32]

    @classmethod
    def of(cls, values: UInt64Array, offsets: Int64Array, width: int | None) -> Passages:
        """Cut rows of shingle hashes, in their order, into passages of ``width`` shingles, each half in the next."""
        begins, ends, documents = [], [], []
        for document, (begin, end) in enumerate(zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)):
            step = max(1, (width or 0) // 2)
            last = max(begin, end - width) if width else begin
            starts = sorted({*range(begin, last, step), last}) if width and end > begin else [begin] if end > begin else []
            begins += starts
            ends += [min(end, s + width) if width else end for s in starts]
            documents += [document] * len(starts)
        first, stop = np.array(begins, np.int64), np.array(ends, np.int64)
        number = np.repeat(np.arange(len(first)), stop - first)
        within = np.arange(len(number)) - np.repeat(np.cumsum(stop - first) - (stop - first), stop - first)
        flat = values[np.repeat(first, stop - first) + within]
        order = np.lexsort((number, flat))
        flat, number = flat[order], number[order]
        fresh = np.ones(len(flat), np.bool_)
        fresh[1:] = (flat[1:] != flat[:-1]) | (number[1:] != number[:-1])
        flat, number = flat[fresh], number[fresh]
        distinct, starts_of = np.unique(flat, return_index=True)
        table = np.zeros(1 << max(4, int(2 * len(distinct)).bit_length()), np.uint64)
        numbers = np.zeros(len(table), np.int32)
        kernel.fill_table(distinct, table, numbers)
        document_of = np.array(documents, np.int64)
        return cls(
            np.bincount(number, minlength=len(first)), document_of, first - offsets[document_of] if len(first) else first,
            table, numbers, np.append(starts_of, len(flat)).astype(np.int64), number.astype(np.int32),
        )  # fmt: skip

    def match(self, values: UInt64Array, offsets: Int64Array, contained: bool, threshold: float) -> list[Any]:
        """Return (row, passage, common, distinct shingles of the row) of all matches."""
        values, offsets = drop_repeats(values, offsets)
        common, touched = np.zeros(len(self.sizes), np.int64), np.empty(len(self.sizes), np.int64)
        found = tuple(np.empty(len(self.sizes) + 4096, np.int64) for _ in range(3))
        parts, row = [[np.empty(0, np.int64)] * 3], 0
        while row < len(offsets) - 1:
            row, count = kernel.match_rows(
                values, offsets, self.table, self.numbers, self.list_offsets, self.lists, self.sizes, contained, threshold,
                common, touched, row, *found,
            )  # fmt: skip
            parts.append([array[:count].copy() for array in found])
        rows, passages, both = (np.concatenate(column) for column in zip(*parts, strict=True))
        return [rows, passages, both, np.diff(offsets)[rows]]


class OverlapResult:
    """What ``overlap`` found.

    Attributes
    ----------
    matches : pyarrow.Table
        ``id, reference, passage`` (of the reference document, the first shingle that it begins with; null where passages are
        whole documents), ``resemblance, containment``: the best of each pair of documents, in input order, best first.
    n_documents, n_references : int
    """

    def __init__(
        self, sources: list[Any], starts: list[int], rows: Int64Array, matches: pa.Table, n_references: int, parameters: Any,
        references: Sequence[Any] = (),
    ) -> None:  # fmt: skip
        self._sources, self._starts, self._rows = sources, starts, rows
        self._references = references
        self._parameters = parameters
        self.matches = matches
        self.n_documents = starts[-1]
        self.n_references = n_references

    @property
    def overlaps(self) -> NDArray[np.bool_]:
        """Whether each document overlaps with some reference document, bool of shape (n_documents,)."""
        mask = np.zeros(self.n_documents, np.bool_)
        mask[self._rows] = True
        return mask

    @property
    def provenance(self) -> dict[str, Any]:
        """Version, parameters and inputs, as written with every output."""
        inputs = [source.identity() for source in self._sources]
        return {"semblance": __version__, "parameters": self._parameters, "inputs": inputs}

    def write(self, output: str | Path, *, annotate: bool = False, force: bool = False) -> None:
        """Write the documents that overlap with none; with ``annotate`` all, with the best match of each.

        Files, formats and errors are those of ``DedupResult.write``.
        """
        first = np.unique(self._rows, return_index=True)[1]
        best = self.matches.take(pa.array(first)).drop_columns(["id"]).rename_columns(list(ADDED))
        place = np.full(self.n_documents, -1, np.int64)
        place[self._rows[first]] = np.arange(len(first))
        selections, clean = [], ~self.overlaps
        for source, begin, end in zip(self._sources, self._starts[:-1], self._starts[1:], strict=True):
            mask = np.ones(end - begin, np.bool_) if annotate else clean[begin:end]

            def added(first: int, last: int, begin: int = begin) -> pa.Table:
                wanted = place[begin + first : begin + last]
                return best.take(pa.array(wanted, mask=wanted < 0))

            if annotate:
                source.check_free(list(ADDED))
            selections.append(Selection(source, mask, added if annotate else None))
        read = [*self._sources, *self._references]
        write_rows(output, selections, self.provenance, sources=read, force=force)


def overlap(
    data: Any, *, against: Any, measure: str = "resemblance", threshold: float = 0.8, passage: int | None = None,
    text: str = "text", id: str | None = None, unit: str = "word", width: int | None = None, normalization: str = "NFC",
    fold_case: bool = True, encoding_errors: str = "strict", glob: str | None = None, format: str | None = None,
    threads: int | None = None, progress: Any = None,
) -> OverlapResult:  # fmt: skip
    """Find the documents of one corpus that appear in another, exactly.

    Parameters
    ----------
    data, against
        What ``semblance.dedup`` takes; ``against`` is held in memory as shingles, ``data`` is read once.
    measure : {"resemblance", "containment"}
        What must reach the threshold: shingles in common over all shingles of the two, or over those of the smaller one, so
        that a test question inside a long page is found.
    threshold : float in (0, 1], default 0.8
    passage : int >= 1, optional
        Cut reference documents into passages of so many shingles, each half in the next, and match these.
    text, id, unit, width, normalization, fold_case, encoding_errors, glob, format, threads
        As for ``semblance.dedup``.
    progress : callable, optional

    Returns
    -------
    OverlapResult

    Raises
    ------
    ParameterError
        If a parameter is out of its range.
    InputDataError
        If a file or row is not as expected.

    Notes
    -----
    Exact: every shingle of ``data`` is looked up. Documents without a single shingle never match. Memory: about 30 bytes a
    shingle of ``against`` (twice as many with passages).

    Examples
    --------
    >>> import semblance as sb
    >>> page = "so he asked what is the capital of the old country of France and they laughed"
    >>> found = sb.overlap([page, "else"], against=["What is the capital of the old country of France?"], measure="containment")
    >>> found.matches.to_pylist()
    [{'id': 0, 'reference': 0, 'passage': None, 'resemblance': 0.5, 'containment': 1.0}]
    """
    if measure not in MEASURES:
        raise ParameterError(f"measure must be one of {', '.join(MEASURES)}; {measure!r} was given")
    if not 0.0 < threshold <= 1.0:
        raise ParameterError(f"threshold must lie in (0, 1]; {threshold} was given")
    if passage is not None and passage < 1:
        raise ParameterError(f"passage must be at least 1; {passage} was given")
    shingling = Shingling(unit=unit, width=width, normalization=normalization, fold_case=fold_case)
    columns = Columns(text, id, (), (), encoding_errors)
    sources, references = (as_sources(d, glob=glob, format=format) for d in (data, against))
    report = progress or (lambda stage, amount: None)
    starts: list[int] = [0]

    def pieces(some: list[Any], ends: list[int]) -> Iterator[tuple[list[Any], Texts]]:
        """Yield (ids, texts) of about a megabyte at a time; note where each source ends."""
        row = 0
        for source in some:
            for batch in source.batches(columns):
                if encoding_errors == "strict":
                    check_encoding(source, batch.numbers, batch.texts)
                ids = label_rows(source, batch)
                for begin, end in batch.texts.cut():
                    yield ids[begin:end], batch.texts.slice(begin, end)
                row += len(ids)
            ends.append(row)

    names: list[Any] = []
    hashed = []
    for ids, texts in pieces(references, []):
        names += ids
        values, offsets = shingling.hashes(texts)
        hashed.append((values.copy(), np.diff(offsets)))
    values = np.concatenate([np.empty(0, np.uint64), *(v for v, _ in hashed)])
    sizes = np.concatenate([np.empty(0, np.int64), *(s for _, s in hashed)])
    known = Passages.of(values, np.concatenate([[0], np.cumsum(sizes)]), passage)

    def work(piece: tuple[list[Any], Texts]) -> tuple[list[Any], list[Any]]:
        return piece[0], known.match(*shingling.hashes(piece[1]), measure == "containment", threshold)

    rows: list[Int64Array] = []
    parts: list[tuple[Any, ...]] = []
    row = 0
    for ids, (local, passages, both, n) in in_order(work, pieces(sources, starts), threads or available_threads()):
        order, resemblance, containment = _best(local, passages, both, n, known, measure)
        rows.append(row + local[order])
        parts.append(([ids[i] for i in local[order].tolist()], passages[order], resemblance[order], containment[order]))
        row += len(ids)
        report("matching", len(ids))
    chosen = np.concatenate([np.empty(0, np.int64), *(p[1] for p in parts)])
    matches = pa.table({
        "id": pa.array([i for p in parts for i in p[0]]),
        "reference": pa.array([names[d] for d in known.document[chosen].tolist()]),
        "passage": pa.array(known.start[chosen], mask=np.full(len(chosen), passage is None)),
        "resemblance": np.concatenate([np.empty(0), *(p[2] for p in parts)]),
        "containment": np.concatenate([np.empty(0), *(p[3] for p in parts)]),
    })  # fmt: skip
    parameters = {"measure": measure, "threshold": threshold, "passage": passage, "shingling": shingling.to_dict()}
    parameters["against"] = [source.identity() for source in references]
    found = np.concatenate([np.empty(0, np.int64), *rows])
    return OverlapResult(sources, starts, found, matches, len(names), parameters, references)


def _best(
    rows: Int64Array, passages: Int64Array, both: Int64Array, n: Int64Array, known: Passages, measure: str
) -> tuple[Int64Array, Float64Array, Float64Array]:
    """Return (the places of the best passage of each pair of documents, best first; resemblances; containments)."""
    sizes = known.sizes[passages]
    resemblance, containment = both / (n + sizes - both), both / np.minimum(n, sizes)
    score, other = (resemblance, containment) if measure == "resemblance" else (containment, resemblance)
    document = known.document[passages]
    order = np.lexsort((passages, -other, -score, document, rows))
    first = np.ones(len(order), np.bool_)
    first[1:] = (np.diff(rows[order]) != 0) | (np.diff(document[order]) != 0)
    order = order[first]
    return order[np.lexsort((document[order], -other[order], -score[order], rows[order]))], resemblance, containment
