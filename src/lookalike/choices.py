"""The words that parameters take, each set once: as types, from which messages, help and docstrings take their lists."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol, get_args

from .errors import ParameterError
from .wording import meant

Unit = Literal["word", "char", "byte", "line"]
UNITS = get_args(Unit)  # their places are those of native/shingles.cpp
RepeatsUnit = Literal["line", "paragraph", "passage"]
Normalization = Literal["NFC", "NFKC", "none"]
EncodingErrors = Literal["strict", "replace"]
OnError = Literal["stop", "skip"]
Measure = Literal["resemblance", "containment"]
Verify = Literal["exact", "sketch", "none"]
Method = Literal["minhash", "simhash"]
Evidence = Literal["keepers", "all"]
Empty = Literal["keep", "drop"]
ReportTexts = Literal["full", "none", "hash"]
Mode = Literal["append", "read"]
Filling = Literal["rotation", "optimal", "reverse"]
Densify = Literal["none", Filling]
Lookup = Literal["prefix", "binary"]
ByLength = Literal["first", "last", "longest", "shortest"]
ByColumn = Literal["largest", "smallest"]
Policy = ByLength | tuple[ByColumn, str] | Mapping[str, Sequence[str]]
Keep = Policy | list[Policy]
"""What to keep: in Python ``("largest", "date")`` for "largest:date", ``{"source": ["wiki", "news"]}`` for
"source:wiki,news", and a list of policies, of which each breaks the ties of those before it."""
ContainmentMeasure = Measure | tuple[Literal["ngram"], int]


class Session(Protocol):
    """A session of Spark."""

    def createDataFrame(self, *args: Any, **more: Any) -> Any: ...  # noqa: N802


Engine = Literal["local", "spark"] | Session | Callable[[], Session]


def check_choice(name: str, value: object, known: Any) -> None:
    """Refuse what is none of the words of a type, or of some words, and say which was probably meant."""
    words = get_args(known) or tuple(known)
    if not isinstance(value, str) or value not in words:
        raise ParameterError(f"must be one of {', '.join(words)}{meant(str(value), words)}", name, value)
