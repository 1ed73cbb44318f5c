"""The exceptions of lookalike.

LookalikeError
├── ParameterError           a parameter breaks a rule (also a ValueError)
├── IncompatibleSketchError  two sketches were made with different parameters (also a ValueError)
├── InputDataError           a file, row or column is not as expected (also a ValueError)
│   └── RowError             a row is not as expected; raised where the name of its source is not known
├── IndexFormatError         a file of an index or a work folder is foreign, newer than this version, or damaged
├── OutputError              an output exists already or cannot be written (also an OSError)
├── TooManyRemovedError      a job would remove more documents than it may
└── MissingExtraError        an optional dependency is not installed (also an ImportError)
"""

import os
from collections.abc import Callable
from functools import cached_property, wraps
from types import FunctionType
from typing import Any, ParamSpec, TypeVar

from .wording import printable, spoken

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


class LookalikeError(Exception):
    """Base of every error that lookalike raises on purpose; its text is one line, without anything that steers a terminal."""

    def __str__(self) -> str:
        """Return the message, in which names, values and texts of others have escapes for what is not printable."""
        return printable(spoken(super().__str__()))


def from_caller(function: Callable[P, R]) -> Callable[P, R]:
    """Let errors raised on purpose, and arguments that do not fit, lead to the line that called a public function, not to ours.

    With LOOKALIKE_TRACEBACK=full in the environment they have all lines.
    """

    names = tuple(f"{name}()" for name in (function.__name__, function.__qualname__))

    @wraps(function)
    def called(*args: P.args, **named: P.kwargs) -> R:
        try:
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
        if name.startswith("_"):
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
    """A parameter breaks a rule; the message names the parameter, its value and what is allowed."""


class IncompatibleSketchError(LookalikeError, ValueError):
    """Two values that only make sense together were made with different parameters."""


class InputDataError(LookalikeError, ValueError):
    """Input data is not as expected; the message names the file and the row."""


class EncodingError(InputDataError):
    """A text is not valid UTF-8.

    Parameters
    ----------
    row : int
        Which of some texts.
    place : int
        The first byte of it that is not.
    """

    def __init__(self, row: int, place: int) -> None:
        super().__init__(row, place)
        self.row: int = row
        self.place: int = place

    def __str__(self) -> str:
        """Say where."""
        way_out = spoken("pass --encoding-errors replace (encoding_errors='replace') to continue")
        return f"row {self.row}: invalid UTF-8 at byte {self.place} of the text; {way_out}"


class RowError(InputDataError):
    """A row is not as expected; whoever knows its source puts the name of that in front.

    Parameters
    ----------
    position : int
        The row's position in the input.
    number : int
        The row as a user counts it.
    what : str
        What is wrong, without the place.
    """

    def __init__(self, position: int, number: int, what: str) -> None:
        super().__init__(position, number, what)
        self.position = position
        self.number = number
        self.what = what

    def __str__(self) -> str:
        """Return "row 12: what"."""
        return printable(spoken(f"row {self.number}: {self.what}"))


class IndexFormatError(LookalikeError, ValueError):
    """A file of an index or of a work folder is not ours, of a newer version, or damaged; the message names it."""


class OutputError(LookalikeError, OSError):
    """An output exists already, or could not be written; nothing half written is left behind."""


class TooManyRemovedError(LookalikeError):
    """A job would remove more documents than ``fail_if_removed`` allows; the message names what would lose most."""


class MissingExtraError(LookalikeError, ImportError):
    """An optional dependency is needed and not installed; the message says how to install it."""
