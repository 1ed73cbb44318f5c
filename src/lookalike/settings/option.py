"""What an option is: signatures, checks, docstrings, help, and what is recorded of a job follow from its field.

A field of a class of options is ``name: Annotated[type, Option(...)] = default``. Adding an option means adding a field.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, fields
from functools import cache, wraps
from numbers import Integral, Real
from textwrap import TextWrapper
from typing import Annotated, Any, Concatenate, Literal, ParamSpec, TypeVar, cast, get_args, get_origin

from ..choices import check_choice
from ..errors import ParameterError, from_caller
from ..wording import check_spelling

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S")
GROUPS = FIND, READ, WRITE, RUN = "Matching", "Input", "Output", "Execution"
LINE, KEY, PYTHON = "option", "key", "keyword"
WIDTH = 128


@dataclass(frozen=True, slots=True)
class Kind:
    """What values an option takes: in docstrings, as a check, and in messages."""

    name: str
    types: tuple[Any, ...] | Any
    rule: str


Number = Annotated[float, Kind("float", Real, "a number")]
MaybeNumber = Annotated[float | None, Kind("float", Real, "a number or None")]
Whole = Annotated[int, Kind("int", Integral, "an integer")]
MaybeWhole = Annotated[int | None, Kind("int", Integral, "an integer or None")]
Seed = Annotated[int | Literal["random"], Kind('int in [0, 2^64) or "random"', Integral, 'an integer or "random"')]
MaybeWord = Annotated[str | None, Kind("str", str, "a str or None")]
Names = Annotated[str | Sequence[str], Kind("str or list of str", (str, list, tuple), "a str or a list of str")]
Words = Annotated[str | Sequence[str] | None, Kind("str or list of str", (str, list, tuple), "a str, a list of str or None")]
Flag = Annotated[bool, Kind("bool", bool, "True or False")]
MaybeFlag = Annotated[bool | None, Kind("bool", bool, "True, False or None")]
Path = Annotated[str | os.PathLike[str] | None, Kind("path", (str, os.PathLike), "a path or None")]
Paths = Annotated[
    str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    Kind("path or list of paths", (str, os.PathLike, list, tuple), "a path or a list of paths"),
]
Shares = Annotated[
    float | str | Sequence[float | str] | None,
    Kind("float, str or list of these", (Real, str, list, tuple), "a share, one of a column such as 'lang:0.6', or a list"),
]
Size = Annotated[int | str | None, Kind("int or str", (str, Real), "a number of bytes, a size such as '4GB', or None")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """What is known of an option beyond its name, type and default."""

    doc: str  # what docstrings say of it
    help: str = ""  # what the command line says, where that is not the first sentence of ``doc``
    place: str = KEY  # whether the command line has it as an option, as a key of a file and of --set, or not at all
    group: str = FIND
    offered: tuple[str, ...] = ()  # the words that are named, where not all are for everybody
    least: int | None = None
    most: int | None = None
    range: str = ""  # as docstrings say it
    spelled: tuple[str, ...] = ()  # as the command line writes it, if not --name
    metavar: str | None = None
    repeated: bool = False  # whether the command line takes it several times
    recorded: str = ""  # "always" or "given": whether provenance has it, or only where it is not the default
    sketched: bool = False  # whether sketches depend on it, or must come from a job with the same value
    repeats: bool = True  # whether a command that repeats the job needs it

    @property
    def help_text(self) -> str:
        """What is said of it in a line or two."""
        return self.help or self.doc.split(". ")[0].rstrip(".").replace("``", "") + "."


@dataclass(frozen=True, slots=True)
class OptionField:
    """An option of a class: its field, and the type of its values."""

    name: str
    option: Option
    kind: Kind | None
    type: Any
    default: Any

    @property
    def may_be_none(self) -> bool:
        """Whether None, which says nothing, is a value."""
        return type(None) in get_args(self.type)

    @property
    def choice(self) -> Any:
        """The type of its words, if it takes nothing else; any other value is refused."""
        kinds = [kind for kind in get_args(self.type) or (self.type,) if kind is not type(None)]
        kind = self.type if get_origin(self.type) is Literal else kinds[0]
        return kind if get_origin(kind) is Literal and kinds[1:] in ([], list(get_args(kind)[1:])) else None

    @property
    def words(self) -> tuple[str, ...]:
        """The words that are named."""
        return self.option.offered or get_args(self.choice)


@cache
def _described(entry: OptionField) -> list[str]:
    """Return the lines that describe it in a docstring."""
    option, words = entry.option, entry.words
    kind = entry.kind.name if entry.kind else "callable"
    if words:
        kind = "{" + ", ".join(f'"{word}"' for word in words) + "}"
    elif option.least is not None and entry.name != "seed":
        kind += f" >= {option.least}" if option.most is None else f" in [{option.least}, {option.most}]"
    shown = f'"{entry.default}"' if isinstance(entry.default, str) else repr(entry.default)
    usual = "" if entry.default is MISSING else ", optional" if entry.default in (None, ()) else f", default {shown}"
    wrapper = TextWrapper(WIDTH, initial_indent="        ", subsequent_indent="        ", break_long_words=False,
                          break_on_hyphens=False)  # fmt: skip
    return [f"    {entry.name} : {option.range or kind}{usual}", *wrapper.wrap(option.doc)]


def entries(options: type) -> dict[str, OptionField]:
    """Return the options of a class by name: its fields with an ``Option`` that its call takes."""
    return _entries(options)


@cache
def _entries(options: Any) -> dict[str, OptionField]:
    found: dict[str, OptionField] = {}
    defaults = {field.name: field.default for field in fields(options) if field.init}
    for one in options.__mro__:
        for name, hint in inspect.get_annotations(one).items():
            said = getattr(hint, "__metadata__", ())
            option = next((some for some in reversed(said) if isinstance(some, Option)), None)
            kind = next((some for some in said if isinstance(some, Kind)), None)
            if option is not None and name in defaults and name not in found:
                found[name] = OptionField(name, option, kind, hint.__origin__, defaults[name])
    return dict(sorted(found.items(), key=lambda entry: GROUPS.index(entry[1].option.group)))


def check_values(options: Any) -> None:
    """Refuse a value of a wrong type, beyond its limits, or that is no choice; make NumPy numbers Python's."""
    from ..values.arrays import plain, whole  # here, for help needs no NumPy

    for entry in entries(type(options)).values():
        given = getattr(options, entry.name)
        value = plain(given)
        kind = entry.kind
        if value is not given:
            object.__setattr__(options, entry.name, value)
        if value is None and entry.may_be_none:
            continue
        if entry.choice is not None:
            check_choice(entry.name, value, entry.choice)
        if kind is None:
            continue
        other = not isinstance(value, kind.types) or isinstance(value, bool) != (kind.types is bool)
        if other or (value == "" and "path" in kind.name):
            raise ParameterError(
                f"{entry.name} must be {kind.rule}; got {given!r:.60}, of type {type(given).__name__}", entry.name, given
            )
        if isinstance(value, list | tuple) and not entry.may_be_none and kind.types == (str, list, tuple):
            object.__setattr__(options, entry.name, _distinct(entry.name, value))
        if entry.option.least is not None:
            object.__setattr__(options, entry.name, whole(entry.name, value, entry.option.least, entry.option.most))


def _distinct(name: str, given: Sequence[Any]) -> str | tuple[str, ...]:
    """Return names, one alone as a str; refuse what is none, or is given twice."""
    if not given or not all(isinstance(one, str) for one in given):
        raise ParameterError("must be a str or a list of str, with at least one entry", name, given)
    if len(set(given)) < len(given):
        raise ParameterError(f"{name} names a column twice: {', '.join(given)}")
    return given[0] if len(given) == 1 else tuple(given)


def recorded(options: Any) -> dict[str, Any]:
    """Return the values that provenance has as they are."""
    found = {}
    for name, entry in entries(type(options)).items():
        value = getattr(options, name)
        if entry.option.recorded == "always" or (entry.option.recorded and value != entry.default):
            found[name] = value
    return found


def repeating(options: Any) -> dict[str, Any]:
    """Return the settings that repeat a job: those that are not the defaults."""
    values = {name: (getattr(options, name), entry) for name, entry in entries(type(options)).items() if entry.option.repeats}
    return {name: value for name, (value, entry) in values.items() if value != entry.default}


def _with_options(doc: str | None, options: type) -> str | None:
    """Add the description of all options to a docstring, after the parameters that it describes itself."""
    if doc is None:  # python -OO
        return None
    lines = doc.rstrip().splitlines()
    begin = next((number for number, line in enumerate(lines) if line.strip() == "Parameters"), None)
    if begin is None:
        begin = next(
            (number - 1 for number, line in enumerate(lines) if line.strip().strip("-") == "" != line.strip()), len(lines)
        )
        lines[begin:begin] = ["    Parameters", "    ----------", ""]
    end = next((number for number in range(begin, len(lines)) if not lines[number].strip()), len(lines))
    said = [line for entry in entries(options).values() for line in _described(entry)]
    return "\n".join([*lines[:end], *said, *lines[end:], "    "])


def with_option_docs(options: type[S]) -> type[S]:
    """Describe the options of a class in its docstring, and let its errors lead to its callers."""
    made: Any = options
    made.__init__ = from_caller(made.__init__)
    options.__doc__ = _with_options(options.__doc__, options)
    return options


def front_door(settings: Callable[P, S]) -> Callable[[Callable[[Any, S], R]], Callable[Concatenate[Any, P], R]]:
    """Give a function of data and settings the options of its settings as keywords, as type checkers and editors see them."""
    options: Any = settings

    def decorate(function: Callable[[Any, S], R]) -> Callable[Concatenate[Any, P], R]:
        known = entries(options)
        needed = {name for name, entry in known.items() if entry.default is MISSING}

        @from_caller
        @wraps(function)
        def accept_settings(data: Any = MISSING, *args: P.args, **given: P.kwargs) -> R:
            check_spelling(function.__name__, given, known)
            if args:
                raise TypeError(f"{function.__name__}() takes 1 positional argument but {1 + len(args)} were given")
            if data is MISSING:
                raise TypeError(f"{function.__name__}() missing 1 required positional argument: 'data'")
            for name in needed - given.keys():
                raise TypeError(f"{function.__name__}() missing 1 required keyword-only argument: {name!r}")
            return function(data, settings(**given))  # type: ignore[call-arg]

        own = inspect.signature(function)
        keywords = [
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, annotation=entry.type,
                default=inspect.Parameter.empty if entry.default is MISSING else entry.default,
            )
            for name, entry in known.items()
        ]  # fmt: skip
        accept_settings.__signature__ = own.replace(parameters=[own.parameters["data"], *keywords])  # type: ignore[attr-defined]
        accept_settings.__doc__ = _with_options(function.__doc__, options)
        return cast(Callable[Concatenate[Any, P], R], accept_settings)

    return decorate
