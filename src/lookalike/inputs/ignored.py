"""Texts whose shingles do not count, from files or from memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..errors import ParameterError
from ..formats.memory import as_sources
from ..formats.split import Split
from ..text.ignored import Ignored
from ..text.shingle import Shingling
from ..text.texts import Texts, concatenate
from ..values.arrow import to_numpy
from .read import ReadOptions, check_encoding, read_texts


def read_ignored(given: Any, reading: ReadOptions, shingling: Shingling) -> Ignored:
    """Return the shingles of some texts; those that were read already are taken as they are."""
    if isinstance(given, Ignored):
        texts, names = given.texts, given.names
        if given.shingling == shingling or not len(texts):  # a loaded result knows no texts
            return given
    else:
        splits = as_sources(given, name="ignore")
        texts = concatenate([some for split in splits for some in _checked_texts(split, reading)])
        names = tuple(split.name for split in splits if split.places)
    ignored = Ignored.of(texts, shingling.hashes(texts)[0], names, shingling)
    if not ignored.shingles:
        raise ParameterError(
            "ignore contains no text with a token, so there is nothing to ignore: check the file, and --text (text=)"
        )
    return ignored


def _checked_texts(split: Split, reading: ReadOptions) -> Iterator[Texts]:
    """Yield the texts of an input, which are held."""
    for texts, documents in read_texts(split, 0, reading):
        if reading.encoding_errors == "strict":
            check_encoding(split, to_numpy(documents["number"]), texts)
        yield texts
