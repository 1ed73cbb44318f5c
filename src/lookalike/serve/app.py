"""The application: what each path answers, of an index or of the review of a saved job, behind one guard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from ..errors import ParameterError
from ..recipes.compare import compare_texts
from .bodies import (
    JSON,
    MOST_MATCHES,
    Added,
    Compared,
    Documents,
    Ids,
    Limits,
    Match,
    Pair,
    Problem,
    Query,
    Removed,
    Results,
    Status,
    Stored,
    decoder,
    encode,
    invalid,
    openapi,
)
from .guard import Keys, Middleware, Request
from .log import Log, Metrics
from .store import BatchedIndex, Matches

DOCUMENTS, QUERY, COMPARE = "/v1/documents", "/v1/query", "/v1/compare"
_read_documents, _read_ids, _read_query, _read_pair = map(decoder, (Documents, Ids, Query, Pair))


def make_app(
    store: BatchedIndex | None = None,
    *,
    pages: Sequence[Route] = (),
    reading: frozenset[str] = frozenset(),
    limits: Limits | None = None,
    keys: Keys | None = None,
    hosts: frozenset[bytes] = frozenset(),
    log: Log | None = None,
) -> Middleware:
    """Return an ASGI application."""
    metrics = store.metrics if store is not None else Metrics()
    document = openapi(keys is not None, store is not None)

    async def alive(_: Request) -> Response:
        return Answer(Status("alive"))

    async def ready(_: Request) -> Response:
        if guard.ending:
            raise Problem(503, "the server is ending", retry_after="1")
        return Answer(Status("ready"))

    async def count(_: Request) -> Response:
        return Response(metrics.page(), media_type="text/plain; version=0.0.4; charset=utf-8")

    async def describe(_: Request) -> Response:
        return Response(document, media_type=JSON)

    routes = [*(Api(store).routes() if store is not None else ()), *pages]
    of_server = {"/healthz": alive, "/readyz": ready, "/metrics": count, "/openapi.json": describe}
    routes += [Route(path, answer) for path, answer in of_server.items()]
    log = log or Log(requests=False)
    reading |= {QUERY, COMPARE}
    guard = Middleware(routes, limits or Limits(), keys, hosts, log, metrics, reading)
    metrics.gauge("open_requests", "Requests that are being answered.", lambda: guard.open)
    if store is not None:
        metrics.gauge("documents", "Documents in the index.", lambda: len(store.index))
        metrics.gauge("queries_waiting", "Queries that are waiting.", lambda: store.n_waiting[0])
        metrics.gauge("changes_waiting", "Changes that wait to be written.", lambda: store.n_waiting[1])
    return guard


class Answer(Response):
    """An answer in JSON, as most are."""

    media_type = JSON

    def __init__(self, value: Any) -> None:
        super().__init__(encode(value))


class Api:
    """The routes of an index."""

    def __init__(self, store: BatchedIndex) -> None:
        self._store = store
        self._limits = store.limits
        self._shingling = store.index.kind.shingling

    def routes(self) -> list[Route]:
        """Return what answers each path."""
        return [
            Route(DOCUMENTS, self.change, methods=["POST", "DELETE"]),
            Route(f"{DOCUMENTS}/{{id:path}}", self.get),
            Route(QUERY, self.query, methods=["POST"]),
            Route(COMPARE, self.compare, methods=["POST"]),
        ]

    async def change(self, request: Request) -> Response:
        """Add or remove documents, and answer once that is on disk."""
        body, adds = request.content, request.method == "POST"
        given = _read_documents(body).documents if adds else []
        ids: list[Any] = [one.id for one in given] if adds else _read_ids(body).ids
        texts = [one.text for one in given]
        self._check_batch(len(ids), "documents" if adds else "ids")
        self._check_texts(texts, len(body))
        if adds:
            return Answer(Added(*await self._store.add(ids, texts, len(body))))
        return Answer(Removed(await self._store.remove(ids)))

    async def get(self, request: Request) -> Response:
        """Return a document."""
        store = self._store
        try:
            rows = (await store.run(lambda: store.index.get(store.ids_of(request.path_params["id"])))).to_pylist()
        except ParameterError:  # nothing that an id of this index can be
            rows = []
        if not rows:
            raise Problem(404, "no document in the index has this id")
        return Answer(Stored(rows[0]["id"], rows[0].get("text")))

    async def query(self, request: Request) -> Response:
        """Look up texts."""
        if request.scope["query_string"]:
            raise invalid("parameters belong in the body, not in the address")
        body, given = request.content, _read_query(request.content)
        texts, top = given.texts, given.top
        self._check_batch(len(texts), "texts")
        if len(texts) * top > MOST_MATCHES:
            raise invalid(f"texts times top must be at most {MOST_MATCHES:,}; got {len(texts):,} times {top:,}")
        self._check_texts(texts, len(body))
        if not texts:
            found = Matches(0, [], [], [], [], [])
        else:
            found = await self._store.query(texts, top, len(body))
        results: list[list[Match]] = [[] for _ in range(found.n_texts)]
        rows = zip(found.query, found.ids, found.exact, found.estimated, found.error, strict=True)
        for place, id, exact, estimated, error in rows:
            results[place].append(Match(id, exact, estimated, error))
        return Answer(Results(results))

    async def compare(self, request: Request) -> Response:
        """Compare two texts."""
        pair = _read_pair(request.content)
        self._check_texts([pair.left, pair.right], len(request.content))
        how = self._shingling
        told = await self._store.run(
            lambda: compare_texts(
                pair.left, pair.right, unit=how.unit, width=how.width, normalization=how.normalization, fold_case=how.fold_case
            )
        )
        return Answer(Compared(**told))

    def _check_batch(self, n: int, things: str) -> None:
        """Check how many there are."""
        if n > self._limits.batch:
            raise invalid(f"at most {self._limits.batch:,} {things} can be sent in one request; got {n:,}")

    def _check_texts(self, texts: list[str], n_bytes: int) -> None:
        """Check how long texts are; JSON takes at least a byte for two of them."""
        if n_bytes > self._limits.text // 2:
            self._limits.check(texts)
