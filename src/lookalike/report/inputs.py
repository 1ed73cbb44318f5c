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
from ..settings.decontamination import DecontaminationOptions
from ..settings.option import LINE, PYTHON, entries
from ..settings.settings import PairSettings, Settings
from ..wording import QUOTES
from .samples import MOST_TEXT, Pair, positions_of, short

SHOWN = 40  # inputs that are listed
NAMED = 20  # inputs that a command names


def describe_inputs(identities: Sequence[dict[str, Any]], digest: DigestOf, n_references: int) -> list[dict[str, Any]]:
    """Return what a page says of each input: name, role, files, bytes and, of files that are at hand, their digest."""
    return [
        {
            "name": short(identity["name"]), "reference": number < n_references, "files": identity.get("files", 1),
            "bytes": identity.get("bytes"), "digest": digest(number),
        }
        for number, identity in enumerate(identities)
    ]  # fmt: skip


def command_of(job: str, config: Mapping[str, Any], identities: Sequence[dict[str, Any]], n_references: int) -> str:
    """Return the command that repeats a job with its settings; of very many inputs it names some. A call where none can."""
    options = entries(DecontaminationOptions if job == "decontaminate" else PairSettings if job == "pairs" else Settings)
    names = [short(identity["name"], 300) for identity in identities[n_references:]]
    saved = (short(identity.get("sketches", identity["name"]), 300) for identity in identities[:n_references])
    references = list(dict.fromkeys(saved))[:NAMED]  # saved sketches are named by their folder
    more = f"  # and {len(names) - NAMED:,} more inputs" if len(names) > NAMED else ""
    in_memory = any(identity["name"] == "in memory" or "in_memory" in identity for identity in identities)
    if in_memory or None in config.values() or any(options[name].option.place == PYTHON for name in config):
        words = ["data" if in_memory else repr(names[:NAMED]), *(["against=references"] if n_references else [])]
        for name, value in config.items():
            words.append(f"{name}={name if value is None else getattr(value, '__name__', None) or repr(value)}")
        return f"lookalike.{job}({', '.join(words)})" + more
    words = ["lookalike", job, *names[:NAMED], *(word for name in references for word in ("--against", name))]
    for name, value in config.items():
        for one in value if isinstance(value, list | tuple) else [value]:
            text = one if isinstance(one, str) else json.dumps(one)
            if options[name].option.place == LINE and not isinstance(one, bool):
                words += ["--" + name.replace("_", "-"), text]
            else:
                words += ["--set", f"{name}={json.dumps(text) if text[:1] in QUOTES else text}"]
    return shlex.join(words) + more


DigestOf = Callable[[int], str | None]


def digests_of(sources: Sequence[Split]) -> DigestOf:
    """Return what gives the digest of an input by its number; None where it is no file."""
    return lambda number: digest_of(sources[number].places)


class SourceTexts:
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
