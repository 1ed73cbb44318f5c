"""Candidate documents, divided so that those that may be compared lie together and fit the memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..files.store import Workspace
from ..kernels import banding as kernel
from ..search.candidates import BandLinks, Candidates, collect_links
from ..values import Int64Array
from ..values.arrays import runs

LINKS, PAIRED = "links", "paired"


@dataclass(frozen=True, slots=True, eq=False)
class Partition:
    """Whole components of candidate documents: their positions, ascending, and their links in places among these.

    Of a single component that is too large its ``slices`` are given, and what reads the pairs whose right row is in one.
    """

    number: int
    positions: Int64Array
    candidates: Candidates
    slices: list[tuple[int, int]] | None = None
    load_pairs: Callable[[int], tuple[Int64Array, Int64Array]] | None = None


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
    slice_bytes : int
        Bytes of the slices in which a larger component is compared.
    """

    def __init__(self, roots: Int64Array, sizes_of: Callable[[Int64Array], Int64Array], most: int, slice_bytes: int) -> None:
        linked = roots != np.arange(len(roots))
        linked[roots[linked]] = True
        positions = np.flatnonzero(linked)
        order = np.argsort(roots[positions], kind="stable")
        starts = np.flatnonzero(np.diff(roots[positions[order]], prepend=-1))
        sizes = sizes_of(positions)
        weights = np.add.reduceat(sizes[order], starts) if len(starts) else np.empty(0, np.int64)
        of_component = _fill(weights, most)
        self.n_partitions = int(of_component[-1]) + 1 if len(of_component) else 0
        self.of_position = np.full(len(roots), -1, np.int32)
        lengths = np.diff(np.append(starts, len(order)))
        self.of_position[positions[order]] = np.repeat(of_component, lengths)
        self._positions = positions[np.argsort(self.of_position[positions], kind="stable")]
        counts = np.bincount(of_component, lengths, self.n_partitions).astype(np.int64)
        self._bounds = np.concatenate([[0], np.cumsum(counts)])
        self._slices = {
            number: runs(_before(sizes_of(self.positions(number))) // slice_bytes)
            for number in of_component[weights > most].tolist()
        }

    def is_sliced(self, number: int) -> bool:
        """Tell whether a partition is one component that is too large."""
        return number in self._slices

    def positions(self, number: int) -> Int64Array:
        """Return the positions of one partition, ascending."""
        return self._positions[self._bounds[number] : self._bounds[number + 1]]

    def sort_links(self, workspace: Workspace) -> None:
        """Write the links of all bands anew, sorted by partition."""
        links = workspace.numbered(LINKS)
        for name in links[len(workspace.numbered(PAIRED)) :]:
            link = workspace.get(name)
            arrays: dict[str, NDArray[Any]] = {}
            left, right, sizes, members = (link[name] for name in ("left", "right", "sizes", "members"))
            for number, places in self._split(left):
                for label, some in self._by_slice(number, right, places):
                    arrays |= {f"left-{label}": left[some], f"right-{label}": right[some]}
            firsts = np.cumsum(sizes) - sizes
            for number, buckets in self._split(members[firsts]):
                arrays[f"sizes-{number}"] = sizes[buckets]
                arrays[f"members-{number}"] = np.concatenate([members[firsts[b] : firsts[b] + sizes[b]] for b in buckets])
            workspace.append(PAIRED, arrays | {"band": link["band"]})

    def _split(self, positions: Int64Array) -> Iterator[tuple[int, Int64Array]]:
        """Yield (partition, places in an array of positions) of each partition that is there."""
        partition = self.of_position[positions]
        order = np.argsort(partition, kind="stable")
        for begin, end in runs(partition[order]):
            yield int(partition[order[begin]]), order[begin:end]

    def _by_slice(self, number: int, right: Int64Array, places: Int64Array) -> Iterator[tuple[str, Int64Array]]:
        """Yield (label, places) of the pairs of a partition, or of each slice of one that is a single large component."""
        if number not in self._slices:
            yield str(number), places
            return
        firsts = self.positions(number)[[begin for begin, _ in self._slices[number]]]
        of_slice = np.searchsorted(firsts, right[places], side="right") - 1
        order = np.argsort(of_slice, kind="stable")
        for begin, end in runs(of_slice[order]):
            yield f"{number}.{of_slice[order[begin]]}", places[order[begin:end]]

    @staticmethod
    def _pairs(workspace: Workspace, positions: Int64Array, label: str) -> tuple[Int64Array, Int64Array]:
        """Read pairs, in places among positions; those that several bands hold come once."""
        codes = np.empty(0, np.int64)
        for name in workspace.numbered(PAIRED):
            part = workspace.get(name)
            if f"left-{label}" in part:
                left, right = (np.searchsorted(positions, part[f"{side}-{label}"]) for side in ("left", "right"))
                codes = np.union1d(codes, left * len(positions) + right)
        return codes // len(positions), codes % len(positions)

    def load(self, workspace: Workspace, number: int) -> Partition:
        """Read the links of one partition."""
        positions = self.positions(number)
        links = []
        none = np.empty(0, np.int64)
        for name in workspace.numbered(PAIRED):
            part = workspace.get(name)
            sizes, members = (part.get(f"{name}-{number}", none) for name in ("sizes", "members"))
            links.append(BandLinks(int(part["band"][0]), none, none, sizes, np.searchsorted(positions, members)))
        found = collect_links(links, np.arange(len(positions)))
        if number in self._slices:
            load = partial(self._slice_pairs, workspace, number)
            return Partition(number, positions, found, self._slices[number], load)
        left, right = self._pairs(workspace, positions, str(number))
        kernel.join_pairs(left, right, found.roots)
        firsts = np.repeat(found.bucket_members[found.bucket_offsets[:-1]], np.diff(found.bucket_offsets))
        kernel.join_pairs(firsts, found.bucket_members, found.roots)
        kernel.find_roots(found.roots)
        return Partition(number, positions, replace(found, left=left, right=right))

    def _slice_pairs(self, workspace: Workspace, number: int, k: int) -> tuple[Int64Array, Int64Array]:
        return self._pairs(workspace, self.positions(number), f"{number}.{k}")


def _before(sizes: Int64Array) -> Int64Array:
    """Sum of the sizes before each."""
    return np.asarray(np.cumsum(sizes) - sizes, np.int64)


def _fill(weights: Int64Array, most: int) -> Int64Array:
    """Number runs of weights so that each run has about ``most``; a weight beyond that is alone."""
    before = _before(weights)
    heavy = weights > most
    fresh = np.diff(before // most, prepend=0) > 0
    fresh |= heavy
    fresh[1:] |= heavy[:-1]
    return np.cumsum(fresh) - int(fresh[0]) if len(weights) else np.empty(0, np.int64)
