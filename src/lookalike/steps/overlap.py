"""Documents of which others are to be found: what of these each document has, what of that is common, and what stands then."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..core import judge_matches
from ..errors import InputDataError
from ..search.items import Items, Ragged, SoughtTexts
from ..text.hashes import KeyedHashes
from ..text.shingle import Shingling
from ..text.texts import Texts, concatenate, from_arrow_array
from ..values import Int64Array
from ..values.arrow import to_arrow
from .batches import Batches, extend_batch, ints, row_error, starts_of
from .totals import Total

MATCH = np.dtype([
    ("passage", np.int64), ("resemblance", np.float64), ("containment", np.float64), ("begin", np.int64), ("end", np.int64),
])  # fmt: skip
"""The best passage of a text that a document has, and the longest piece of it in the document's text, in bytes."""
_HIT = np.dtype([("number", np.int64), ("token", np.int64), ("begin", np.int64), ("end", np.int64)])
PHRASE = 8  # words
_AT_A_TIME = 1 << 18  # matches of items
_KEPT = ("position", "number", "id", "id_is_text", "skipped")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Search:
    """What is looked for in documents, and how. ``others``: texts that are looked for in documents that match."""

    sought: SoughtTexts
    others: SoughtTexts | None
    shingling: Shingling
    key: bytes
    strict: bool
    measure: str  # "containment", "resemblance" or "ngram"
    threshold: float

    @property
    def width(self) -> int:
        """The tokens of a shingle."""
        assert self.shingling.width is not None
        return self.shingling.width

    @property
    def covers(self) -> int:
        """How many shingles of a passage are more than a phrase, so that a match of as many makes none common; 0: none."""
        words = max(2, PHRASE + 2 - self.width)
        return 0 if self.measure == "ngram" else words if self.shingling.unit == "word" else self.width


def matched_schema(documents: pa.Schema) -> pa.Schema:
    """Return the columns of documents with what may match: passages, hits, common candidates and other texts as bytes."""
    return _with(documents, ("tokens", "shingles"), ("passages", "hits", "outside", "also"))


def judged_schema(documents: pa.Schema) -> pa.Schema:
    """Return the columns of judged documents: how many items each has; MATCH, pieces of the text, and other texts as bytes."""
    return _with(documents, ("n",), ("matches", "pieces", "also"))


def _with(documents: pa.Schema, counts: tuple[str, ...], data: tuple[str, ...]) -> pa.Schema:
    kept = [documents.field(name) for name in _KEPT if name in documents.names]
    fields = [pa.field(name, pa.int64()) for name in counts] + [pa.field(name, pa.large_binary()) for name in data]
    return pa.schema([*kept, *fields])


def match_documents(rows: Batches, *, search: Search) -> Batches:
    """Find the passages that documents have, common or not, and where they are."""
    hashing = KeyedHashes(search.shingling, search.key)
    for batch in rows:
        texts = from_arrow_array(batch.column("text"))
        for begin, end in texts.cut():
            yield _matched(batch.slice(begin, end - begin), texts.slice(begin, end), search, hashing)


def _matched(piece: pa.RecordBatch, texts: Texts, search: Search, hashing: KeyedHashes) -> pa.RecordBatch:
    try:
        parts = list(_in_turn(texts, search, hashing))
    except InputDataError as error:
        raise row_error(piece, error) from error.__cause__
    n = len(piece)
    tokens, shingles, rows, passages, hit_rows, hits, outside_rows, outside = map(np.concatenate, zip(*parts, strict=True))
    chosen, also = _distinct(rows), (np.empty(0, np.int64), np.empty(0, np.int64))
    if len(chosen):
        some = concatenate([texts.slice(row, row + 1) for row in chosen.tolist()])
        first = hits["token"]
        last = first + search.sought.tokens[hits["number"]] - 1
        hits["begin"], hits["end"] = search.shingling.places(some, np.searchsorted(chosen, hit_rows), first, last)
        if search.others is not None:
            also = _others(some, search.others, search.threshold, hashing)
            also = chosen[also[0]], also[1]
    made = {
        "tokens": to_arrow(tokens), "shingles": to_arrow(shingles), "passages": _bytes(rows, passages, n),
        "hits": _bytes(hit_rows, hits, n), "outside": _bytes(outside_rows, outside, n), "also": _bytes(*also, n),
    }  # fmt: skip
    return extend_batch(piece, made, matched_schema(piece.schema))


def _distinct(values: Int64Array) -> Int64Array:
    """Return the distinct values, ascending; quick where they nearly ascend, which ``numpy.unique`` is not."""
    values = np.sort(values, kind="stable")
    return values[starts_of(values, None)]


def _in_turn(texts: Texts, search: Search, hashing: KeyedHashes) -> Iterator[tuple[NDArray[Any], ...]]:
    """Yield, of some texts after the other: tokens and distinct shingles of each; row and passage of matches; row and hit, in
    matches; row and number of shingles outside of them."""
    sought, first = search.sought, 0
    yield (*np.empty((6, 0), np.int64)[:5], np.empty(0, _HIT), *np.empty((2, 0), np.int64))
    for found in sought.find(hashing, texts, search.strict):
        n, shingles, hits = len(found.tokens), np.zeros(len(found.tokens), np.int64), found.hits
        rows, passages, both, needed, outside = sought.passages.match(hits, n, search.threshold, search.covers)
        if len(rows):
            chosen = _distinct(rows)
            shingles[chosen] = found.distinct(chosen)
        if search.measure == "resemblance":
            reached = both / (shingles[rows] + sought.passages.sizes[passages] - both) >= search.threshold
            rows, passages = rows[reached], passages[reached]
        kept = np.zeros(int(needed.sum()), _HIT)
        kept["number"], kept["token"] = hits.numbers[needed], hits.tokens[needed]
        others = hits.numbers[outside].astype(np.int64)
        yield (
            found.tokens,
            shingles,
            first + rows,
            passages,
            first + hits.rows[needed],
            kept,
            first + hits.rows[outside],
            others,
        )
        first += n


def _others(texts: Texts, others: SoughtTexts, threshold: float, hashing: KeyedHashes) -> tuple[Int64Array, Int64Array]:
    """Return (row, text) of the other texts that some documents have."""
    parts, first = [(np.empty(0, np.int64), np.empty(0, np.int64))], 0
    for found in others.find(hashing, texts):
        rows, passages, *_ = others.passages.match(found.hits, len(found.tokens), threshold)
        parts.append((first + rows, others.passages.document[passages]))
        first += len(found.tokens)
    rows, there = (np.concatenate(column) for column in zip(*parts, strict=True))
    return rows, there


def _bytes(rows: Int64Array, values: NDArray[Any], n: int) -> pa.Array:
    """Return values as bytes, those of each of ``n`` rows together; rows ascend."""
    bounds = np.searchsorted(rows, np.arange(n + 1)) * values.dtype.itemsize
    return Texts(np.ascontiguousarray(values).view(np.uint8), bounds.astype(np.int64)).column()


def _values(batch: pa.RecordBatch, name: str, dtype: Any = np.int64) -> tuple[Int64Array, NDArray[Any]]:
    """Return (where those of each row begin, values) of a column of bytes."""
    texts, dtype = from_arrow_array(batch.column(name)), np.dtype(dtype)
    found = np.frombuffer(texts.content, dtype)
    return (texts.offsets - texts.offsets[0]) // dtype.itemsize, found if found.flags.aligned else found.copy()


def matches_of(batch: pa.RecordBatch) -> tuple[Int64Array, NDArray[Any]]:
    """Return (where the matches of each document begin, all matches) of judged documents."""
    return _values(batch, "matches", MATCH)


def also_in(batch: pa.RecordBatch) -> Ragged:
    """Return the other texts that documents have."""
    return Ragged(*_values(batch, "also"))


def pieces_of(batch: pa.RecordBatch) -> pa.Array:
    """Return the pieces of each document that are in references: begin, end, begin, end, ... in bytes, ascending."""
    bounds, values = _values(batch, "pieces")
    return pa.LargeListArray.from_arrays(to_arrow(bounds), to_arrow(values)).cast(pa.list_(pa.int64()))


def _add_outside(total: NDArray[Any], batch: pa.RecordBatch) -> None:
    total += np.bincount(_values(batch, "outside")[1], minlength=len(total))


def outside(n: int) -> Total:
    """In how many documents each of n shingles is for which it may be common."""
    return Total(_add_outside, n)


def judge_documents(rows: Batches, *, search: Search, commonplace: NDArray[np.bool_], items: Items) -> Batches:
    """Keep what reaches the threshold by shingles that are not common, of each text the best passage, the best first."""
    for batch in rows:
        yield _judged(batch, search, commonplace, items)


def _judged(batch: pa.RecordBatch, search: Search, commonplace: NDArray[np.bool_], items: Items) -> pa.RecordBatch:
    known, n = search.sought.passages, len(batch)
    bounds, chosen = _values(batch, "passages")
    hit_bounds, hits = _values(batch, "hits", _HIT)
    rows = np.repeat(np.arange(n), np.diff(bounds))
    found = tuple(np.ascontiguousarray(hits[name]) for name in _HIT.names or ())
    least = 0.0 if search.measure == "resemblance" else search.threshold
    out, parts = judge_matches(hit_bounds, found, bounds, chosen, known.lists, commonplace, least, 2 * search.width - 1)
    stands = out[:, 0] >= 0
    rows, chosen, both = rows[stands], chosen[stands], out[stands, 2]
    sizes, tokens, shingles = known.sizes[chosen], ints(batch, "tokens")[rows], ints(batch, "shingles")[rows]
    containment, resemblance = both / sizes, both / (shingles + sizes - both)
    first = known.lists.members[known.lists.bounds[chosen]]
    short = search.sought.tokens[first] < search.width
    resemblance = np.where(short, tokens == search.sought.tokens[first], resemblance)
    scores = (resemblance, containment) if search.measure == "resemblance" else (containment, resemblance)
    order = known.best(rows, chosen, *scores)
    matches = np.empty(len(order), MATCH)
    columns = (chosen, resemblance, containment, *out[stands, :2].T)
    for name, values in zip(MATCH.names or (), columns, strict=True):
        matches[name] = values[order]
    rows = rows[order]
    counts = np.bincount(rows, items.of_text.sizes[known.document[matches["passage"]]], n).astype(np.int64)
    also = _values(batch, "also")
    kept = np.repeat(counts > 0, np.diff(also[0]))
    made = {
        "n": to_arrow(counts), "matches": _bytes(rows, matches, n), "pieces": _bytes(*_pieces(hit_bounds, found[2], parts), n),
        "also": _bytes(np.repeat(np.arange(n), np.diff(also[0]))[kept], also[1][kept], n),
    }  # fmt: skip
    return extend_batch(batch, made, judged_schema(batch.schema))


def _pieces(bounds: Int64Array, begins: Int64Array, parts: Int64Array) -> tuple[Int64Array, Int64Array]:
    """Return (rows, begin, end, begin, end, ...) of pieces of all matches of documents, put together where they meet."""
    linked = np.cumsum(parts[:, 0]) > 0
    before = np.concatenate([[False], linked[:-1]])[: len(linked)]
    rows = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    firsts = np.flatnonzero(((parts[:, 1] > 0) | linked) & ~before)
    if not len(firsts):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    ends, begins, rows = np.maximum.reduceat(parts[:, 1], firsts), begins[firsts], rows[firsts]
    far = int(ends.max()) + 1
    reached = np.maximum.accumulate(ends + rows * far)
    apart = np.concatenate([[True], begins[1:] + rows[1:] * far > reached[:-1]])
    firsts = np.flatnonzero(apart)
    ends = np.maximum.reduceat(ends, firsts)
    return np.repeat(rows[firsts], 2), np.stack([begins[firsts], ends], 1).ravel()


def expanded(
    batch: pa.RecordBatch, documents: Int64Array, items: Items
) -> Iterator[tuple[pa.RecordBatch, Int64Array, Int64Array, Int64Array]]:
    """Yield (documents, match, document, item) of all items of their matches, some documents at a time. ``documents``: the text
    of each passage."""
    sums, begin = np.cumsum(ints(batch, "n")), 0
    while begin < len(batch):
        end = max(begin + 1, int(np.searchsorted(sums, _AT_A_TIME + (sums[begin - 1] if begin else 0), side="right")))
        some = batch.slice(begin, end - begin)
        bounds, found = matches_of(some)
        which, item = items.of_text.take(documents[found["passage"]])
        yield some, which, np.repeat(np.arange(len(some)), np.diff(bounds))[which], item
        begin = end


def _add_benchmarks(total: NDArray[Any], batch: pa.RecordBatch, documents: Int64Array, items: Items) -> None:
    n, m = len(items.benchmark), items.n_benchmarks
    for some, _, rows, item in expanded(batch, documents, items):
        total[:n] += np.bincount(item, minlength=n)
        pairs = _distinct(rows * m + items.benchmark[item])
        total[n : n + m] += np.bincount(pairs % max(m, 1), minlength=m)
        for number, share in enumerate(items.shares(rows, item, also_in(some))):
            begin = n + m + number * n
            total[begin : begin + n] += np.bincount(item[share == 1.0], minlength=n)


def of_benchmarks(documents: Int64Array, items: Items) -> Total:
    """In how many documents each item is; how many have one of each benchmark; and how many have an item and all of each of
    its other fields."""
    n = len(items.benchmark) * (1 + len(items.fields)) + items.n_benchmarks
    return Total(partial(_add_benchmarks, documents=documents, items=items), n)
