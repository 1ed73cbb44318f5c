"""Documents read and sketched, with the ways to compare them and to decide: what ``dedup`` and ``pairs`` share."""

from __future__ import annotations

import logging
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import __version__
from ..errors import InputDataError, OutputError, ParameterError
from ..files.places import skipped_in
from ..files.store import Workspace
from ..formats.memory import as_sources
from ..formats.sources import Columns
from ..hashing import derive
from ..kernels import banding as banding_kernel
from ..search.candidates import BandLinks, Candidates, collect_links, link_bands
from ..sketches import FastSimilarity
from ..text.texts import Texts
from ..values import Int64Array, UInt32Array, UInt64Array
from .active import collapse, keep_order
from .apart import check_apart
from .clock import Clock
from .documents import PIECE_BYTES, Progress, read_batches, read_documents
from .held_texts import SpilledTexts, Spilling
from .memory import Memory
from .methods import Comparable
from .partitions import LINKS, PAIRED, Division, Partition
from .settings import Settings
from .verify import Material

_LOG = logging.getLogger("semblance")
COMPONENTS, DIVISION, TEXTS_DONE, VERIFIED = "components", "division", "texts-done", "verified"
SPILL_BYTES = 32 << 20
SAMPLED = 64


class Corpus:
    """A job's documents.

    Parameters
    ----------
    data, against
        What ``semblance.dedup`` takes.
    settings : Settings
    progress : callable
        Called with the name of a stage and an amount done since the last call.
    apart : bool
        A reference document does not stand for other documents with the same text.
    """

    def __init__(self, data: Any, against: Any, settings: Settings, progress: Progress, *, apart: bool = False) -> None:
        self.settings = settings
        self.progress = progress
        self.clock = Clock()
        self.memory = Memory.wanted(settings.memory)
        options = {"glob": settings.glob, "format": settings.format}
        sources = as_sources(data, **options)
        references = [] if against is None else as_sources(against, **options)
        check_apart(sources, references)
        self.closed = False
        self.skipped = skipped_in(sources, references)
        self._check_room([*references, *sources])
        self.workspace = self._open_workspace([*references, *sources], len(references))
        self.clock.lap("opening")
        self.documents = read_documents(sources, references, settings, self.workspace, self.memory, progress)
        self.clock.lap("reading and sketching")
        self.active = collapse(self.documents, keep_order(self.documents, settings.keep), self.memory.held, apart)
        self._candidates: Candidates | None = None
        self._division: Division | None = None
        self.clock.lap("exact duplicates")

    def _open_workspace(self, sources: list[Any], n_reference: int) -> Workspace:
        settings = self.settings
        identities = [source.identity() for source in sources]
        if settings.work is not None:
            for source, identity in zip(sources, identities, strict=True):
                if identity == {"name": "in memory"} or identity.get("read_once"):
                    raise ParameterError(
                        "a work folder is for inputs that can be read again after a crash: files, not values in memory, "
                        f"pipes or standard input; got {source.name}: save it to a file, or do without a work folder"
                    )
        job = {"semblance": __version__, "parameters": settings.to_dict(), "reference": n_reference, "inputs": identities}
        return Workspace(settings.work, job, settings.resume)

    def _check_room(self, sources: list[Any]) -> None:
        """Say what a job that is too large for the memory will need; refuse it where the disk has no room.

        Raises
        ------
        OutputError
            If what is to be known of each document does not fit the disk.
        """
        settings = self.settings
        some = sources[:: 1 + len(sources) // SAMPLED]  # of very many files some will do
        expected = [source.expected(settings.text) for source in some]
        n, size = (sum(column) * len(sources) // max(1, len(some)) for column in zip((0, 0), *expected, strict=True))
        record = 8 * settings.finder.n_keys + 4 * settings.finder.estimation_slots + 48
        if settings.work is None and size + n * record <= self.memory.held:
            return
        self.memory.check_documents(n // 3)  # the number is a guess; it is checked again when it is known
        try:
            folder = Path(settings.work or tempfile.gettempdir())
            place = next(p for p in (folder.absolute(), *folder.absolute().parents) if p.exists())
            room = shutil.disk_usage(place).free
            if settings.resume:
                room += sum(part.stat().st_size for part in folder.glob("*.part"))
        except OSError as error:
            where = settings.work or "the folder for temporary files (TMPDIR)"
            raise OutputError(f"{where}: cannot be used as work folder: {error.strerror or error}") from None
        surely, most = n * record, 2 * n * record + size
        said = (
            f"about {n:,} documents, {size / 1e9:,.1f} GB of text, with {self.memory.cap / 1e9:,.1f} GB of memory: "
            f"{surely / 1e9:,.1f} to {most / 1e9:,.1f} GB go to {folder}, which has {room / 1e9:,.1f} GB free"
        )
        if room < surely:
            raise OutputError(f"the disk is too small: {said}; pass --work (work=) with a folder on a larger one")
        _LOG.info(said)

    @property
    def in_memory(self) -> bool:
        """Whether all texts and what is known of them is held in memory."""
        return self.documents.held is not None

    def find(self, *, every_pair: bool, max_pairs: int | None = None) -> Candidates | None:
        """Find candidate pairs among the active documents; they are returned where all is in memory."""
        self.progress("finding candidates", 0)
        if COMPONENTS not in self.workspace:
            if self.settings.finder.name == "minhash" and not every_pair:
                self._link()
            else:
                self._find_at_once(every_pair, max_pairs)
        if not self.in_memory:
            self._divide()
        self.clock.lap("candidates")
        return self._candidates

    def _find_at_once(self, every_pair: bool, max_pairs: int | None) -> None:
        """Find all candidates in memory."""
        rows = self.active.rows
        groups = np.zeros(len(rows), np.uint64)
        if self.settings.within is not None:
            groups = self.documents.take("groups", rows)
        found = self.settings.finder.candidates(
            self.documents.keys(rows), groups, self.active.n_reference, every_pair, max_pairs, self.settings.n_threads
        )
        self._candidates = found
        if not self.in_memory:
            none = np.empty(0, np.int64)
            self.workspace.discard(LINKS)
            links = [BandLinks(0, found.left, found.right, none, none)]
            for band, (begin, end) in zip(found.bucket_bands.tolist(), pairwise(found.bucket_offsets.tolist()), strict=True):
                links.append(BandLinks(band, none, none, np.array([end - begin]), found.bucket_members[begin:end]))
            self._store(links, found.roots)

    def _store(self, links: Iterable[BandLinks], roots: Int64Array) -> None:
        """Put links into the workspace, and, when the last of them has come, what they come to."""
        for link in links:
            arrays = {name: getattr(link, name) for name in ("left", "right", "sizes", "members")}
            self.workspace.append(LINKS, arrays | {"band": np.array([link.band])})
        banding_kernel.find_roots(roots)
        self.workspace.put(COMPONENTS, {"roots": roots})

    def _read_key(self) -> Callable[[int], UInt64Array]:
        """Return what reads one key of all active documents from the disk."""
        rows, n = self.active.rows, len(self.active.rows)
        position = np.full(len(self.documents), -1, np.int64)
        position[rows] = np.arange(n)

        def read(band: int) -> UInt64Array:
            keys = np.empty((n, 1), np.uint64)
            for first, (part,) in self.documents.columns(f"key-{band:02}"):
                at = position[first : first + len(part)]
                keys[at[at >= 0], 0] = part[at >= 0]
            return keys

        return read

    def _known_links(self, parents: Int64Array) -> int:
        """Join what links of an earlier run connect; return the band to go on with, whose own links are removed."""
        names = self.workspace.numbered(LINKS)
        bands = [int(self.workspace.get(name)["band"][0]) for name in names]
        for name in reversed([name for name, band in zip(names, bands, strict=True) if band == bands[-1]]):
            self.workspace.discard(name)  # the last one first: a crash leaves no gap
        for name, band in zip(names, bands, strict=True):
            if band == bands[-1]:
                continue
            link = self.workspace.get(name)
            banding_kernel.join_pairs(link["left"], link["right"], parents)
            members, sizes = link["members"], link["sizes"]
            banding_kernel.join_pairs(np.repeat(members[np.cumsum(sizes) - sizes], sizes), members, parents)
        return bands[-1] if bands else 0

    def _link(self) -> None:
        """Find the pairs of one band after the other; they go to the disk where they become too many."""
        n = len(self.active.rows)
        parents = np.arange(n)
        shared = {"max_bucket": self.settings.max_bucket, "n_reference": self.active.n_reference}
        if not self.in_memory:
            first = self._known_links(parents)
            links = link_bands(self._read_key(), n, self.settings.finder.n_keys, parents, keys=None, first=first, **shared)
            self._store(links, parents)
            return
        keys = self.documents.keys(self.active.rows)
        links = link_bands(lambda band: keys, n, keys.shape[1], parents, keys=keys, threads=self.settings.n_threads, **shared)
        found, n_bytes = [], 0
        for link in links:
            found.append(link)
            n_bytes += 16 * len(link.left) + 8 * len(link.members)
            if n_bytes > self.memory.held:
                self.documents = self.documents.spilled()
                self._store(chain(found, links), parents)
                return
        banding_kernel.find_roots(parents)
        self._candidates = collect_links(found, parents)

    @property
    def _payload(self) -> str:
        """What candidates are compared by: the column of the documents, or "texts"."""
        exact = self.settings.verify == "exact"
        return "texts" if exact else "slots" if self.settings.finder.name == "minhash" else "keys"

    def _sizes(self, positions: Int64Array) -> Int64Array:
        """Bytes of what some active documents are compared by."""
        rows = self.active.rows[positions]
        if self._payload == "texts":
            return np.asarray(self.documents.take("sizes", rows), np.int64)
        if self._payload == "keys":
            return np.full(len(rows), 8 * self.settings.finder.n_keys)
        return np.full(len(rows), 4 * self.settings.finder.estimation_slots)

    def _divide(self) -> None:
        """Sort links and texts of candidate documents into partitions."""
        limits = self._limits()
        division = Division(self.workspace.get(COMPONENTS)["roots"], self._sizes, *limits.tolist())
        division.sort_links(self.workspace)
        self._division = division
        if TEXTS_DONE in self.workspace:
            return
        partition = np.full(len(self.documents), -1, np.int32)
        partition[self.active.rows] = division.of_position
        spilling = Spilling(self.workspace, partition, min(SPILL_BYTES, self.memory.free // 16))
        for first, texts in self._read_again(spilling.until):
            spilling.take(first, texts)
        spilling.flush()
        self.workspace.put(TEXTS_DONE, {})

    def _limits(self) -> Int64Array:
        """Return the bytes of a partition and of a slice: those of an earlier run, unless they are too large by now."""
        threads = self.settings.n_threads
        limits = np.array([self.memory.partition(threads), self.memory.slice(threads)])
        if DIVISION in self.workspace:
            earlier: Int64Array = self.workspace.get(DIVISION)["bytes"]
            if (earlier <= 2 * limits).all():
                return earlier
            self.workspace.discard(DIVISION)
        for stem in (PAIRED, Spilling.STEM, VERIFIED):  # what was made by limits that are gone, perhaps in a crash
            self.workspace.discard(stem)
        self.workspace.put(DIVISION, {"bytes": limits})
        return limits

    def _read_again(self, begin: int) -> Iterator[tuple[int, Texts]]:
        """Yield (first row, what is compared) of all documents from a row on."""
        documents, settings = self.documents, self.settings
        if self._payload != "texts":
            names = ["slots"] if self._payload == "slots" else [f"key-{b:02}" for b in range(settings.finder.n_keys)]
            for first, columns in documents.columns(*names):
                data = np.ascontiguousarray(columns[0] if len(columns) == 1 else np.stack(columns, 1)).view(np.uint8)
                if first >= begin:
                    width = data.size // max(1, len(columns[0]))
                    yield first, Texts(data.reshape(-1), np.arange(len(columns[0]) + 1) * width)
        elif settings.html:
            for first, (data, sizes) in documents.columns("texts", "sizes"):
                if first >= begin:
                    yield first, Texts(data, np.concatenate([[0], np.cumsum(sizes)]))
        else:
            for number, source in enumerate(documents.sources):
                first, end = documents.source_starts[number : number + 2].tolist()
                if end <= begin:
                    continue
                source.check_unchanged()
                row = max(first, begin)
                wanted = Columns(settings.text, None, (), (), settings.encoding_errors)
                for batch in read_batches(source, wanted, settings, row - first):
                    self.progress("reading candidates again", len(batch.texts))
                    yield row, batch.texts
                    row += len(batch.texts)
                if row != end:
                    raise InputDataError(
                        f"{source.name}: {end - first:,} rows were read at first, {row - first:,} now; run again"
                    )

    def partitions(self) -> Iterator[tuple[Partition, Material]]:
        """Yield the candidate documents, all that belong together at a time, and how to compare them."""
        threads = self.settings.n_threads
        size = self.memory.slice(threads)
        if self.in_memory:
            assert self._candidates is not None
            everything = np.arange(len(self.active.rows))
            yield Partition(0, everything, self._candidates), self._material(everything, self._sizes(everything), None, size)
            return
        assert self._division is not None
        chunks = self.workspace.numbered(Spilling.STEM)
        for number in range(self._division.n_partitions):
            partition = self._division.load(self.workspace, number)
            hold = not self._division.is_sliced(number)
            texts = SpilledTexts(self.workspace, chunks, number, hold)
            sizes = texts.sizes(self.active.rows[partition.positions])
            alone = 1 if hold else threads  # a partition too large to be held is one group
            yield partition, self._material(partition.positions, sizes, texts, size, alone)

    def _material(
        self, positions: Int64Array, sizes: Int64Array, spilled: SpilledTexts | None, most: int, threads: int = 1
    ) -> Material:
        settings, documents = self.settings, self.documents
        scheme = FastSimilarity(permutations=64, seed=int(derive(settings.seed, "nearby order", 1)[0]))

        def raw(places: Int64Array) -> Texts:
            """What some documents are compared by."""
            rows = self.active.rows[positions[places]]
            if spilled is not None:
                return spilled.take(rows, sizes[places])
            if self._payload == "texts":
                assert documents.held is not None
                return documents.held.take(rows, sizes[places])
            taken = np.ascontiguousarray(documents.take(self._payload, rows)).view(np.uint8)
            return Texts(taken.reshape(-1), np.concatenate([[0], np.cumsum(sizes[places])]))

        def texts(places: Int64Array) -> Iterator[Texts]:
            """The same, a megabyte or a document at a time."""
            before = np.cumsum(sizes[places])
            for piece in np.split(places, np.flatnonzero(np.diff(before // PIECE_BYTES)) + 1):
                yield raw(piece)

        def load_sets(places: Int64Array) -> Comparable:
            if self._payload == "texts":
                return settings.finder.comparable(map(settings.shingling.hashes, texts(places)))
            words: NDArray[Any] = raw(places).data.view(np.uint32 if self._payload == "slots" else np.uint64)
            return settings.finder.estimable(words.reshape(len(places), -1))

        def load_signatures(places: Int64Array) -> UInt32Array:
            if self._payload == "slots":  # no band was cut from these either
                return raw(places).data.view(np.uint32).reshape(len(places), -1)[:, : scheme.permutations]
            return np.concatenate([scheme.sign_values(*settings.shingling.hashes(piece)) for piece in texts(places)])

        return Material(sizes, load_sets, load_signatures, most, threads)

    def distances(self, left: Int64Array, right: Int64Array) -> Int64Array:
        """Bits in which the search keys of pairs of rows differ; what the SimHash method states beside a cosine."""
        if self.settings.finder.name == "minhash":
            return np.zeros(len(left), np.int64)
        differing = self.documents.keys(left) ^ self.documents.keys(right)
        return np.asarray(np.bitwise_count(differing).sum(1), np.int64)
