"""The bodies of requests and answers, and how JSON becomes the former."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from .problems import Problem, invalid

MOST_TOP = 1000
Id = (
    Annotated[int, Meta(ge=-(1 << 63), le=(1 << 63) - 1)]
    | Annotated[str, Meta(min_length=1, max_length=1000, description="An id; all ids of an index are of one type.")]
)
Share = Annotated[float, Meta(ge=-1, le=1)]


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
