"""Keep order: a list of policies, of which each breaks the ties of those before it, and the columns that they follow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..choices import Keep
from ..errors import ParameterError
from ..formats.split import Batch, Split
from ..values.cells import cell_keys
from ..values.tables import priority_name
from ..wording import meant
from .ids import column_keys

_WITHOUT_COLUMN = {"first": "position", "last": "-position", "longest": "-bytes", "shortest": "bytes"}
_SIGNS = {"largest": "-", "smallest": ""}
_FORMS = (*_WITHOUT_COLUMN, *(f"{word}:COLUMN" for word in _SIGNS), "COLUMN:VALUE,VALUE,...")


@dataclass(frozen=True, slots=True)
class Priority:
    """A column that keep order follows: by its values or, if some are listed, by their places in the list."""

    column: str
    listed: tuple[str, ...] = ()

    def keys(self, source: Split, batch: Batch) -> list[bytes]:
        """Return bytes that sort as the rows do, none for a null."""
        keys = column_keys(source, batch, self.column)
        if not self.listed:
            return keys
        listed = list(self.listed)
        as_text, as_cell = cell_keys(listed), cell_keys(listed, untyped=True)  # text, or what text in CSV reads as
        places = {key: place for place in reversed(range(len(listed))) for key in (as_text[place], as_cell[place])}
        return [places.get(key, len(listed)).to_bytes(4) if key else b"" for key in keys]


@dataclass(frozen=True, slots=True)
class KeepOrder:
    """What keep order follows."""

    by: tuple[str, ...]  # columns, as ``Engine.rank`` takes them
    priorities: tuple[Priority, ...]  # columns of the inputs among them

    @classmethod
    def of(cls, keep: str) -> KeepOrder:
        """Return the keep order that a text names."""
        by: list[str] = []
        priorities: list[Priority] = []
        for policy in (part.strip() for part in keep.split(";")):
            if by and by[-1].endswith("position"):
                raise ParameterError(
                    f"keep: {policy!r} cannot decide anything after first or last, which leave no ties; got {keep!r}",
                    "keep",
                    keep,
                )
            word, colon, rest = policy.partition(":")
            if policy in _WITHOUT_COLUMN:
                by.append(_WITHOUT_COLUMN[policy])
            elif word in _WITHOUT_COLUMN or not (word and colon and rest):
                raise ParameterError(
                    f"keep must be one of {', '.join(_FORMS)}, or several of them, separated by ';'; got {policy!r}"
                    + (f" in {keep!r}" if policy != keep else "")
                    + ("" if colon or word in _SIGNS else meant(word, [*_WITHOUT_COLUMN, *_SIGNS])),
                    "keep",
                    keep,
                )
            else:
                by.append(_SIGNS.get(word, "") + priority_name(len(priorities)))
                priorities.append(Priority(rest) if word in _SIGNS else Priority(word, _listed_values(policy, rest)))
        once: dict[str, str] = {}
        for name in (*by, "position"):  # a column that has decided leaves ties alone
            once.setdefault(name.removeprefix("-"), name)
        return cls(tuple(once.values()), tuple(priorities))


def keep_text(keep: Keep) -> str:
    """Return what to keep as the command line writes it."""
    if isinstance(keep, list):
        return "; ".join(map(keep_text, keep))
    if isinstance(keep, tuple):
        text, wanted = ":".join(map(str, keep)), [Priority(name) for name in keep[-1:]]
    elif isinstance(keep, Mapping):
        lists = {name: (values,) if isinstance(values, str) else tuple(values) for name, values in keep.items()}
        text = "; ".join(f"{name}:{','.join(map(str, values))}" for name, values in lists.items())
        wanted = [Priority(*item) for item in lists.items()]
    else:
        return keep
    if list(KeepOrder.of(text).priorities) != wanted:
        raise ParameterError(f"keep: names and values are text without ';' and ',', and no blanks around it; got {keep!r:.60}")
    return text


def _listed_values(policy: str, values: str) -> tuple[str, ...]:
    found = tuple(value.strip() for value in values.split(","))
    if not all(found):
        raise ParameterError(f"keep: a value is missing in {policy!r}; expected COLUMN:VALUE,VALUE,...", "keep", policy)
    if again := [value for value in found if found.count(value) > 1]:
        raise ParameterError(f"keep: {again[0]!r} is listed twice in {policy!r}", "keep", policy)
    return found
