"""A saved result as people look at it: its removals in several orders, two documents side by side, what was judged of them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import takewhile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from .. import __version__
from ..choices import check_choice
from ..errors import InputDataError, LookalikeError, ParameterError
from ..files.names import show_path
from ..report.comparison import begin_of, compare
from ..report.page import write_report
from ..report.samples import MOST_TEXT, short
from ..results.members import Numbers
from ..results.result import Result
from ..results.rows import RandomSample, Rows, rows_at
from ..steps.decide import REASONS
from ..theory.minhash import exact_interval
from ..values import Int64Array
from ..wording import plural
from .desk_review import JUDGEMENTS, Judgement, Removed, Review

ORDERS = ("least alike", "most alike", "random", "source", "group")
KINDS = ("all", "near", "exact")
JUDGED = ("any", "none", "duplicate", "keep", "unsure")
MOST_ROWS = 200
SEARCHES = 8  # masks of searches that are remembered
MOST_SOUGHT = 300  # characters of a search
_TOLD = ["source", "id", "bytes", "reason", "resemblance", "duplicate_of"]

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which removals are asked for, and in which order."""

    # "random": by the seed of the job, as the report draws; "source": as in the input; "group": those together that were
    # removed because of the same document
    order: str = "least alike"
    kind: str = "all"
    source: int | None = None  # the number of an input
    judged: str = "any"  # what was judged of them so far
    find: str = ""  # part of the id of either document

    def __post_init__(self) -> None:
        """Check the values."""
        for name, value, known in (("order", self.order, ORDERS), ("kind", self.kind, KINDS), ("judged", self.judged, JUDGED)):
            check_choice(name, value, known)
        if len(self.find) > MOST_SOUGHT:
            raise ParameterError(f"a search has at most {MOST_SOUGHT} characters; got {len(self.find):,}")


class Removals:
    """The removed documents of a result, exact and near; about 60 bytes for each are held. Random orders follow the job's
    ``seed``."""

    def __init__(self, decisions: Rows, seed: int) -> None:
        self._decisions, numbers = decisions, Numbers(decisions)
        self.rows = numbers.where("near", "exact")  # places in ``decisions``, ascending
        self.keepers: Int64Array = numbers.keeper[self.rows].astype(np.int64)  # places of whom they were removed for
        self.near: Mask = numbers.reason[self.rows] == REASONS.index("near")
        self._scores, self._sources = numbers.score[self.rows], numbers.source[self.rows]
        self._orders = self._sorted(seed)
        self._drawn = self._orders["random"][self.near[self._orders["random"]]]
        kind = decisions.schema.field("id").type
        self._named = ids = pa.chunked_array([batch.column(0) for batch in decisions.select(["id"]).batches()], kind)
        self._ids = ids if pa.types.is_string(kind) or pa.types.is_large_string(kind) else ids.cast(pa.string())
        self._matching = lru_cache(SEARCHES)(self._search)

    def __len__(self) -> int:
        """Return the number of removals."""
        return len(self.rows)

    def _sorted(self, seed: int) -> dict[str, NDArray[np.int32]]:
        """Return each order of the removals; the first near-duplicates of "random" are those that the report draws."""
        draw = RandomSample(len(self), seed, "report")
        draw.add(self.rows)
        found: dict[str, NDArray[Any]] = {
            "least alike": np.argsort(self._scores, kind="stable"),
            "most alike": np.argsort(-self._scores, kind="stable"),
            "random": np.searchsorted(self.rows, draw.in_turn),
            "source": np.arange(len(self)),
            "group": np.lexsort((self.rows, self.keepers)),
        }
        return {name: order.astype(np.int32) for name, order in found.items()}

    def _search(self, find: str) -> Mask:
        """Return which removals have a text in an id: their own, or that of the document that they were removed for."""
        matches = pc.fill_null(pc.match_substring(self._ids, find), False).to_numpy()
        return np.asarray(matches[self.rows] | matches[self.keepers])

    def index_of(self, row: int) -> int:
        """Return the number of a removal by its place in decisions."""
        i = int(self.rows.searchsorted(row))
        if i == len(self.rows) or self.rows[i] != row:
            raise ParameterError(f"the document in row {row} of decisions was not removed as a duplicate")
        return i

    def ids_of(self, row: int) -> Removed:
        return Removed(self._named[row].as_py(), self._named[int(self.keepers[self.index_of(row)])].as_py())

    def source_of(self, row: int) -> int:
        """Return the number of the input that a removed document is from."""
        return int(self._sources[self.index_of(row)])

    def copies(self, row: int) -> list[int]:
        """Return the rows of a removed copy and of all other removed copies of the same document, itself first."""
        i = self.index_of(row)
        others = self.rows[(self.keepers == self.keepers[i]) & ~(self.near | self.near[i])]
        return [row, *others[others != row].tolist()]

    def drawn(self) -> Iterator[int]:
        """Yield the rows of all near-duplicates in random order: those that come first are a random sample."""
        return (int(self.rows[i]) for i in self._drawn)

    def sources(self) -> Int64Array:
        """Return how many removals each input has."""
        return np.bincount(self._sources)

    def find(self, wanted: Wanted, judged: NDArray[np.int8]) -> NDArray[np.int32]:
        """Return the numbers of the removals that are asked for, in their order."""
        order = self._orders[wanted.order]
        mask = np.ones(len(self), np.bool_)
        if wanted.kind != "all":
            mask &= self.near == (wanted.kind == "near")
        if wanted.source is not None:
            mask &= self._sources == wanted.source
        if wanted.judged != "any":
            mask &= judged == JUDGED.index(wanted.judged)
        if wanted.find:
            mask &= self._matching(wanted.find)
        return order[mask[order]]

    def documents(self, rows: Int64Array) -> list[dict[str, Any]]:
        """Return what a page shows of the documents at some places in decisions; the row is what names each."""
        told = rows_at(self._decisions.select(_TOLD), rows).to_pylist()
        return [
            {
                "row": row, "name": short(of["id"]), "file": short(of["source"] or "in memory"), "bytes": of["bytes"],
                "reason": of["reason"], "score": of["resemblance"], "kept": short(of["duplicate_of"]),
            }
            for row, of in zip(rows.tolist(), told, strict=True)
        ]  # fmt: skip


MOST_SHOWN = 60_000  # bytes of what a pair takes on a page
HELD_BYTES = 32 << 20  # of texts that were read
MOST_BEGINS = 20_000  # texts of which it is remembered how they begin
MOST_SOURCES = 100


class Desk:
    """All that the pages of a job ask for, from what ``Result.save`` wrote; ``trust``: where inputs of another's result may be
    read."""

    def __init__(self, folder: str | Path, trust: Sequence[str] = ()) -> None:
        self.result = Result.load(folder, trust=trust)  # whole: rows in files would be read again for each page
        self._folder = show_path(folder)
        self.removals = Removals(self.result.rows(), int(self.result.settings.seed))
        self.review = Review(Path(folder), self.removals.ids_of, self._source_of)
        self._names = [short(identity["name"]) for identity in self.result.provenance["inputs"]]
        self._texts = _Texts(self.result)
        self._digests: dict[int, str | None] = {}
        self._report: bytes | None = None
        self._turn = threading.Lock()  # of digests
        self._reporting = threading.Lock()  # which takes long, and nothing else waits for it

    def close(self) -> None:
        """Let others review the result."""
        self.review.close()

    def _source_of(self, row: int) -> dict[str, Any]:
        """Return name and digest of the file of a document, as the report exports them."""
        source = self.removals.source_of(row)
        with self._turn:
            if source not in self._digests:
                try:
                    self._digests[source] = self.result.inputs.digest(source)
                except InputDataError:
                    if self.result.settings.id is None:
                        raise
                    self._digests[source] = None
        return {"input": self._names[source], "sha256": self._digests[source]}

    def about(self) -> dict[str, Any]:
        """Return what a page says at first: counts, settings, sources with removals, and how far the review is."""
        s, settings = self.result.summary, self.result.settings
        of_sources = self.removals.sources()
        most = np.argsort(-of_sources, kind="stable")[:MOST_SOURCES]
        n = len(self.removals)
        return {
            "version": __version__,
            "folder": short(self._folder),
            "said": f"{n:,} of {plural(s.documents, 'document')} were removed as duplicates: {s.exact_duplicates:,} exact and "
            f"{s.near_duplicates:,} near, with a {s.score} of at least {settings.threshold:g}.",
            "score": s.score if s.verified_by == "exact" else f"estimated {s.score}",
            "sources": [
                {"source": i, "name": self._names[i], "removed": int(of_sources[i])} for i in most.tolist() if of_sources[i]
            ],
            "more_sources": int(np.count_nonzero(of_sources)) - int(np.count_nonzero(of_sources[most])),
            "progress": self.progress(),
        }

    def progress(self) -> dict[str, Any]:
        """Count the judgements of near-duplicates, and the judged copies. Precision and its interval are of a random sample: of
        the first near-duplicates in random order, as far as all are judged, whatever the order in which that was done."""
        judged = {row: said.judgement for row, said in list(self.review.judged.items()) if said.judgement}
        near = self.removals.near
        counted_on = [said for said, of in zip(judged.values(), near[self._places(judged)], strict=True) if of]
        found: dict[str, Any] = {name: counted_on.count(name) for name in JUDGEMENTS}
        found |= {"judged": len(counted_on), "of": int(near.sum()), "copies": len(judged) - len(counted_on)}
        drawn = [judged[row] for row in takewhile(judged.__contains__, self.removals.drawn())]
        sure = [judgement for judgement in drawn if judgement != "unsure"]
        found["drawn"] = len(drawn)
        if sure:
            right = sure.count("duplicate")
            low, high = exact_interval(right, len(sure))
            found |= {"precision": right / len(sure), "low": low, "high": high}
        return found

    def list_removals(self, wanted: Wanted, begin: int, n: int) -> dict[str, Any]:
        """Return how many removals are asked for, and some of them."""
        if begin < 0 or not 1 <= n <= MOST_ROWS:
            raise ParameterError(f"begin must be at least 0, and n in 1..{MOST_ROWS}; got {begin} and {n}")
        state, said = np.ones(len(self.removals), np.int8), dict(self.review.judged)
        state[self._places(said)] = [JUDGED.index(one.judgement or "none") for one in said.values()]
        found = self.removals.find(wanted, state)
        some = found[begin : begin + n]
        documents, keepers = self.removals.documents(self.removals.rows[some]), self.removals.keepers[some].tolist()
        return {"total": len(found), "begin": begin, "rows": list(map(self._describe, documents, keepers))}

    def _places(self, rows: Collection[int]) -> Int64Array:
        """Return the numbers of removals by their rows."""
        return np.searchsorted(self.removals.rows, np.fromiter(rows, np.int64, len(rows)))

    def _describe(self, document: dict[str, Any], keeper: int) -> dict[str, Any]:
        """Return what a page needs of a removed document, also the row of the one that it was removed for."""
        return document | {"keeper": keeper} | asdict(self.review.judged.get(document["row"], Judgement()))

    def pair(self, row: int, beside: Sequence[int] = ()) -> dict[str, Any]:
        """Return a removed document beside the one that it was removed for."""
        if len(beside) > MOST_ROWS:
            raise ParameterError(f"at most {MOST_ROWS} removals are read at a time; got {len(beside):,}")
        pairs = {other: int(self.removals.keepers[self.removals.index_of(other)]) for other in (row, *beside)}
        removed, kept = self.removals.documents(np.array([row, pairs[row]]))
        told = self._describe(removed, pairs[row]) | {f"left_{name}": kept[name] for name in ("name", "file", "bytes")}
        told["copies"] = len(self.removals.copies(row))
        try:
            texts = self._texts.read((row, pairs[row]), [place for pair in pairs.items() for place in pair])
        except LookalikeError as error:
            return told | {"compared": None, "why": str(error), "begins": {}}
        told["begins"] = {other: self._texts.begins[other] for other in pairs if other in self._texts.begins}
        found = compare(texts[pairs[row]], texts[row], self.result.settings.shingling, MOST_SHOWN)
        return told | {"compared": found.to_dict(), "why": None}

    def judge(self, row: int, judgement: Judgement, copies: bool = False) -> dict[str, Any]:
        """Note a judgement, with ``copies`` of all removed copies of the same document; return how far the review is."""
        self.review.judge(self.removals.copies(row) if copies else [row], judgement)
        return {"row": row, "progress": self.progress()}

    def undo(self) -> dict[str, Any]:
        """Take back the last judgement; return its first row, or none, of how many it was, and how far the review is."""
        rows = self.review.undo()
        return {"row": rows[0] if rows else None, "rows": len(rows), "progress": self.progress()}

    def report(self) -> bytes:
        """Return the report; it is made once."""
        with self._reporting:
            if self._report is None:
                with TemporaryDirectory(prefix="lookalike-") as folder:
                    write_report(self.result, Path(folder) / "report.html")
                    self._report = (Path(folder) / "report.html").read_bytes()
            return self._report


class _Texts:
    """Texts of documents, read again when they are needed; those that were used last are held, of others how they begin."""

    def __init__(self, result: Result) -> None:
        self._result = result
        self._held: OrderedDict[int, bytes] = OrderedDict()
        self._n_bytes = 0
        self.begins: dict[int, str] = {}
        self._turn = threading.Lock()

    def read(self, needed: Sequence[int], also: Sequence[int]) -> dict[int, bytes]:
        """Return the texts of some places; if one must be read, others are read with it, as far as there is room for them."""
        with self._turn:
            missing = [place for place in dict.fromkeys((*needed, *also)) if place not in self._held]
            unread = [place for place in needed if place not in self._held]
            if unread or any(place not in self.begins for place in missing):
                try:
                    read = self._result.texts(missing, MOST_TEXT)
                except LookalikeError:  # that of another document may be what cannot be read
                    read = self._result.texts(unread, MOST_TEXT) if unread else {}
                for place in missing:  # also of what cannot be read: it is not tried again for a list
                    self.begins.setdefault(place, "")
                self.begins |= {place: begin_of(text.decode("utf-8", "replace")) for place, text in read.items()}
                for place in list(self.begins)[: max(0, len(self.begins) - MOST_BEGINS)]:
                    del self.begins[place]
                for place, text in read.items():
                    self._held[place] = text
                    self._n_bytes += len(text)
            found = {place: self._held[place] for place in needed}
            for place in needed:
                self._held.move_to_end(place)
            while self._n_bytes > HELD_BYTES and len(self._held) > 1:
                self._n_bytes -= len(self._held.popitem(last=False)[1])
            return found
