"""The pages of the service: files of this package, and what their scripts ask for."""

from __future__ import annotations

import asyncio
import pkgutil
from collections.abc import Awaitable, Callable
from functools import cache
from typing import Any
from urllib.parse import parse_qs

import msgspec

from .. import __version__
from ..errors import InputDataError, MissingExtraError, OutputError, ParameterError, SemblanceError
from ..index.opened import OpenIndex
from ..report.compared import compare
from ..report.samples import MOST_TEXT, short
from ..values.arrays import whole
from ..wording import counted
from .desk import MOST_SHOWN, Desk
from .desk_removals import Wanted
from .desk_review import Judgement
from .guard import Reply, Request, Route, Routes
from .keys import READ, WRITE
from .problems import Problem, invalid

PAGES = {"page.css": "text/css", "desk.css": "text/css", "beside.js": "text/javascript", "desk.js": "text/javascript",
         "job.js": "text/javascript", "index.js": "text/javascript", "icon.svg": "image/svg+xml"}  # fmt: skip
OF_REPORT = ("page.css", "beside.js")  # the pages and the report have them in common
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = ((b"content-security-policy", POLICY.encode()), (b"referrer-policy", b"no-referrer"))
_REPORT = (b"referrer-policy", b"no-referrer"), (b"content-security-policy", b"frame-ancestors 'none'")
SHOWN, MOST = 10, 100  # neighbours
_STATUS = {MissingExtraError: 501, OutputError: 507, InputDataError: 500}


class Said(msgspec.Struct, forbid_unknown_fields=True):
    """A judgement, as a page sends it."""

    row: int
    judgement: str | None
    note: str = ""
    drawn: bool = False


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
    package = "semblance.report" if name in OF_REPORT else __package__
    content = pkgutil.get_data(package, name if name in OF_REPORT else f"pages/{name}")
    assert content is not None
    return content


def static(first: str) -> Routes:
    """Return the routes of the pages themselves, which hold nothing of a user's and need no key.

    Parameters
    ----------
    first : str
        The file at ``/``.
    """
    routes: Routes = {"/": {"GET": _file(first, "text/html")}}
    return routes | {f"/pages/{name}": {"GET": _file(name, kind)} for name, kind in PAGES.items()}


def _file(name: str, kind: str) -> Route:
    """Return the route of a file."""
    reply = Reply(page(name), f"{kind}; charset=utf-8".encode(), headers=_HEADERS)

    async def answer(request: Request) -> Reply:
        return reply

    return Route("page", answer, needs="")


def _json(work: Callable[[Request], Any]) -> Callable[[Request], Awaitable[Reply]]:
    """Return a function that answers with what some work, done by a thread, returns."""

    async def answer(request: Request) -> Reply:
        return Reply(msgspec.json.encode(await _done(work, request)))

    return answer


async def _done(work: Callable[[Request], Any], request: Request) -> Any:
    """Do something by a thread, since it takes time; what is wrong with it becomes a problem."""
    try:
        return await asyncio.to_thread(work, request)
    except SemblanceError as error:
        status = next((status for kind, status in _STATUS.items() if isinstance(error, kind)), 422)
        raise Problem(status, str(error)) from None


def _body(request: Request, form: type[Any]) -> Any:
    """Read a body of JSON.

    Raises
    ------
    Problem
        415 if it is of another type, 422 if it has other fields.
    """
    if request.arrow:
        raise Problem(415, "the body must be application/json")
    try:
        return msgspec.json.decode(request.body, type=form)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise invalid(f"the body is not as expected: {error}") from None


def _asked(request: Request) -> dict[str, str]:
    """Return the parameters of an address; of one that comes twice the last.

    Raises
    ------
    ParameterError
        If there are very many, or they are not text.
    """
    try:
        found = parse_qs(request.query.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=20)
    except ValueError:
        raise ParameterError("the parameters of the address cannot be read") from None
    return {name: values[-1] for name, values in found.items()}


def _number(name: str, text: str) -> int:
    """Return a number of an address."""
    if not text.isascii() or not text.isdecimal() or len(text) > 15:
        raise ParameterError(f"{name} must be a whole number; got {text[:40]!r}")
    return int(text)


def routes_of_job(desk: Desk) -> Routes:
    """Return the routes of the review of a saved job."""

    def removals(request: Request) -> Any:
        asked = _asked(request)
        begin, n = (_number(name, asked.pop(name, default)) for name, default in (("begin", "0"), ("n", "50")))
        source = asked.pop("source", "")
        if unknown := sorted(set(asked) - {"order", "kind", "judged", "find"}):
            raise ParameterError(f"unknown parameter {unknown[0][:40]!r}")
        return desk.listed(Wanted(source=_number("source", source) if source else None, **asked), begin, n)

    def pair(request: Request) -> Any:
        row = _number("the row", request.path.rpartition("/")[2])
        beside = [_number("beside", one) for one in _asked(request).get("beside", "").split(",") if one]
        return desk.pair(row, beside)

    def judge(request: Request) -> Any:
        said = _body(request, Said)
        return desk.judge(said.row, Judgement(said.judgement, said.note, said.drawn))

    def undo(request: Request) -> Any:
        _body(request, Nothing)
        return desk.undo()

    async def report(request: Request) -> Reply:
        made = await _done(lambda _: desk.report(), request)
        return Reply(made, b"text/html; charset=utf-8", headers=_REPORT)

    return static("job.html") | {
        "/v1/job": {"GET": Route("/v1/job", _json(lambda _: desk.about()))},
        "/v1/removals": {"GET": Route("/v1/removals", _json(removals))},
        "/v1/removals/": {"GET": Route("/v1/removals/{row}", _json(pair))},
        "/v1/judgements": {"POST": Route("/v1/judgements", _json(judge), WRITE, True)},
        "/v1/undo": {"POST": Route("/v1/undo", _json(undo), WRITE, True)},
        "/report": {"GET": Route("/report", report)},
    }


def routes_of_index(index: OpenIndex) -> Routes:
    """Return the routes of the page on which a text can be looked up in an index."""

    def about(request: Request) -> Any:
        info = index.info
        return {
            "version": __version__,
            "keeps_texts": info["keep_text"],
            "said": f"{short(index.path.name)} has {counted(info['documents'], 'document')}. Shown are those whose "
            f"{_score(index)} with a text is at least {index.kind.threshold:g}.",
        }

    def neighbours(request: Request) -> Any:
        asked = _body(request, Asked)
        found = index.query([asked.text], top=whole("top", asked.top, 1, MOST)).to_pylist()
        return {"threshold": index.kind.threshold, "results": [_match(row, index.info["keep_text"]) for row in found]}

    def beside(request: Request) -> Any:
        asked = _body(request, Beside)
        key = int(_number("the id", asked.id)) if index.id_type == "int" else asked.id
        found = index.get([key])
        if not len(found):
            raise Problem(404, "the index has no document of this id any more")
        if "text" not in found.column_names:
            return {"compared": None, "why": "This index keeps no texts."}
        left, right = found["text"][0].as_py().encode(), asked.text.encode()
        return {"compared": compare(left[:MOST_TEXT], right[:MOST_TEXT], index.kind.shingling, MOST_SHOWN).to_dict(), "why": None}

    return static("index.html") | {
        "/v1/about": {"GET": Route("/v1/about", _json(about))},
        "/v1/neighbours": {"POST": Route("/v1/neighbours", _json(neighbours), READ, True)},
        "/v1/beside": {"POST": Route("/v1/beside", _json(beside), READ, True)},
    }


def _score(index: OpenIndex) -> str:
    """Return what an index estimates."""
    return "cosine" if index.kind.name == "simhash" else "resemblance"


def _match(row: dict[str, Any], keeps_texts: bool) -> dict[str, Any]:
    """Return what the page needs of a neighbour: its id as text, since numbers of scripts are not exact."""
    estimate, half = row["estimated_resemblance"], 1.96 * row["standard_error"]
    return {
        "id": str(row["id"]), "name": short(row["id"]), "resemblance": row["resemblance"], "estimate": estimate,
        "low": max(0.0, estimate - half), "high": min(1.0, estimate + half), "has_text": keeps_texts,
    }  # fmt: skip
