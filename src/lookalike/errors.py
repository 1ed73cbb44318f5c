"""The exceptions of lookalike: each says what happened and what to do, and has what it is about in its attributes.

LookalikeError
├── ParameterError           a parameter breaks a rule (also a ValueError)
├── IncompatibleSketchError  two sketches were made with different parameters (also a ValueError)
├── InputDataError           a file, row or column is not as expected (also a ValueError)
│   └── EncodingError        a text is not valid UTF-8
├── IndexFormatError         a file of an index or a work folder is foreign, newer than this version, or damaged
├── OutputError              an output exists already or cannot be written (also an OSError)
├── TooManyRemovedError      a job would remove more documents than it may
└── MissingExtraError        an optional dependency is not installed (also an ImportError)
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property, wraps
from inspect import CO_VARKEYWORDS
from types import FunctionType
from typing import Any, ParamSpec, TypeVar

from .wording import check_spelling, printable, show_path, spoken

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
PATHS = {"str | Path", "str | os.PathLike[str]"}
VALUES = {"None", "PackedSignatures", "Pairs", "Settings", "Shingles", "Signatures", "WeightedSets", "bool"}


class LookalikeError(Exception):
    """Base of every error that lookalike raises on purpose; its text is one line, without anything that steers a terminal.

    Attributes
    ----------
    reason : str
        What happened and what to do, without the place.
    path : str or None
        The file, folder or input that it is about, as it was named.
    row, line : int or None
        The row of that input, or the line of that file, from 1; rows of values in memory from 0.
    column : str or None
        The column, or the field.
    """

    path: str | None = None  # for ImportError has one too

    def __init__(
        self, reason: object = "", path: str | os.PathLike[str] | None = None, row: int | None = None, *,
        line: int | None = None, column: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(reason)
        self.reason: str = str(reason).lstrip()
        self._joint = ": " if self.reason == str(reason) else " "  # " exists" has the path as its subject
        self.path = None if path is None else os.fspath(path)
        self.row: int | None = None if row is None else int(row)
        self.line: int | None = line
        self.column: str | None = column

    def __str__(self) -> str:
        """Return place and reason, in which names, values and texts of others have escapes for what is not printable."""
        column = None if self.column is None or repr(self.column) in self.reason else repr(self.column)
        said = {"": self.path and show_path(self.path), "row ": self.row, "line ": self.line, "column ": column}
        place = ", ".join(f"{name}{value}" for name, value in said.items() if value is not None)
        return printable(spoken(f"{place}{self._joint if place else ''}{self._sentence()}"))

    def _sentence(self) -> str:
        return self.reason


def _check_argument(name: str, value: object, declared: str) -> None:
    """Refuse what is not of the declared type, and an empty path."""
    if declared in PATHS and not (isinstance(value, str | os.PathLike) and os.fspath(value)):
        raise ParameterError("must be a path", name, value)
    # NumPy's bool_ passes as bool; NoneType is declared as None
    if declared not in PATHS and type(value).__name__.removesuffix("Type").removesuffix("_") not in declared.split(" | "):
        raise ParameterError(f"must be of type {declared}", name, value)


def from_caller(function: Callable[P, R]) -> Callable[P, R]:
    """Let errors raised on purpose, and arguments that do not fit, lead to the line that called a public function, not to ours.

    LOOKALIKE_TRACEBACK=full gives them all lines. Names of arguments and some types are checked.
    """
    made: Any = function
    code = made.__code__
    checked = {
        name: kind
        for name, kind in made.__annotations__.items()
        if name != "return" and (kind in PATHS or VALUES.issuperset(str(kind).split(" | ")))
    }
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    names = tuple(f"{name}()" for name in (function.__name__, function.__qualname__))

    @wraps(function)
    def called(*args: P.args, **named: P.kwargs) -> R:
        try:
            if not code.co_flags & CO_VARKEYWORDS:
                check_spelling(function.__qualname__, named, parameters)
            for name, value in (*zip(parameters, args, strict=False), *named.items()) if checked else ():
                if name in checked:
                    _check_argument(name, value, checked[name])
            return function(*args, **named)
        except (LookalikeError, TypeError) as error:
            ours = isinstance(error, LookalikeError) or str(error).startswith(names)
            if not ours or os.environ.get("LOOKALIKE_TRACEBACK") == "full":
                raise
            raise error.with_traceback(None) from error.__cause__

    return called


def all_from_caller(public: type[T]) -> type[T]:
    """Let the errors of all public methods and attributes of a class lead to their callers."""
    for name, value in list(vars(public).items()):
        found: Any = value
        if name.startswith("_") and name != "__init__":
            continue
        if isinstance(value, FunctionType):
            setattr(public, name, from_caller(value))
        elif isinstance(value, classmethod):
            setattr(public, name, classmethod(from_caller(found.__func__)))
        elif isinstance(value, cached_property):
            found.func = from_caller(found.func)
        elif isinstance(value, property):
            setattr(public, name, property(from_caller(found.fget), doc=found.__doc__))
    return public


class ParameterError(LookalikeError, ValueError):
    """A parameter breaks a rule; the message names the parameter, its value and what is allowed.

    Attributes
    ----------
    name : str or None
        The parameter, as Python calls it.
    value : object
        What was given for it.
    """

    def __init__(self, reason: object = "", name: str | None = None, value: object = None) -> None:
        super().__init__(reason)
        self.name: str | None = name
        self.value: object = value
        self._said = self.reason
        if self.reason.startswith("must "):
            rule, _, hint = self.reason.partition("; ")
            got = repr(value) if isinstance(value, str) else str(value)
            self._said = f"{name} {rule}; got {got:.60}{hint and '; '}{hint}"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the text of a value that is no plain one, such as a function."""
        plain = self.value is None or isinstance(self.value, str | int | float)
        return type(self), self.args, vars(self) | {"value": self.value if plain else str(self.value)}

    def _sentence(self) -> str:
        return self._said


class IncompatibleSketchError(LookalikeError, ValueError):
    """Two values that only make sense together were made with different parameters."""


class InputDataError(LookalikeError, ValueError):
    """Input data is not as expected; the message names the file and the row."""


class EncodingError(InputDataError):
    """A text is not valid UTF-8: ``row`` says which of some texts, ``place`` the first byte of it that is not."""

    row: int

    def __init__(self, row: int, place: int) -> None:
        way_out = "pass --encoding-errors replace (encoding_errors='replace') to continue"
        super().__init__(f"invalid UTF-8 at byte {place} of the text; convert it, or {way_out}", None, row)
        self.args: tuple[Any, ...] = (row, place)
        self.place: int = place


class RowError(InputDataError):
    """A row is not as expected; whoever knows its source, by its position in the input, adds the name of that."""

    row: int

    def __init__(self, position: int, row: int, reason: str) -> None:
        super().__init__(reason, None, row)
        self.args: tuple[Any, ...] = (position, row, reason)
        self.position: int = position


class IndexFormatError(LookalikeError, ValueError):
    """A file of an index or of a work folder is not ours, of a newer version, or damaged; the message names it."""


class OutputError(LookalikeError, OSError):
    """An output exists already, or could not be written; nothing half written is left behind."""


class TooManyRemovedError(LookalikeError):
    """A job would remove more documents than ``fail_if_removed`` allows; the message names what would lose most."""


class MissingExtraError(LookalikeError, ImportError):
    """An optional dependency is needed and not installed; the message says how to install it."""


@contextmanager
def needed_for(extra: str) -> Iterator[None]:
    """Name the extra of a module that is imported within this and not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"{error.name} is not installed: pip install 'lookalike[{extra}]'") from None
