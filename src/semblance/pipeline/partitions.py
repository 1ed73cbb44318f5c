"""Candidate documents, divided so that those that may be compared lie together and fit the memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..io.workspace import Workspace
from ..search.banding import BandLinks, Candidates, collect_links
from ..values import Int64Array
from ..values.arrays import runs

LINKS, PAIRED = "links", "paired"


@dataclass(frozen=True, slots=True, eq=False)
class Partition:
    """Whole components of candidate documents: their positions, ascending, and their links in places among these."""

    number: int
    positions: Int64Array
    candidates: Candidates


def store_links(workspace: Workspace, link: BandLinks) -> None:
    """Keep what some buckets came to."""
    arrays = {name: getattr(link, name) for name in ("left", "right", "sizes", "members")}
    workspace.append(LINKS, arrays | {"band": np.array([link.band])})


class Division:
    """All candidate documents, component by component, cut into partitions of about so many bytes of text.

    A component that is larger is a partition of its own.

    Parameters
    ----------
    roots : ndarray of int64, shape (n_active,)
        The smallest position that each is connected with.
    sizes_of : callable
        From positions, ascending, to bytes of text.
    most : int
        Bytes of a partition.
    """

    def __init__(self, roots: Int64Array, sizes_of: Callable[[Int64Array], Int64Array], most: int) -> None:
        linked = roots != np.arange(len(roots))
        linked[roots[linked]] = True
        self.positions = np.flatnonzero(linked)
        self.roots = roots[self.positions]
        self.sizes = sizes_of(self.positions)
        order = np.argsort(self.roots, kind="stable")
        starts = np.flatnonzero(np.diff(self.roots[order], prepend=-1))
        weights = np.add.reduceat(self.sizes[order], starts) if len(starts) else np.empty(0, np.int64)
        self.partition = np.empty(len(self.positions), np.int64)
        of_component = _fill(weights, most)
        self.partition[order] = np.repeat(of_component, np.diff(np.append(starts, len(order))))
        self.n_partitions = int(of_component[-1]) + 1 if len(of_component) else 0
        self.bytes_of = np.bincount(of_component, weights, self.n_partitions).astype(np.int64)
        self._by_partition = np.argsort(self.partition, kind="stable")
        self._bounds = np.searchsorted(self.partition[self._by_partition], np.arange(self.n_partitions + 1))

    def places(self, number: int) -> Int64Array:
        """Return the places, among all candidate documents, of one partition, ascending."""
        return self._by_partition[self._bounds[number] : self._bounds[number + 1]]

    def sort_links(self, workspace: Workspace) -> None:
        """Write the links of all bands anew, sorted by partition."""
        links = workspace.numbered(LINKS)
        for name in links[len(workspace.numbered(PAIRED)) :]:
            link = workspace.get(name)
            arrays: dict[str, NDArray[Any]] = {}
            left, right, sizes, members = (link[name] for name in ("left", "right", "sizes", "members"))
            for number, places in self._split(left):
                arrays |= {f"left-{number}": left[places], f"right-{number}": right[places]}
            firsts = np.cumsum(sizes) - sizes
            for number, buckets in self._split(members[firsts]):
                arrays[f"sizes-{number}"] = sizes[buckets]
                arrays[f"members-{number}"] = np.concatenate([members[firsts[b] : firsts[b] + sizes[b]] for b in buckets])
            workspace.append(PAIRED, arrays | {"band": link["band"]})

    def _split(self, positions: Int64Array) -> Iterator[tuple[int, Int64Array]]:
        """Yield (partition, places in an array of positions) of each partition that is there."""
        partition = self.partition[np.searchsorted(self.positions, positions)]
        order = np.argsort(partition, kind="stable")
        for begin, end in runs(partition[order]):
            yield int(partition[order[begin]]), order[begin:end]

    def load(self, workspace: Workspace, number: int) -> Partition:
        """Read the links of one partition; pairs that several bands hold come once."""
        places = self.places(number)
        positions = self.positions[places]
        links = []
        none = np.empty(0, np.int64)
        for name in workspace.numbered(PAIRED):
            part = workspace.get(name)
            left, right, sizes, members = (part.get(f"{name}-{number}", none) for name in ("left", "right", "sizes", "members"))
            links.append(BandLinks(int(part["band"][0]), left, right, sizes, np.searchsorted(positions, members)))
        joined = collect_links(links, np.searchsorted(positions, self.roots[places]))
        pairs = np.searchsorted(positions, joined.left) * len(positions) + np.searchsorted(positions, joined.right)
        pairs = np.unique(pairs)
        found = Candidates(pairs // len(positions), pairs % len(positions), joined.bucket_offsets, joined.bucket_members,
                           joined.bucket_bands, joined.roots, False)  # fmt: skip
        return Partition(number, positions, found)


def _fill(weights: Int64Array, most: int) -> Int64Array:
    """Number runs of weights so that each run has about ``most``; a weight beyond that is alone."""
    before = np.cumsum(weights) - weights
    heavy = weights > most
    fresh = np.diff(before // most, prepend=0) > 0
    fresh |= heavy
    fresh[1:] |= heavy[:-1]
    return np.cumsum(fresh) - int(fresh[0]) if len(weights) else np.empty(0, np.int64)
