"""The inputs of a result, as far as a page can read them again: their digests, and texts of their documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..errors import InputDataError
from ..files.inputs import digest_of
from ..results.result import Result
from ..results.saved_inputs import reading_of
from .samples import MOST_TEXT, Pair, texts_of

DigestOf = Callable[[int], str | None]


def digests_of(sources: Sequence[Any]) -> DigestOf:
    """Return what gives the digest of an input by its number; None where it is no file."""
    return lambda number: digest_of(sources[number].places)


class Originals:
    """The inputs of a result.

    An open job has them at hand: what cannot be read is an error. A loaded result knows where they were: what is gone or has
    changed is left out of the page, which says why.

    Attributes
    ----------
    sources : sequence of Split, or None
        Of an open job.
    missing : str
        Why texts or digests are missing, if any are; else empty.
    """

    def __init__(self, result: Result) -> None:
        self._settings = result.settings
        self.sources: Sequence[Any] | None = None if result._job is None else result._job.sources
        self._inputs = result._inputs
        self.missing = ""

    def digest(self, number: int) -> str | None:
        """Return the digest of an input; None where it is no file, or cannot be read by a loaded result."""
        if self.sources is not None:
            return digests_of(self.sources)(number)
        try:
            return digest_of(self._inputs.places(number))
        except InputDataError as error:
            self.missing = str(error)
            return None

    def texts(self, pairs: Iterable[Pair]) -> dict[int, bytes]:
        """Return the texts of pairs by their positions; none where a loaded result cannot read one of them."""
        if self.sources is not None:
            return texts_of(self.sources, self._settings, pairs)
        positions = np.array([document.position for pair in pairs for document in (pair.left, pair.right)], np.int64)
        try:
            return self._inputs.texts(positions, reading_of(self._settings), MOST_TEXT)
        except InputDataError as error:
            self.missing = str(error)
            return {}
