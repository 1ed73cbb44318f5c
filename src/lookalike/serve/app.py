"""The application: an index, or the review of a saved job, and its pages, behind one guard."""

from __future__ import annotations

from typing import Any

from starlette.exceptions import HTTPException
from starlette.routing import Router

from .guard import Guard, Scope
from .keys import Keys
from .limits import Limits
from .logs import Log
from .metrics import Metrics
from .openapi import openapi
from .problems import Problem
from .routes import Api, of_server
from .store import Store


def make_app(
    store: Store | None = None,
    *,
    pages: list[Any] | None = None,
    reading: frozenset[str] = frozenset(),
    limits: Limits | None = None,
    keys: Keys | None = None,
    hosts: frozenset[bytes] = frozenset(),
    log: Log | None = None,
    metrics: Metrics | None = None,
) -> Guard:
    """Return an ASGI application."""
    limits, metrics, log = limits or Limits(), metrics or Metrics(), log or Log(requests=False)
    routes = Api(store).routes() if store is not None else {}
    router = Router(pages or [], redirect_slashes=False)

    def page() -> bytes:
        gauges: dict[str, tuple[str, float]] = {"open_requests": ("Requests that are being answered.", guard.open)}
        if store is not None:
            queries, changes = store.n_waiting
            gauges |= {
                "documents": ("Documents in the index.", len(store.index)),
                "queries_waiting": ("Queries that wait for their turn.", queries),
                "changes_waiting": ("Changes that wait to be written.", changes),
            }
        return metrics.page(gauges)

    def ready() -> str:
        return "the server is ending" if guard.ending else ""

    async def answer(scope: Scope, receive: Any, send: Any) -> None:
        """Let a page answer; what it refuses is a problem like all others."""
        try:
            scope["app"] = router  # which lets it raise what it refuses
            await router(scope, receive, send)
        except HTTPException as error:
            detail = "there is nothing at this path" if error.status_code == 404 else error.detail
            raise Problem(error.status_code, detail, **dict(error.headers or {})) from None

    routes |= of_server(page, ready, openapi(keys is not None, store is not None))
    guard = Guard(routes, answer, limits, keys, hosts, log, metrics, reading)
    return guard
