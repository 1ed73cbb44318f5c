"""Pairs divided into what is compared at one time: connected documents, together in one bundle."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ... import core
from ...files.workspace import Workspace
from ...values import Int64Array
from ...values.arrays import places_of, runs
from ...values.arrow import to_arrow
from ..engine import Batches, Table
from ..progress import WorkProgress
from .tables import LazyTable, Piece, arrays_of, inverse

GROUP_BYTES = 2 << 20
PAIRED = "paired"
SizesOf = Callable[[NDArray[Any]], Int64Array]
_BLOCK = 1 << 16
CLOSED = pa.schema([("bundle", pa.int64()), ("order", pa.int64()), ("partners", pa.large_list(pa.int64()))])


class WholeComponents(LazyTable):
    """Bundles of whole components, and which orders are in one (``present``)."""

    present: NDArray[np.bool_]


def find_roots(pairs: Table, n: int) -> Int64Array:
    """Return for each order the smallest one that it is connected with."""
    parents = np.arange(n)
    for batch in pairs.batches():
        arrays = arrays_of(batch)
        core.join_pairs(arrays["left"], arrays["right"], parents)
    core.find_roots(parents)
    return parents


def connected_documents(roots: Int64Array) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the orders that are connected with others, ascending, and the root of each, both in few bytes."""
    there = np.empty(len(roots), np.bool_)
    for begin in range(0, len(roots), _BLOCK):
        some = roots[begin : begin + _BLOCK]
        np.not_equal(some, np.arange(begin, begin + len(some)), out=there[begin : begin + _BLOCK])
    for begin in range(0, len(roots), _BLOCK):  # a root is no larger than its own; what was set before is set again
        some = roots[begin : begin + _BLOCK]
        there[some[there[begin : begin + _BLOCK]]] = True
    orders = places_of(there)
    return orders, roots.astype(orders.dtype)[there]


def component_groups(roots: Int64Array, sizes: Int64Array) -> Iterator[tuple[int, int]]:
    """Yield the bounds of groups of whole components, each of about ``GROUP_BYTES``, the largest first."""
    starts = np.flatnonzero(np.diff(roots, prepend=-1))
    if not len(starts):
        return
    weights = np.add.reduceat(sizes, starts)
    group = (np.cumsum(weights) - weights) // GROUP_BYTES
    fresh = np.flatnonzero(np.diff(group, prepend=-1))
    bounds = np.append(starts[fresh], len(roots))
    total = np.add.reduceat(weights, fresh)
    for g in np.argsort(-total, kind="stable").tolist():  # the largest first: started last, it would finish last
        yield int(bounds[g]), int(bounds[g + 1])


class Partners:
    """The earlier partners of some members, ascending, of all pairs of these or of more."""

    def __init__(self, members: Int64Array, left: Int64Array, right: Int64Array) -> None:
        if int(right.max(initial=0)) < 1 << 31:
            packed = right << 32 | left  # one array of integers sorts faster than an index
            packed = packed[: core.sort_distinct(packed)]
            self._left, right = packed & 0xFFFFFFFF, packed >> 32
        else:
            order = np.lexsort((left, right))
            self._left, right = left[order], right[order]
        by_order = np.argsort(members, kind="stable")
        begins, ends = (np.searchsorted(right, members[by_order], side) for side in ("left", "right"))
        place = inverse(by_order)
        self._begins, self._sizes = begins[place], (ends - begins)[place]

    def of(self, begin: int, end: int) -> pa.Array:
        """Return the partners of members in a row, a list for each."""
        sizes = self._sizes[begin:end]
        bounds = np.concatenate([[0], np.cumsum(sizes)])
        places = np.repeat(self._begins[begin:end] - bounds[:-1], sizes) + np.arange(bounds[-1])
        return pa.LargeListArray.from_arrays(to_arrow(bounds), to_arrow(self._left[places]))


def make_bundles(members: Int64Array, roots: Int64Array, partners: Partners, begin: int, end: int) -> Batches:
    """Make the bundles of one group of members, which come by bundle and then by order."""
    columns = [to_arrow(roots[begin:end]), to_arrow(members[begin:end]), partners.of(begin, end)]
    yield pa.RecordBatch.from_arrays(columns, schema=CLOSED)


def all_pairs(pairs: Table, number: int) -> list[Int64Array]:
    """Return all pairs, which are in memory: left, right."""
    parts = [arrays_of(batch) for batch in pairs.batches()]
    none = [np.empty(0, np.int64)]
    return [np.concatenate(none + [part[side] for part in parts]) for side in ("left", "right")]


class ComponentPartitions:
    """Connected documents, component by component, in partitions of about ``most`` bytes of text.

    A component of more than ``whole`` bytes is a partition of its own, from ``n_closed`` on, and left out of ``present``.
    """

    def __init__(
        self, orders: NDArray[Any], roots: NDArray[Any], n: int, sizes_of: SizesOf, most: int, whole: int,
    ) -> None:  # fmt: skip
        by_root = np.argsort(roots, kind="stable")
        self.orders, self.roots = orders[by_root], roots[by_root]
        starts = np.flatnonzero(np.diff(self.roots.astype(np.int64), prepend=-1))
        weights = np.add.reduceat(sizes_of(self.orders), starts) if len(starts) else np.empty(0, np.int64)
        closed = weights <= min(most, whole)
        light = np.where(closed, weights, 0)
        number = (np.cumsum(light) - light) // most
        number = np.unique(number[closed], return_inverse=True)[1]
        self.largest = int(weights.max(initial=0))
        self.n_bytes = int(light.sum())
        self._firsts = np.append(starts[closed][np.diff(number, prepend=-1) > 0], len(by_root))
        self.n_closed = len(self._firsts) - 1
        of_component = np.empty(len(weights), np.int32)
        of_component[closed] = number
        of_component[~closed] = self.n_closed + np.arange(len(closed) - closed.sum())
        self.of_order = np.full(n, -1, np.int32)
        self.of_order[self.orders] = np.repeat(of_component, np.diff(np.append(starts, len(by_root))))
        self.present = (self.of_order >= 0) & (self.of_order < self.n_closed)

    def of_rows(self, place: NDArray[Any] | None) -> NDArray[np.int32]:
        """Return the partition of each row, given their orders (None: their numbers); -1: it is in none."""
        return self.of_order if place is None else self.of_order[place]

    def members(self, number: int) -> tuple[Int64Array, Int64Array]:
        """Return (orders, roots) of one partition, by root and then by order."""
        some = slice(*self._firsts[number : number + 2])
        orders, roots = self.orders[some], self.roots[some]
        own = self.of_order[orders] == number
        return orders[own].astype(np.int64), roots[own].astype(np.int64)

    def sort_pairs(self, pairs: Table, workspace: Workspace) -> None:
        """Write all pairs of closed partitions once more, sorted by partition; a batch is a part."""
        done = len(workspace.numbered_names(PAIRED))
        for batch in islice(pairs.batches(), done, None):
            arrays = arrays_of(batch)
            partition = self.of_order[arrays["left"]]
            order = np.argsort(partition, kind="stable")
            out: dict[str, NDArray[Any]] = {}
            for begin, end in runs(partition[order]):
                some = order[begin:end]
                number = int(partition[some[0]])
                if number < self.n_closed:
                    out |= {f"left-{number}": arrays["left"][some], f"right-{number}": arrays["right"][some]}
            workspace.append(PAIRED, out)

    def pairs(self, workspace: Workspace, number: int) -> list[Int64Array]:
        """Return the pairs of one partition: left, right."""
        parts, none = map(workspace.get, workspace.numbered_names(PAIRED)), [np.empty(0, np.int64)]
        own = [part for part in parts if f"left-{number}" in part]
        return [np.concatenate(none + [part[f"{side}-{number}"] for part in own]) for side in ("left", "right")]

    def pieces(
        self, read: Callable[[int], list[Int64Array]], sizes_of: SizesOf, counting: Callable[[], WorkProgress], mark: int
    ) -> Iterator[Piece]:  # fmt: skip
        """Yield the bundles of all closed partitions, group by group, and count their bytes of text."""
        done, counted = 0, counting()
        for number in range(self.n_closed):
            members, roots = self.members(number)
            sizes, partners = sizes_of(members), None
            for begin, end in component_groups(roots, sizes):
                done += 1
                counted.add(int(sizes[begin:end].sum()))
                if done > mark:
                    partners = partners or Partners(members, *read(number))
                    yield Piece(partial(make_bundles, members, roots, partners, begin, end), done)
        counted.end()
