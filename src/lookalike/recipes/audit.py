"""How much was found: some kept documents, drawn by a seed, are compared with all others."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..engines.memory import Memory
from ..errors import InputDataError, ParameterError
from ..formats.split import Split
from ..inputs.read import Reading, leaves_out, read_texts
from ..inputs.sketch_rows import is_saved
from ..inputs.texts import read_again
from ..kernels.threads import in_order
from ..results.rows import Draw, Rows, of_reason, rows_at
from ..search.passages import Passages
from ..settings.settings import Settings
from ..text.hashes import KeyedHashes
from ..text.texts import Texts, from_strings
from ..theory.minhash import exact_interval
from ..values import Int64Array
from ..values.arrow import to_numpy

EXAMPLES = 20
PIECE_BYTES = 1 << 20
SHINGLE_BYTES = 80  # of an audited document, while the table of all is made
Groups = list[tuple[bytes, bytes]]  # codes of ``within`` and of ``across``, empty where there is no such column
Piece = tuple[int, Texts, Groups | None]


class Audit:
    """An audit on its way; decisions are in the order of the input, references first."""

    def __init__(self, decisions: Rows, sources: Sequence[Split], settings: Settings) -> None:
        if settings.finder.score != "resemblance":
            raise ParameterError(
                f"an audit measures the recall of resemblances by minhash, not that of {settings.finder.score}"
                + ("" if settings.method == "minhash" else ": simhash looks for pairs within its radius only")
            )
        grouped = settings.within is not None or settings.across is not None
        if grouped and any(is_saved(split) and not split.places for split in sources):
            raise ParameterError(
                "an audit reads the groups (--within, --across) of all documents again, which is not possible for saved "
                "sketches of documents that came from no file"
            )
        self._decisions, self._sources, self._settings = decisions, sources, settings
        self._reading = Reading(
            text=settings.text, within=settings.within, across=settings.across, encoding_errors=settings.encoding_errors,
            pages=settings.pages, skip=leaves_out(sources),
        )  # fmt: skip
        self._memory = Memory.wanted(settings.memory)
        self._hashing = KeyedHashes(settings.shingling, os.urandom(16))

    def run(self, n: int, seed: int) -> dict[str, Any]:
        """Audit so many documents: see ``Result.audit``."""
        own, self._kept, self._aside = self._masks()
        draw = Draw(n, seed, "audit")
        draw.add(np.flatnonzero(own))
        rows = draw.rows
        told = rows_at(self._decisions.select(["position", "bytes"]), rows)
        positions = to_numpy(told["position"])
        counts = np.zeros((len(rows), 2), np.int64)  # near-duplicates that were removed; that were kept
        examples: list[tuple[int, int, float]] = []
        for some, passages, within in self._divided(positions, to_numpy(told["bytes"])):
            for audited, row, score in self._matches(passages, within):
                judged = (row != rows[some][audited]) & ~self._aside[row] & ~self._aside[rows[some][audited]]
                audited, row, score = some[audited[judged]], row[judged], score[judged]
                kept = self._kept[row]
                np.add.at(counts, (audited, kept.astype(np.int64)), 1)
                missed = zip(rows[audited[kept]].tolist(), row[kept].tolist(), score[kept].tolist(), strict=True)
                examples += list(missed)[: EXAMPLES - len(examples)]
        return self._told(counts, examples, draw.total, seed)

    def _told(self, counts: Int64Array, examples: list[tuple[int, int, float]], total: int, seed: int) -> dict[str, Any]:
        """Return the result as plain values; the interval is that of as many trials as documents with a near-duplicate.

        Documents are drawn, not pairs, and what is found of one says much about its other pairs: pairs would be too narrow.
        """
        found, missed = counts.sum(axis=0).tolist()
        trials = int((counts.sum(axis=1) > 0).sum())
        recall, low, high = None, 0.0, 1.0
        if trials:
            recall = found / (found + missed)
            low = exact_interval(math.floor(recall * trials), trials)[0]
            high = exact_interval(math.ceil(recall * trials), trials)[1]
        return {
            "audited": len(counts), "of": total, "seed": seed, "with_near_duplicates": trials, "found": found,
            "missed": missed, "recall": recall, "low": low, "high": high, "examples": examples,
        }  # fmt: skip

    def _masks(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
        """Return which documents are kept for what they are, which are that or references, and which set aside: copies,
        overridden, by key. What rules of groups add to that is not the search's."""
        own, kept, aside = ([np.empty(0, np.bool_)] for _ in range(3))
        overrides = [name for name in ("override",) if name in self._decisions.schema.names]
        for batch in self._decisions.select(["order", "keeper", "reason", *overrides]).batches():
            kept.append(to_numpy(batch.column("keeper"), -1) == to_numpy(batch.column("order")))
            own.append(kept[-1] & ~of_reason(batch, "reference"))
            aside.append(of_reason(batch, "exact", "key"))
            if overrides:
                aside[-1] |= to_numpy(batch.column("override").is_valid())
        return np.concatenate(own), np.concatenate(kept), np.concatenate(aside)

    def _divided(self, positions: Int64Array, n_bytes: Int64Array) -> Iterator[tuple[Int64Array, Passages, Groups | None]]:
        """Yield some audited documents at a time, as many as fit the memory: numbers, shingles, and groups."""
        most = max(1, self._memory.held // 4)
        for read in _runs(n_bytes, most):  # their texts
            texts, groups = read_again(self._sources, self._reading, positions[read])
            values, offsets = self._hashing.hashes(from_strings([texts.pop(p) for p in positions[read].tolist()]))
            values = values.copy()
            for some in _runs(SHINGLE_BYTES * np.diff(offsets), most):
                first, last = offsets[some[0]], offsets[some[-1] + 1]
                passages = Passages.of(values[first:last], offsets[some[0] : some[-1] + 2] - first, None)
                at = positions[read[some]]
                yield read[some], passages, [groups[p] for p in at.tolist()] if groups else None

    def _pieces(self) -> Iterator[Piece]:
        """Yield (first row, texts, their groups) of all documents."""
        row = 0
        for number, source in enumerate(self._sources):
            for texts, documents in read_texts(source, number, self._reading):
                groups = _groups_of(documents)
                for begin, end in texts.cut(PIECE_BYTES):
                    yield row + begin, texts.slice(begin, end), None if groups is None else groups[begin:end]
                row += len(texts)
        if row != len(self._kept):
            raise InputDataError(f"{len(self._kept):,} documents were read at first, {row:,} now; run again")

    def _matches(self, passages: Passages, own: Groups | None) -> Iterator[tuple[Int64Array, Int64Array, NDArray[np.float64]]]:
        """Yield (number of the audited document, row of the document, resemblance) of all that reach the threshold."""
        threshold, valve = self._settings.threshold, self._memory.valve

        def work(piece: Piece) -> tuple[Int64Array, Int64Array, NDArray[np.float64]]:
            first, some, groups = piece
            rows, passage, score = passages.resembling(*self._hashing.hashes(some), threshold)
            number = passages.document[passage]
            if own is not None and groups is not None:
                met = np.fromiter((_meet(own[d], groups[r]) for d, r in zip(number, rows, strict=True)), np.bool_, len(rows))
                rows, number, score = rows[met], number[met], score[met]
            return number, first + rows, score

        for found in in_order(work, self._pieces(), self._settings.n_threads):
            yield found
            valve.check()


def _groups_of(documents: pa.RecordBatch) -> Groups | None:
    """Return the codes of some documents, if they have any."""
    names = documents.schema.names
    if not {"within", "across"} & set(names):
        return None
    columns = [documents[name].to_pylist() if name in names else [b""] * len(documents) for name in ("within", "across")]
    return list(zip(*columns, strict=True))


def _meet(one: tuple[bytes, bytes], other: tuple[bytes, bytes]) -> bool:
    """Tell whether two documents are compared, by their codes: see ``apart_codes``."""
    return one[0] == other[0] and (one[1] != other[1] or not any(one[1]))


def _runs(weights: Int64Array, most: int) -> Iterator[Int64Array]:
    """Yield numbers in a row whose weights add up to at most so much, or one that weighs more."""
    total, begin = np.cumsum(weights), 0
    while begin < len(weights):
        end = max(begin + 1, int(np.searchsorted(total, most + (total[begin - 1] if begin else 0), side="right")))
        yield np.arange(begin, end)
        begin = end
