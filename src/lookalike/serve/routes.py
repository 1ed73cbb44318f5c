"""What each path of the service answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from ..errors import ParameterError
from ..recipes.compare import compare_texts
from . import bodies
from .arrow import ARROW, read_columns, write_table
from .bodies import Added, Compared, Match, Removed, Results, Status, Stored, decoder, encode
from .guard import Reply, Request, Route, Routes
from .keys import READ, WRITE
from .limits import MOST_MATCHES
from .metrics import TEXT
from .problems import Problem, invalid
from .store import Matches, Store

DOCUMENTS = "/v1/documents"
_MATCH = pa.schema(
    [("query", pa.int64()), ("id", pa.string()), ("estimated_resemblance", pa.float64()), ("standard_error", pa.float64()),
     ("resemblance", pa.float64())]
)  # fmt: skip
_read_documents = decoder(bodies.Documents)
_read_ids = decoder(bodies.Ids)
_read_query = decoder(bodies.Query)
_read_pair = decoder(bodies.Pair)


class Api:
    """The routes of an index."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._limits = store.limits
        self._shingling = store.index.kind.shingling

    def routes(self) -> Routes:
        """Return paths and methods."""
        return {
            DOCUMENTS: {
                "POST": Route(DOCUMENTS, self.add, WRITE, True),
                "DELETE": Route(DOCUMENTS, self.remove, WRITE, True),
            },
            f"{DOCUMENTS}/": {"GET": Route(f"{DOCUMENTS}/{{id}}", self.get)},
            "/v1/query": {"POST": Route("/v1/query", self.query, READ, True)},
            "/v1/compare": {"POST": Route("/v1/compare", self.compare, READ, True)},
        }

    async def add(self, request: Request) -> Reply:
        """Add documents, and answer once they are on disk."""
        if request.arrow:
            ids, texts = read_columns(request.body, ("id", "text"), self._limits.batch)
        else:
            given = _read_documents(request.body).documents
            ids, texts = [one.id for one in given], [one.text for one in given]
        self._check_batch(len(ids), "documents")
        self._check_texts(texts, len(request.body))
        self._check_ids(ids if request.arrow else [])
        added, replaced = await self._store.add(ids, texts, len(request.body))
        return Reply(encode(Added(added, replaced)))

    async def remove(self, request: Request) -> Reply:
        """Remove documents, and answer once that is on disk."""
        ids = read_columns(request.body, ("id",), self._limits.batch)[0] if request.arrow else _read_ids(request.body).ids
        self._check_batch(len(ids), "ids")
        self._check_ids(ids if request.arrow else [])
        return Reply(encode(Removed(await self._store.remove(ids))))

    async def get(self, request: Request) -> Reply:
        """Return a document."""
        wanted: Any = request.path[len(DOCUMENTS) + 1 :]
        index = self._store.index
        if index.id_type == "int":
            digits = wanted.removeprefix("-")
            wanted = int(wanted) if digits.isascii() and digits.isdigit() and len(digits) < 20 else None
        try:
            rows = (await self._store.run(lambda: index.get([wanted]))).to_pylist() if wanted is not None else []
        except ParameterError:  # nothing that an id of this index can be
            rows = []
        if not rows:
            raise Problem(404, "no document of the index has this id")
        return Reply(encode(Stored(rows[0]["id"], rows[0].get("text"))))

    async def query(self, request: Request) -> Reply:
        """Look up texts."""
        if request.arrow:
            (texts,), top = read_columns(request.body, ("text",), self._limits.batch), _top_of(request.query)
        else:
            if request.query:
                raise invalid("parameters in the address are for Arrow bodies; JSON has them inside")
            given = _read_query(request.body)
            texts, top = given.texts, given.top
        self._check_batch(len(texts), "texts")
        if len(texts) * top > MOST_MATCHES:
            raise invalid(f"texts times top must be at most {MOST_MATCHES:,}; got {len(texts):,} times {top:,}")
        self._check_texts(texts, len(request.body))
        if not texts:
            found = Matches(0, [], [], [], [], [])
        else:
            found = await self._store.query(texts, top, len(request.body))
        if request.wants_arrow:
            return Reply(_table(found, self._store.index.id_type), ARROW)
        results: list[list[Match]] = [[] for _ in range(found.n_texts)]
        rows = zip(found.query, found.ids, found.exact, found.estimated, found.error, strict=True)
        for place, id, exact, estimated, error in rows:
            results[place].append(Match(id, exact, estimated, error))
        return Reply(encode(Results(results)))

    async def compare(self, request: Request) -> Reply:
        """Compare two texts."""
        if request.arrow:
            raise Problem(415, "two texts to compare must be JSON")
        pair = _read_pair(request.body)
        self._check_texts([pair.left, pair.right], len(request.body))
        how = self._shingling
        told = await self._store.run(
            lambda: compare_texts(
                pair.left, pair.right, unit=how.unit, width=how.width, normalization=how.normalization, fold_case=how.fold_case
            )
        )
        return Reply(encode(Compared(**told)))

    def _check_batch(self, n: int, things: str) -> None:
        """Check how many there are."""
        if n > self._limits.batch:
            raise invalid(f"at most {self._limits.batch:,} {things} can be sent in one request; got {n:,}")

    def _check_texts(self, texts: list[str], n_bytes: int) -> None:
        """Check how long texts are; JSON takes at least a byte for two of them, and Arrow all."""
        most = self._limits.text
        if n_bytes <= most // 2:
            return
        for i, text in enumerate(texts):
            if 4 * len(text) > most and len(text.encode()) > most:
                raise invalid(f"a text must have at most {most:,} bytes in UTF-8; text {i} has {len(text.encode()):,}")

    def _check_ids(self, ids: list[Any]) -> None:
        """Check ids that came by Arrow as those in JSON are checked."""
        if any(isinstance(id, str) and not 1 <= len(id) <= 1000 for id in ids):
            raise invalid("an id must have 1 to 1,000 characters")


def _top_of(query: bytes) -> int:
    """Return the number of matches that an Arrow request asks for: ``?top=5``."""
    if not query:
        return 10
    name, _, value = query.partition(b"=")
    if name != b"top" or not value.isdigit() or len(value) > 4 or not 1 <= int(value) <= bodies.MOST_TOP:
        raise invalid(f"the only parameter is top, 1 to {bodies.MOST_TOP:,}")
    return int(value)


def _table(found: Matches, id_type: str | None) -> bytes:
    """Return matches as an Arrow stream: the columns of ``Index.query``."""
    schema = _MATCH.set(1, pa.field("id", pa.int64())) if id_type == "int" else _MATCH
    columns = (found.query, found.ids, found.estimated, found.error, found.exact)
    return write_table(pa.table(dict(zip(schema.names, columns, strict=True)), schema))


def of_server(page: Callable[[], bytes], ready: Callable[[], str], document: bytes) -> Routes:
    """Return the routes that every server has: is it alive, is it ready, what did it do, what can it."""

    async def health(_: Request) -> Reply:
        return Reply(encode(Status("alive")))

    async def readiness(_: Request) -> Reply:
        if why := ready():
            raise Problem(503, why, retry_after="1")
        return Reply(encode(Status("ready")))

    async def metrics(_: Request) -> Reply:
        return Reply(page(), TEXT)

    async def openapi(_: Request) -> Reply:
        return Reply(document)

    return {
        "/healthz": {"GET": Route("/healthz", health, "")},
        "/readyz": {"GET": Route("/readyz", readiness, "")},
        "/metrics": {"GET": Route("/metrics", metrics, READ)},
        "/openapi.json": {"GET": Route("/openapi.json", openapi, "")},
    }
