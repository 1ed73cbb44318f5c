"""Copies, which are documents of equal text, and sets of them; and documents that are one by their keys."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ..values import Int64Array
from ..values.arrays import expand_counts, runs
from ..values.arrow import to_arrow, to_numpy
from ..values.tables import KEY, LEADERS_AND_KEYS, MATCHES, REPRESENTATIVES
from .batches import DIGEST_BYTES, Batches, as_words, batch_of, flags, ints, ints_or
from .pairs import MEMBERS


def exact(rows: Batches, boundary: int, apart: bool = False, by: str = "digest") -> Batches:
    """Name the first document of each set of equal texts, or of equal ``by``, for all the others of it.

    With ``apart`` references, of orders below ``boundary``, and other documents form sets of their own. Documents that are
    ``empty`` are in no set; without that column, those whose digest is zeros.
    """
    before = (np.zeros(2, np.uint64), False)
    leader = -1
    for batch in rows:
        if not len(batch):
            continue
        digests, orders = as_words(batch.column(by), DIGEST_BYTES, np.uint64), ints(batch, "order")
        full = ~flags(batch, "empty") if "empty" in batch.schema.names else digests.any(1)
        digests, orders = digests[full], orders[full]
        if not len(orders):
            continue
        reference = (orders < boundary) & apart
        begins = np.empty(len(orders), np.bool_)
        begins[0] = leader < 0 or (digests[0] != before[0]).any() or reference[0] != before[1]
        begins[1:] = (digests[1:] != digests[:-1]).any(1) | (reference[1:] != reference[:-1])
        leaders = np.append(leader, orders[begins])[np.cumsum(begins)]
        before, leader = (digests[-1].copy(), bool(reference[-1])), int(leaders[-1])
        yield batch_of(REPRESENTATIVES, orders[~begins], leaders[~begins])


def link_empty_copies(rows: Batches, boundary: int) -> Batches:
    """Link the first reference and the first other of each text of which nothing counts: these are in no other pair."""
    last = -1
    for batch in exact((batch.filter(batch["empty"]).select(["digest", "order"]) for batch in rows), boundary):
        orders, leaders = ints(batch, "order"), ints(batch, "leader")
        mixed = (leaders < boundary) & (orders >= boundary)
        orders, leaders = orders[mixed], leaders[mixed]
        first = np.diff(leaders, prepend=last) != 0
        last = int(leaders[-1]) if len(leaders) else last
        yield batch_of(MATCHES, leaders[first], orders[first], np.ones(int(first.sum())))


def without_keys(rows: Batches, boundary: int, drop: bool) -> Batches:
    """Choose the documents without a key; with ``drop``, also empty ones that are no references."""
    for batch in rows:
        orders, none = ints(batch, "order"), ~as_words(batch.column(KEY), DIGEST_BYTES, np.uint64).any(1)
        if drop:
            none |= flags(batch, "empty") & (orders >= boundary)
        yield batch_of(MEMBERS, orders[none])


def by_key(rows: Batches, boundary: int) -> Batches:
    """Name the first document of each key, for all the others of it but references."""
    for batch in exact(rows, boundary, by=KEY):
        yield batch.filter(to_arrow(ints(batch, "order") >= boundary))


def follow_representatives(rows: Batches, boundary: int) -> Batches:
    """Replace documents that represent a key, and are copies, by their leaders; references stay."""
    for batch in rows:
        first = ints(batch, "leader")
        leader = np.where(first < boundary, first, ints_or(batch, "leader_leader", -1))
        leader = np.where(leader < 0, first, leader)
        yield batch_of(LEADERS_AND_KEYS, ints(batch, "order"), leader, np.ones(len(batch), np.bool_))


def not_by_key(rows: Batches) -> Batches:
    """Say of copies that they are not removed by keys."""
    for batch in rows:
        yield batch_of(LEADERS_AND_KEYS, *batch.columns, np.zeros(len(batch), np.bool_))


_BITS = 40  # of an order
MADE = 1 << 20  # rows that are made at a time, about


@dataclass(frozen=True, slots=True, eq=False)
class Sets:
    """Sets of several documents each; a document in none of them is a set of its own."""

    heads: Int64Array  # the first document of each set, ascending
    members: Int64Array  # of all sets, set after set, each ascending
    bounds: Int64Array  # where the members of each set begin and end
    keys: Int64Array  # for each member the number of its set << 40 | itself

    @classmethod
    def of(cls, copies: Int64Array, firsts: Int64Array) -> Sets:
        """Return the sets of some copies, of which the first document is known."""
        heads = np.unique(firsts)
        members = np.concatenate([heads, copies])
        number = np.concatenate([np.arange(len(heads)), np.searchsorted(heads, firsts)])
        keys = np.sort((number << _BITS) | members)
        bounds = np.searchsorted(keys, np.arange(len(heads) + 1) << _BITS)
        return cls(heads, keys & ((1 << _BITS) - 1), bounds, keys)

    @property
    def sizes(self) -> Int64Array:
        """Documents in each set."""
        return np.diff(self.bounds)

    def _number(self, heads: Int64Array) -> Int64Array:
        """Return the number of the set of each first, -1 where it is alone."""
        if not len(self.heads):
            return np.full(len(heads), -1)
        place = np.minimum(np.searchsorted(self.heads, heads), len(self.heads) - 1)
        return np.where(self.heads[place] == heads, place, -1)

    def size_of(self, heads: Int64Array) -> Int64Array:
        """Return how many documents the sets of some firsts have."""
        number = self._number(heads)
        return np.where(number < 0, 1, np.append(self.sizes, 1)[number])

    def all_of(self, heads: Int64Array) -> tuple[Int64Array, Int64Array]:
        """Return the place of the first member of each set, and how many there are."""
        return self.bounds[np.maximum(self._number(heads), 0)], self.size_of(heads)

    def later(self, documents: Int64Array, heads: Int64Array) -> tuple[Int64Array, Int64Array]:
        """Return the place of the first member of each set after each document, and how many there are from there on."""
        number = self._number(heads)
        first = np.searchsorted(self.keys, (number << _BITS) | documents, side="right")
        counts = np.where(number < 0, heads > documents, self.bounds[number + 1] - first)
        return first, counts

    def members_from(self, heads: Int64Array, first: Int64Array, counts: Int64Array) -> Int64Array:
        """Return the members of sets from some places on."""
        within = expand_counts(counts)[1]
        alone = np.repeat(self._number(heads) < 0, counts)
        place = np.where(alone, 0, np.repeat(first, counts) + within)
        return np.where(alone, np.repeat(heads, counts), np.append(self.members, 0)[place])

    def own(self, boundary: int) -> pa.Table:
        """Return the pairs of each document with its own set; sets of references are left out."""
        sizes = self.sizes
        last = np.zeros(len(self.members), np.bool_)
        last[self.bounds[1:] - 1] = True
        wanted = ~last & np.repeat(self.heads >= boundary, sizes)
        left, right = self.members[wanted], np.repeat(self.heads, sizes)[wanted]
        return pa.Table.from_batches([batch_of(MATCHES, left, right, np.ones(len(left)))])


def ends(rows: Batches, sets: Sets) -> Batches:
    """Turn pairs of firsts into pairs of a document and a set that has later documents."""
    for batch in rows:
        left, right = ints(batch, "left"), ints(batch, "right")
        score = to_numpy(batch["score"]) if "score" in batch.schema.names else np.ones(len(batch))
        for one, other in ((left, right), (right, left)):
            total = np.cumsum(sets.size_of(one))
            for begin, end in runs(total // MADE):
                first, counts = sets.all_of(one[begin:end])
                members = sets.members_from(one[begin:end], first, counts)
                heads, scores = np.repeat(other[begin:end], counts), np.repeat(score[begin:end], counts)
                some = sets.later(members, heads)[1] > 0
                yield batch_of(MATCHES, members[some], heads[some], scores[some])
