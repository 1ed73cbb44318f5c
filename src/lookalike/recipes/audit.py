"""How much was found: some kept documents, drawn by a seed, are compared with all others.

By resemblance, pairs are counted: of the near-duplicates of the documents that were drawn, the share that was removed. By
containment, documents are: those that were removed are known, and how many of the others an earlier kept one contains follows
from the share of those that were drawn.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..core.threads import in_order
from ..engines.memory import Memory
from ..errors import InputDataError, ParameterError
from ..formats.split import Split
from ..inputs.read import ReadOptions, leaves_out, read_texts
from ..inputs.sketch_rows import is_saved
from ..inputs.texts import read_again
from ..results.rows import RandomSample, Rows, of_reason, rows_at
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
        if settings.finder.score not in ("resemblance", "containment"):
            raise ParameterError(
                f"an audit measures the recall of resemblance or containment by minhash, not that of {settings.finder.score}"
                + ("" if settings.method == "minhash" else ": simhash looks for pairs within its radius only")
            )
        grouped = settings.within is not None or settings.across is not None
        if grouped and any(is_saved(split) and not split.places for split in sources):
            raise ParameterError(
                "an audit reads the groups of all documents again, which is not possible for saved "
                "sketches of documents that came from no file"
            )
        self._decisions, self._sources, self._settings = decisions, sources, settings
        self._reading = ReadOptions(
            text=settings.text, within=settings.within, across=settings.across, encoding_errors=settings.encoding_errors,
            pages=settings.pages, skip=leaves_out(sources, settings.pages),
        )  # fmt: skip
        self._memory = Memory.wanted(settings.memory)
        self._hashing = KeyedHashes(settings.shingling, os.urandom(16))
        self._inside = settings.finder.score == "containment"

    def run(self, n: int, seed: int) -> dict[str, Any]:
        """Audit so many documents: see ``Result.audit``."""
        own, removed = self._read_decisions()
        draw = RandomSample(n, seed, "audit")
        draw.add(np.flatnonzero(own))
        rows = draw.rows
        told = rows_at(self._decisions.select(["position", "bytes", "keeper"]), rows)
        positions, first = to_numpy(told["position"]), to_numpy(told["keeper"])
        counts = np.zeros((len(rows), 2), np.int64)  # near-duplicates that were removed; that were kept
        examples: list[tuple[int, int, float]] = []
        for some, passages, within in self._divided(positions, to_numpy(told["bytes"])):
            for audited, row, score in self._matches(passages, within):
                if self._inside:  # copies stand for the first of their set
                    judged = ~self._aside[row] & (self._order[row] < first[some][audited])
                else:
                    judged = (row != rows[some][audited]) & ~self._aside[row] & ~self._aside[rows[some][audited]]
                audited, row, score = some[audited[judged]], row[judged], score[judged]
                kept = self._kept[row]
                np.add.at(counts, (audited, kept.astype(np.int64)), 1)
                missed = zip(rows[audited[kept]].tolist(), row[kept].tolist(), score[kept].tolist(), strict=True)
                examples += list(missed)[: EXAMPLES - len(examples)]
        said = _of_inside if self._inside else _of_pairs
        return {"audited": len(rows), "of": draw.total, "seed": seed, **said(counts, draw.total, removed), "examples": examples}

    def _read_decisions(self) -> tuple[NDArray[np.bool_], int]:
        """Return which documents are drawn from, and how many near-duplicates were removed; note which are kept for what they
        are, or references, and which are set aside: copies, overridden, by key. What ``at_most`` spares was
        found."""
        own, kept, aside = ([np.empty(0, np.bool_)] for _ in range(3))
        order = [np.empty(0, np.int64)]
        overrides = [name for name in ("override",) if name in self._decisions.schema.names]
        removed = boundary = 0
        for batch in self._decisions.select(["order", "keeper", "reason", *overrides]).batches():
            orders, keeper = to_numpy(batch.column("order")), to_numpy(batch.column("keeper"), -1)
            reference, exact = of_reason(batch, "reference"), of_reason(batch, "exact")
            by_hand = to_numpy(batch.column("override").is_valid()) if overrides else np.zeros(len(batch), np.bool_)
            kept.append(keeper == orders)
            own.append(kept[-1] & ~reference)
            aside.append(exact | of_reason(batch, "key") | by_hand)
            if self._inside:
                boundary += int(reference.sum())
                own[-1] = (own[-1] | (exact & (keeper >= boundary))) & ~by_hand
                removed += int(((keeper >= 0) & ~kept[-1] & ~aside[-1] & ~of_reason(batch, "spared")).sum())
                order.append(orders)
        self._kept, self._aside, self._order = np.concatenate(kept), np.concatenate(aside), np.concatenate(order)
        return np.concatenate(own), removed

    def _divided(self, positions: Int64Array, n_bytes: Int64Array) -> Iterator[tuple[Int64Array, Passages, Groups | None]]:
        """Yield some audited documents at a time, as many as fit the memory: numbers, shingles, and groups."""
        most = max(1, self._memory.table_budget // 4)
        for read in _runs(n_bytes, most):  # their texts
            texts, groups = read_again(self._sources, self._reading, positions[read])
            values, offsets = self._hashing.hashes(from_strings([texts.pop(p) for p in positions[read].tolist()]))
            values = values.copy()
            for some in _runs(SHINGLE_BYTES * np.diff(offsets), most):
                first, last = offsets[some[0]], offsets[some[-1] + 1]
                bounds = offsets[some[0] : some[-1] + 2] - first
                passages = Passages.of(values[first:last], bounds, None, self._settings.threshold)
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
        """Yield (number of the audited document, row of the document, score) of all that reach the threshold: near-duplicates,
        or documents that contain it."""
        threshold, floor, valve = self._settings.threshold, self._settings.floor, self._memory.valve

        def work(piece: Piece) -> tuple[Int64Array, Int64Array, NDArray[np.float64]]:
            first, some, groups = piece
            hashed = self._hashing.hashes(some)
            found = passages.containing(*hashed, threshold, floor) if self._inside else passages.resembling(*hashed, threshold)
            rows, passage, score = found
            number = passages.document[passage]
            if own is not None and groups is not None:
                met = np.fromiter((_meet(own[d], groups[r]) for d, r in zip(number, rows, strict=True)), np.bool_, len(rows))
                rows, number, score = rows[met], number[met], score[met]
            return number, first + rows, score

        for found in in_order(work, self._pieces(), self._settings.n_threads):
            yield found
            valve.check()


def _of_pairs(counts: Int64Array, total: int, removed: int) -> dict[str, Any]:
    """Return what was measured as plain values; the interval has as many trials as documents with a near-duplicate.

    Documents are drawn, not pairs, and those of one document are alike.
    """
    found, missed = counts.sum(axis=0).tolist()
    trials = int((counts.sum(axis=1) > 0).sum())
    recall, low, high = None, 0.0, 1.0
    if trials:
        recall = found / (found + missed)
        low = exact_interval(math.floor(recall * trials), trials)[0]
        high = exact_interval(math.ceil(recall * trials), trials)[1]
    return {"with_near_duplicates": trials, "found": found, "missed": missed, "recall": recall, "low": low, "high": high}


def _of_inside(counts: Int64Array, total: int, removed: int) -> dict[str, Any]:
    """Return what was measured as plain values: how many of all are inside others is the share of those drawn, with the
    interval of a share; at least those that were seen, and no more than all that were not."""
    missed, drawn = int((counts[:, 1] > 0).sum()), len(counts)
    recall, low, high = None, 0.0, 1.0
    if missed or removed:
        few, many = exact_interval(missed, drawn) if drawn else (0.0, 0.0)
        likely = (missed * total / max(1, drawn), min(many * total, total - drawn + missed), max(few * total, missed))
        recall, low, high = (removed / (removed + left) if removed else 0.0 for left in likely)
    return {"with_near_duplicates": missed, "found": removed, "missed": missed, "recall": recall, "low": low, "high": high}


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
