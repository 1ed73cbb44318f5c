"""The inputs of a job as a page names them and reads them again, and the command that repeats it."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..errors import InputDataError
from ..files.places import digest_of
from ..formats.split import Split
from ..results.tables import Tables
from ..settings.option import entries
from ..settings.settings import Settings
from .samples import MOST_TEXT, Pair, positions_of, short

SHOWN = 40  # inputs that are listed
NAMED = 20  # inputs that a command names


def describe_inputs(identities: Sequence[dict[str, Any]], digest: DigestOf, n_references: int) -> list[dict[str, Any]]:
    """Return what a page says of each input: name, role, files, bytes and, of files that are at hand, their digest."""
    found = []
    for number, identity in enumerate(identities):
        found.append(
            {
                "name": short(identity["name"]),
                "reference": number < n_references,
                "files": identity.get("files", 1),
                "bytes": identity.get("bytes"),
                "digest": digest(number),
            }
        )
    return found


def command_of(
    settings: Settings, identities: Sequence[dict[str, Any]], n_references: int, job: str = "dedup"
) -> str:  # fmt: skip
    """Return the command that repeats a job; a call of Python where no command can."""
    options = entries(Settings)
    given = {
        name: getattr(settings, name)
        for name, entry in options.items()
        if entry.option.repeats and getattr(settings, name) != (settings.usual_keep if name == "keep" else entry.default)
    }
    given |= {"threshold": settings.threshold, "recall": settings.recall, "seed": settings.seed}
    if settings.permutations is not None:
        given["permutations"] = settings.permutations
    names = [short(identity["name"], 300) for identity in identities]
    references = dict.fromkeys(short(identity.get("sketches", identity["name"]), 300) for identity in identities[:n_references])
    names[:n_references], n_references = references, len(references)  # saved sketches are named by their folder
    some = names[n_references : n_references + NAMED]
    more = len(names) - n_references - len(some)
    in_memory = any(identity["name"] == "in memory" or "in_memory" in identity for identity in identities)
    if settings.overrides is not None:
        given["overrides"] = settings.overrides.name
    if settings.ignore is not None:
        given["ignore"] = settings.ignore.names or None
        if settings.ignore.names is None:
            del given["ignore"]
    unnamed = [name for name in ("overrides", "ignore") if given.get(name, "") is None]
    if in_memory or unnamed or not all(options[name].option.help for name in given):
        data = "data" if in_memory else repr(some)
        words = [data, *(["against=references"] if n_references else [])]
        for name in unnamed:
            del given[name]
            words.append(f"{name}={name}")
        words += [f"{name}={getattr(value, '__name__', None) or repr(value)}" for name, value in given.items()]
        return f"lookalike.{job}({', '.join(words)})" + (f"  # and {more:,} more inputs" if more else "")
    if "slices" in given:
        given["slice"] = given.pop("slices")  # as the option is called
    return _command(job, names, n_references, given)


def decontaminate_command(settings: dict[str, Any], identities: Sequence[dict[str, Any]], n_references: int) -> str:
    """Return the command that repeats an overlap, from its parameters; a call of Python where no command can."""
    given = {**settings, **settings["shingling"]}
    if given["threshold"] is None:
        del given["width"]  # n-grams say it
    known = ("measure", "threshold", "passage", "text", "id", "against_text", "against_id", "benchmark", "min_tokens", "common",
             "encoding_errors", "unit", "width", "normalization", "fold_case")  # fmt: skip
    given = {name: given[name] for name in known if given.get(name) is not None and (name != "fold_case" or not given[name])}
    names = [short(identity["name"], 300) for identity in identities]
    if any(identity["name"] == "in memory" or "in_memory" in identity for identity in identities):
        words = ["data", "against=references", *(f"{name}={value!r}" for name, value in given.items())]
        return f"lookalike.decontaminate({', '.join(words)})"
    return _command("decontaminate", names, n_references, given)


def _command(job: str, names: list[str], n_references: int, given: dict[str, Any]) -> str:
    """Return a command; of very many inputs it names some."""
    some = names[n_references : n_references + NAMED]
    words = ["lookalike", job, *some]
    for name in names[: min(n_references, NAMED)]:
        words += ["--against", name]
    for name, value in given.items():
        option = "--" + name.replace("_", "-")
        if name == "fold_case":
            words.append("--keep-case")
        elif isinstance(value, list | tuple):
            words += [word for one in value for word in (option, one)]
        else:
            words += [option] if value is True else [option, f"{value:g}" if isinstance(value, float) else str(value)]
    more = len(names) - n_references - len(some) + max(0, n_references - NAMED)
    return shlex.join(words) + (f"  # and {more:,} more inputs" if more else "")


DigestOf = Callable[[int], str | None]


def digests_of(sources: Sequence[Split]) -> DigestOf:
    """Return what gives the digest of an input by its number; None where it is no file."""
    return lambda number: digest_of(sources[number].places)


class Originals:
    """The inputs of a result, and why texts or digests are missing (``missing``; empty: none is).

    Of an open job all are at hand: what cannot be read is an error. What a loaded result names and is gone or has changed is
    left out of the page, which says why.
    """

    def __init__(self, result: Tables) -> None:
        self._settings, self._inputs, self._is_open = result.settings, result.inputs, result.is_open
        self.missing = ""

    def digest(self, number: int) -> str | None:
        """Return the digest of an input; None where it is no file, or cannot be read by a loaded result."""
        try:
            return self._inputs.digest(number)
        except InputDataError as error:
            if self._is_open:
                raise
            self.missing = str(error)
            return None

    def texts(self, pairs: Iterable[Pair]) -> dict[int, bytes]:
        """Return the texts of pairs by their positions; none where a loaded result cannot read one of them."""
        try:
            return self._inputs.texts(positions_of(pairs), self._settings, MOST_TEXT)
        except InputDataError as error:
            if self._is_open:
                raise
            self.missing = str(error)
            return {}
