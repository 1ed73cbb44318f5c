"""Items that documents may contain: their distinct texts, and which of them a text is of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np

from ..core import fill_filter
from ..core.scratch import scratch
from ..text.hashes import KeyedHashes
from ..text.texts import Texts
from ..values import Float64Array, Int64Array, UInt64Array, drop_repeats
from ..values.arrays import expand_counts
from .passages import Hits, Passages


@dataclass(slots=True)
class DistinctTexts:
    """Texts as shingle hashes, equal ones once; those of fewer tokens than ``least`` are counted and left out."""

    least: int
    pairs: bool  # short ones are looked for by the two tokens that they begin with, not by one
    values: list[UInt64Array] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    begun: list[int] = field(default_factory=list)
    n_values: int = 0
    _known: dict[bytes, int] = field(default_factory=dict)

    def add(self, hashing: KeyedHashes, texts: Texts, strict: bool) -> tuple[Int64Array, Int64Array]:
        """Add some texts; return the number of each, -1 if it is left out, and how many tokens each has."""
        numbers, sizes = [], [np.empty(0, np.int64)]
        for offsets, keys in hashing.rows(texts, strict=strict):
            values = np.empty(len(keys), np.uint64)
            bounds, begun = hashing.values(offsets, keys, values), hashing.begun(offsets, keys, self.pairs)
            sizes.append(np.diff(offsets))
            for row, n_tokens in enumerate(sizes[-1].tolist()):
                if n_tokens < self.least:
                    numbers.append(-1)
                    continue
                own = values[bounds[row] : bounds[row + 1]]
                number = self._known.setdefault(blake2b(own.tobytes(), digest_size=16).digest(), len(self.values))
                if number == len(self.values):
                    self.values.append(own.copy())
                    self.tokens.append(n_tokens)
                    self.begun.append(int(begun[row]))
                    self.n_values += len(own)
                numbers.append(number)
        return np.array(numbers, np.int64), np.concatenate(sizes)


@dataclass(frozen=True, slots=True, eq=False)
class SoughtTexts:
    """Texts that are looked for in documents, in passages; those shorter than a shingle as a whole.

    ``tokens``: of each shingle. ``short``: lengths of short texts, ascending; ``known``: a filter of what they begin with.
    """

    passages: Passages
    tokens: Int64Array
    short: Int64Array
    known: UInt64Array
    pairs: bool

    @classmethod
    def of(cls, texts: DistinctTexts, width: int, passage: int | None, threshold: float, inside: bool = True) -> SoughtTexts:
        """Prepare a search. ``width``: of shingles; ``inside``: short texts are looked for in longer ones."""
        offsets = np.concatenate([[0], np.cumsum([len(some) for some in texts.values])]).astype(np.int64)
        passages = Passages.of(np.concatenate([np.empty(0, np.uint64), *texts.values]), offsets, passage, threshold)
        sizes, begun = np.array(texts.tokens, np.int64), np.array(texts.begun, np.uint64)
        short = sizes < width
        tokens = np.full(passages.n_shingles, width)
        of_short = short[passages.document]
        tokens[passages.lists.members[passages.lists.bounds[:-1][of_short]]] = sizes[passages.document[of_short]]
        known = fill_filter(begun[short])
        return cls(passages, tokens, np.unique(sizes[short]) if inside else np.empty(0, np.int64), known, texts.pairs)

    def find(self, hashing: KeyedHashes, texts: Texts, strict: bool = False) -> Iterator[TextHits]:
        """Yield what is found in some texts after the other."""
        for offsets, keys in hashing.rows(texts, strict=strict):
            values = scratch("values", len(keys), np.uint64)
            bounds = hashing.values(offsets, keys, values)
            hits = self.passages.find(values[: bounds[-1]], bounds)
            if len(self.short):
                places, others = hashing.short(offsets, keys, self.short, self.pairs, self.known)
                hits = Hits.together([hits, self.passages.find(others, offsets, places)])
            yield TextHits(hits, np.diff(offsets), values, bounds)


@dataclass(frozen=True, slots=True, eq=False)
class TextHits:
    """What is found in some texts: hits, in order; how many tokens each text has; their shingles, as long as no others come."""

    hits: Hits
    tokens: Int64Array
    values: UInt64Array
    bounds: Int64Array

    def distinct(self, rows: Int64Array) -> Int64Array:
        """Return how many distinct shingles some texts have."""
        some = [self.values[begin:end] for begin, end in zip(self.bounds[rows], self.bounds[rows + 1], strict=True)]
        offsets = np.concatenate([[0], np.cumsum([len(one) for one in some])])
        return np.diff(drop_repeats(np.concatenate(some), offsets)[1])


@dataclass(frozen=True, slots=True, eq=False)
class Ragged:
    """Rows of numbers, as many in each as there are."""

    offsets: Int64Array
    values: Int64Array

    @classmethod
    def of(cls, rows: Int64Array, values: Int64Array, n: int) -> Ragged:
        """Group values by the row of each; values of a row keep their order."""
        order = np.argsort(rows, kind="stable")
        return cls(np.searchsorted(rows[order], np.arange(n + 1)), values[order])

    @property
    def sizes(self) -> Int64Array:
        """How many each row has."""
        return np.diff(self.offsets)

    def take(self, rows: Int64Array) -> tuple[Int64Array, Int64Array]:
        """Return (place in ``rows``, value) of all values of some rows, in order."""
        which, place = expand_counts(self.sizes[rows])
        return which, self.values[self.offsets[rows][which] + place]


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """Which items a text is of (``of_text``), which other texts they have, field by field, and the benchmark of each."""

    of_text: Ragged
    fields: Sequence[Ragged]
    benchmark: Int64Array
    n_benchmarks: int

    def shares(self, rows: Int64Array, items: Int64Array, also: Ragged) -> list[Float64Array]:
        """Return, for each field, which share of an item's texts a document has (nan: it has none). ``also``: the other texts
        that each document has."""
        owner, has = also.take(np.arange(len(also.sizes)))
        most = int(max([has.max(initial=0), *(field.values.max(initial=0) for field in self.fields)])) + 1
        there, found = owner * most + has, []
        for one in self.fields:
            which, wanted = one.take(items)
            got = np.bincount(which[np.isin(rows[which] * most + wanted, there)], minlength=len(items))
            with np.errstate(invalid="ignore"):
                found.append(got / one.sizes[items])
        return found
