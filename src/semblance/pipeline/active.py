"""Which documents enter the search, and in what order they are judged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..files.store import Workspace
from ..values import Int64Array, UInt64Array
from .documents import Documents

EXACT = "exact"


def keep_order(documents: Documents, policy: str) -> Int64Array | None:
    """Return the place of each row in keep order (reference documents, then by policy, then by input); None: its own."""
    if policy == "first":
        return None
    n = len(documents)
    rows = np.arange(n)
    later = rows >= documents.n_reference
    name = policy.partition(":")[0]
    if name == "last":
        value = -rows
    elif name in ("longest", "shortest"):
        sizes = documents.column("sizes")
        value = sizes if name == "shortest" else -sizes
    else:
        assert documents.order_values is not None
        ranks = documents.order_values
        value = np.where(ranks < 0, np.iinfo(np.int64).max, ranks if name == "smallest" else -ranks)
    place = np.empty(n, np.int64)
    place[np.lexsort((rows, np.where(later, value, rows), later))] = rows
    return place


@dataclass(frozen=True, slots=True, eq=False)
class Active:
    """The documents that enter the search: one of each set of equal texts, none empty, in keep order.

    Parameters
    ----------
    rows : ndarray of int64, shape (n_active,)
        Their rows among all documents; their places in this array are their *positions*.
    n_reference : int
        How many of them, at the front, are reference documents.
    n_empty : int
        Documents without any token, reference documents left out.
    workspace : Workspace
        Where the representatives lie.
    """

    rows: Int64Array
    n_reference: int
    n_empty: int
    workspace: Workspace

    @property
    def representative(self) -> Int64Array:
        """For each document the row that stands for its set of equal texts; its own row where it is alone or empty."""
        return self.workspace.get(EXACT)["representative"]


def _repeated(high: UInt64Array) -> Int64Array:
    """Return the places of values that are there several times, equal ones together."""
    order = np.argsort(high, kind="stable")
    same = high[order[1:]] == high[order[:-1]]
    several = np.zeros(len(high), np.bool_)
    several[1:] |= same
    several[:-1] |= same
    return order[several]


def collapse(documents: Documents, place: Int64Array | None, memory: int, apart: bool = False) -> Active:
    """Group documents whose bytes are equal; the first in keep order stands for its group.

    With ``apart`` no group holds both reference documents and others: each then has its own pairs.

    Digests are gone through in as many passes as fit so many bytes of memory: those of one pass begin alike.
    """
    n = len(documents)
    representative = np.arange(n)
    enters = np.ones(n, np.bool_)
    passes = max(1, -(-64 * n // memory))
    for number in range(passes):
        parts = []
        for first, (digests, empty, *groups) in documents.columns("digests", "empty", *_group_column(documents)):
            if number == 0:
                enters[first : first + len(empty)] = ~empty
            chosen = ~empty & ((digests[:, 0] >> np.uint64(32)) * np.uint64(passes) >> np.uint64(32) == number)
            group = groups[0][chosen] if groups else np.zeros((int(chosen.sum()), 0), np.uint64)
            rows = first + np.flatnonzero(chosen)
            if apart:
                group = np.column_stack([group, rows < documents.n_reference])
            parts.append((rows, digests[chosen, 0], digests[chosen, 1], group))
        rows, high, low, group = (np.concatenate(column) for column in zip(*parts, strict=True))
        some = _repeated(high)
        rows, high, low, group = rows[some], high[some], low[some], group[some]
        order = np.lexsort((rows if place is None else place[rows], *group.T, low, high))
        rows, high, low, group = rows[order], high[order], low[order], group[order]
        begins = np.ones(len(rows), np.bool_)
        begins[1:] = (high[1:] != high[:-1]) | (low[1:] != low[:-1]) | (group[1:] != group[:-1]).any(1)
        leader = rows[np.maximum.accumulate(np.where(begins, np.arange(len(rows)), 0))]
        representative[rows] = leader
    n_empty = int((~enters[documents.n_reference :]).sum())
    enters &= representative == np.arange(n)
    active = np.flatnonzero(enters)
    if place is not None:
        active = active[np.argsort(place[active], kind="stable")]
    if EXACT not in documents.workspace:
        documents.workspace.put(EXACT, {"representative": representative})
    return Active(active, int((active < documents.n_reference).sum()), n_empty, documents.workspace)


def _group_column(documents: Documents) -> tuple[str, ...]:
    return ("groups",) if "groups" in documents.workspace.get(documents.parts[0]) else ()
