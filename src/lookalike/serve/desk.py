"""The pages of the service: files of this package, and what their scripts ask for."""

from __future__ import annotations

import asyncio
import pkgutil
from collections.abc import Awaitable, Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import msgspec
from starlette.responses import Response
from starlette.routing import Route

from .. import __version__
from ..errors import IndexFormatError, InputDataError, LookalikeError, MissingExtraError, OutputError, ParameterError
from ..index.index import Index
from ..report.comparison import begin_of, compare
from ..report.samples import MOST_TEXT, short
from ..values.arrays import whole
from ..wording import plural
from .bodies import Problem, decoder
from .desk_job import MOST_SHOWN, Desk, Wanted
from .desk_review import Judgement
from .guard import Request
from .store import BatchedIndex

PAGES = {"page.css": "text/css", "desk.css": "text/css", "beside.js": "text/javascript", "desk.js": "text/javascript",
         "job.js": "text/javascript", "index.js": "text/javascript", "icon.svg": "image/svg+xml"}  # fmt: skip
OF_REPORT = ("page.css", "beside.js", "glossary.html")  # the pages and the report have them in common
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {"Content-Security-Policy": POLICY, "Referrer-Policy": "no-referrer"}
_REPORT = {"Content-Security-Policy": "frame-ancestors 'none'", "Referrer-Policy": "no-referrer"}  # the page has its own
READING = frozenset(("/v1/neighbours", "/v1/beside"))  # a key for reading is enough
SHOWN, MOST = 10, 100  # neighbours
_STATUS = {MissingExtraError: 501, OutputError: 507, InputDataError: 500, IndexFormatError: 500}
Run = Callable[[Callable[[], Any]], Awaitable[Any]]


class SentJudgement(msgspec.Struct, forbid_unknown_fields=True):
    """A judgement, as a page sends it."""

    row: int
    judgement: str | None
    note: str = ""
    copies: bool = False  # of all copies of the same document


class Asked(msgspec.Struct, forbid_unknown_fields=True):
    """A text whose neighbours are asked for."""

    text: str
    top: int = SHOWN


class Beside(msgspec.Struct, forbid_unknown_fields=True):
    """A text, and the id, as text, of the document that it is compared with."""

    text: str
    id: str


class Nothing(msgspec.Struct, forbid_unknown_fields=True):
    """No parameters."""


@cache
def page(name: str) -> bytes:
    """Return a file of the pages."""
    package = "lookalike.report" if name in OF_REPORT else __package__
    content = pkgutil.get_data(package, name if name in OF_REPORT else f"pages/{name}")
    assert content is not None
    return content.replace(b"<!-- glossary -->", page("glossary.html")) if name in ("job.html", "index.html") else content


def static(first: str) -> list[Route]:
    """Return the routes of the pages themselves, which hold nothing of a user's and need no key."""
    return [_file("/", first, "text/html"), *(_file(f"/pages/{name}", name, kind) for name, kind in PAGES.items())]


def _file(path: str, name: str, kind: str) -> Route:
    """Return the route of a file."""

    async def answer(request: Request) -> Response:
        return Response(page(name), headers=_HEADERS, media_type=kind)

    return Route(path, answer)


def _route(path: str, work: Callable[..., Any], form: type[Any] | None = None, run: Run = asyncio.to_thread) -> Route:
    """Return a route that answers with what some work, done by a thread, returns."""

    read = decoder(form) if form is not None else None

    async def answer(request: Request) -> Response:
        given = () if read is None else (read(request.content),)
        return Response(msgspec.json.encode(await _done(run, partial(work, request, *given))), media_type="application/json")

    return Route(path, answer, methods=["GET" if form is None else "POST"])


async def _done(run: Run, work: Callable[[], Any]) -> Any:
    """Do something by a thread, since it takes time; what is wrong with it becomes a problem."""
    try:
        return await run(work)
    except LookalikeError as error:
        status = next((status for kind, status in _STATUS.items() if isinstance(error, kind)), 422)
        raise Problem(status, str(error)) from None


def _number(name: str, text: str) -> int:
    """Return a number of an address."""
    if not text.isascii() or not text.isdecimal() or len(text) > 15:
        raise ParameterError("must be a whole number", name, text[:40])
    return int(text)


def routes_of_job(folder: str | Path, trust: Sequence[str] = ()) -> list[Route]:
    """Return the routes of the review of a saved job."""
    desk = Desk(folder, trust)

    def removals(request: Request) -> Any:
        asked = dict(request.query_params)
        begin, n = (_number(name, asked.pop(name, default)) for name, default in (("begin", "0"), ("n", "50")))
        source = asked.pop("source", "")
        if unknown := sorted(set(asked) - {"order", "kind", "judged", "find"}):
            raise ParameterError(f"unknown parameter {unknown[0][:40]!r}")
        return desk.list_removals(Wanted(source=_number("source", source) if source else None, **asked), begin, n)

    def pair(request: Request) -> Any:
        beside = [_number("beside", one) for one in request.query_params.get("beside", "").split(",") if one]
        return desk.pair(_number("the row", request.path_params["row"]), beside)

    def judge(request: Request, said: SentJudgement) -> Any:
        return desk.judge(said.row, Judgement(said.judgement, said.note), said.copies)

    async def report(request: Request) -> Response:
        return Response(await _done(asyncio.to_thread, desk.report), headers=_REPORT, media_type="text/html")

    return [
        *static("job.html"),
        _route("/v1/job", lambda request: desk.about()),
        _route("/v1/removals", removals),
        _route("/v1/removals/{row}", pair),
        _route("/v1/judgements", judge, SentJudgement),
        _route("/v1/undo", lambda request, _: desk.undo(), Nothing),
        Route("/v1/report", report),
    ]


def routes_of_index(store: BatchedIndex) -> list[Route]:
    """Return the routes of the page on which a text can be looked up in an index."""
    index = store.index

    threshold = index.kind.threshold

    def about(request: Request) -> Any:
        info = index.info
        return {
            "version": __version__,
            "keeps_texts": info["keep_text"],
            "said": f"{short(index.path.name)} has {plural(info['documents'], 'document')}. Shown are those whose "
            f"{_score(index)} with your text is at least {threshold if info['keep_text'] else index.kind.least_estimate:.3g}.",
            "most_bytes": store.limits.text,
            "score": _score(index),
        }

    def neighbours(request: Request, asked: Asked) -> Any:
        store.limits.check([asked.text])
        found = index.query([asked.text], top=whole("top", asked.top, 1, MOST)).to_pylist()
        keeps_texts = index.info["keep_text"]
        texts = index.get([row["id"] for row in found]) if keeps_texts and found else None  # an id may be gone meanwhile
        begins = {} if texts is None else {row["id"]: begin_of(row["text"]) for row in texts.to_pylist()}
        return {
            "threshold": threshold,
            "results": [
                _match(row, keeps_texts, begins.get(row["id"], ""))
                for row in found
                if not keeps_texts or row["resemblance"] >= threshold
            ],
        }

    def beside(request: Request, asked: Beside) -> Any:
        store.limits.check([asked.text])
        found = index.get(store.ids_of(asked.id))
        if not len(found):
            raise Problem(404, "the index no longer has a document with this id")
        if "text" not in found.column_names:
            return {"compared": None, "why": "This index keeps no texts."}
        texts = [text.encode("utf-8", "replace")[:MOST_TEXT] for text in (found["text"][0].as_py(), asked.text)]
        return {"compared": compare(texts[0], texts[1], index.kind.shingling, MOST_SHOWN).to_dict(), "why": None}

    return [
        *static("index.html"),
        _route("/v1/about", about, run=store.run),
        _route("/v1/neighbours", neighbours, Asked, store.run),
        _route("/v1/beside", beside, Beside, store.run),
    ]


def _score(index: Index) -> str:
    """Return what an index estimates."""
    return "cosine" if index.kind.name == "simhash" else "resemblance"


def _match(row: dict[str, Any], keeps_texts: bool, begins: str) -> dict[str, Any]:
    """Return what the page needs of a neighbour: its id as text, since numbers of scripts are not exact."""
    estimate, half = row["estimated_resemblance"], 1.96 * row["standard_error"]
    return {
        "id": str(row["id"]), "name": short(row["id"]), "resemblance": row["resemblance"], "estimate": estimate,
        "low": max(0.0, estimate - half), "high": min(1.0, estimate + half), "has_text": keeps_texts,
        "begins": begins,
    }  # fmt: skip
