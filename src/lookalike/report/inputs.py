"""The inputs of a job as a page names them and reads them again, and the command that repeats it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..errors import InputDataError
from ..files.places import digest_of
from ..formats.split import Split
from ..results.tables import Tables
from ..settings.option import KEY, PYTHON, Entry, entries
from ..settings.overlap import OverlapOptions
from ..settings.settings import Settings
from .samples import MOST_TEXT, Pair, positions_of, short

SHOWN = 40  # inputs that are listed
NAMED = 20  # inputs that a command names
QUOTES = ('"', "'", "[")  # with which values begin that are more than a word


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
    options, given = entries(type(settings)), settings.config()
    names = [short(identity["name"], 300) for identity in identities]
    references = dict.fromkeys(short(identity.get("sketches", identity["name"]), 300) for identity in identities[:n_references])
    names[:n_references], n_references = references, len(references)  # saved sketches are named by their folder
    some = names[n_references : n_references + NAMED]
    more = len(names) - n_references - len(some)
    in_memory = any(identity["name"] == "in memory" or "in_memory" in identity for identity in identities)
    unnamed = [name for name in ("overrides", "ignore") if given.get(name, "") is None]
    if in_memory or unnamed or any(options[name].option.place == PYTHON for name in given):
        data = "data" if in_memory else repr(some)
        words = [data, *(["against=references"] if n_references else [])]
        for name in unnamed:
            del given[name]
            words.append(f"{name}={name}")
        words += [f"{name}={getattr(value, '__name__', None) or repr(value)}" for name, value in given.items()]
        return f"lookalike.{job}({', '.join(words)})" + (f"  # and {more:,} more inputs" if more else "")
    return _command(job, names, n_references, given, options)


def overlap_command(settings: dict[str, Any], identities: Sequence[dict[str, Any]], n_references: int) -> str:
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
        return f"lookalike.overlap({', '.join(words)})"
    return _command("overlap", names, n_references, given, entries(OverlapOptions))


def _command(job: str, names: list[str], n_references: int, given: dict[str, Any], options: Mapping[str, Entry]) -> str:
    """Return a command; of very many inputs it names some."""
    some = names[n_references : n_references + NAMED]
    words = ["lookalike", job, *some]
    for name in names[: min(n_references, NAMED)]:
        words += ["--against", name]
    for name, value in given.items():
        for one in value if isinstance(value, list | tuple) else [value]:
            text = f"{one:g}" if isinstance(one, float) else str(one).lower() if isinstance(one, bool) else str(one)
            if options[name].option.place == KEY:
                words += ["--set", f"{name}={json.dumps(text) if text[:1] in QUOTES else text}"]
            else:
                words += ["--" + name.replace("_", "-"), *([] if one is True else [text])]
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
