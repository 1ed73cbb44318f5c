"""The bodies of requests and answers in JSON, what they may take, and errors as problem details (RFC 9457). What
a stranger sends is checked before it is used. ``openapi.json`` describes the same structs."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from .. import __version__

JSON, PROBLEM = "application/json", "application/problem+json"
MOST_TOP = 1000
MOST_MATCHES = 100_000  # that one answer can have: texts times top
Id = (
    Annotated[int, Meta(ge=-(1 << 63), le=(1 << 63) - 1)]
    | Annotated[str, Meta(min_length=1, max_length=1000, description="An id; all ids of an index are of one type.")]
)
Share = Annotated[float, Meta(ge=-1, le=1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one request, and all of them together, may take."""

    body: int = 16 << 20  # bytes of a request's body
    batch: int = 1000  # documents, texts or ids in one request
    text: int = 1 << 20  # bytes of one text, in UTF-8
    seconds: float = 30.0  # for a body to arrive, and then for the request to wait for its turn
    waiting: int = 1000  # requests that wait for an answer, and as many again that wait to be written
    held: int = 256 << 20  # bytes of all bodies that are in memory
    connections: int = 20_000

    def check(self, texts: list[str]) -> None:
        """Check how long texts are."""
        for i, text in enumerate(texts):
            if 4 * len(text) > self.text and (n := len(text.encode("utf-8", "replace"))) > self.text:
                which = f"text {i}" if len(texts) > 1 else "this one"
                raise invalid(f"a text must have at most {self.text:,} bytes in UTF-8; {which} has {n:,}")


class Details(msgspec.Struct):
    """What went wrong with a request: a problem of RFC 9457."""

    type: str
    title: str
    status: int
    detail: str
    request_id: str


class Problem(Exception):  # noqa: N818
    """A request cannot be answered: a status, and what was expected, what came, and what to do, without any text of a document.
    More headers of the answer are given by name, with underscores in place of hyphens."""

    def __init__(self, status: int, detail: str, **headers: str) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers = {name.replace("_", "-").lower(): value for name, value in headers.items()}

    def body(self, request_id: str) -> bytes:
        """Return the body of the answer."""
        title = HTTPStatus(self.status).phrase
        return msgspec.json.encode(Details("about:blank", title, self.status, self.detail, request_id))


def busy(what: str) -> Problem:
    """Return the problem of a full queue: try again in a second."""
    return Problem(429, f"{what}; try again in a second", retry_after="1")


def invalid(detail: str) -> Problem:
    """Return the problem of a body that is well formed and cannot be worked on."""
    return Problem(422, detail)


class Document(msgspec.Struct, forbid_unknown_fields=True):
    """A document to be added."""

    id: Id
    text: str


class Documents(msgspec.Struct, forbid_unknown_fields=True):
    """Documents to be added; those with ids that are in the index take the place of the old ones."""

    documents: list[Document]


class Added(msgspec.Struct):
    """How many documents were added, and how many of these replaced one. All of them are on disk."""

    added: int
    replaced: int


class Ids(msgspec.Struct, forbid_unknown_fields=True):
    """Ids of documents to be removed; ids that are not in the index are passed over."""

    ids: list[Id]


class Removed(msgspec.Struct):
    """How many documents were removed. None of them is on disk any more, as far as answers go."""

    removed: int


class Stored(msgspec.Struct):
    """A document of the index; its text is null if the index keeps none."""

    id: int | str
    text: str | None


class Query(msgspec.Struct, forbid_unknown_fields=True):
    """Texts to be looked up, and the maximum number of matches for each."""

    texts: list[str]
    top: Annotated[int, Meta(ge=1, le=MOST_TOP)] = 10


class Match(msgspec.Struct):
    """A document that is like a text; its exact resemblance is null if the index keeps no texts."""

    id: int | str
    resemblance: Share | None
    estimated_resemblance: Share
    standard_error: Annotated[float, Meta(ge=0)]


class Results(msgspec.Struct):
    """The matches of each text, the best first."""

    results: list[list[Match]]


class Pair(msgspec.Struct, forbid_unknown_fields=True):
    """Two texts to be compared, by the shingles of the index."""

    left: str
    right: str


class Compared(msgspec.Struct):
    """What ``lookalike compare`` says of two texts; null where a text without tokens leaves a number undefined."""

    shingles_left: int
    shingles_right: int
    resemblance: float | None
    estimated_resemblance: float | None
    standard_error: float | None
    containment_left: float | None
    containment_right: float | None
    hamming_distance: int
    estimated_hamming_distance: float | None


class Status(msgspec.Struct):
    """Whether the server is alive, or ready."""

    status: str


encode = msgspec.json.Encoder().encode


def decoder(kind: type) -> Any:
    """Return a function that reads a JSON body of a type, or raises a problem."""
    decode: Any = msgspec.json.Decoder(kind).decode

    def read(body: bytes) -> Any:
        try:
            return decode(body)
        except msgspec.ValidationError as error:
            raise invalid(f"the body is not as expected: {error}") from None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise Problem(400, "the body is not JSON in UTF-8") from None

    return read


def openapi(keyed: bool, has_index: bool = True) -> bytes:
    """Return the OpenAPI document; ``keyed``: whether the server has keys; ``has_index``: whether it serves one."""
    document = msgspec.json.decode(Path(__file__).with_name("openapi.json").read_bytes())
    document["info"]["version"] = __version__
    paths = document["paths"] = {path: one for path, one in document["paths"].items() if has_index or path[:4] != "/v1/"}
    if not keyed:
        del document["security"], document["components"]["securitySchemes"]
        for operation in chain.from_iterable(methods.values() for methods in paths.values()):
            operation["responses"].pop("401", None)
    return msgspec.json.encode(document)
