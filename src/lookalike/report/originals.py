"""The inputs of a result, as far as a page can read them again: their digests, and texts of their documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..errors import InputDataError
from ..files.inputs import digest_of
from ..results.result import Result
from .samples import MOST_TEXT, Pair, positions_of

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
    missing : str
        Why texts or digests are missing, if any are; else empty.
    """

    def __init__(self, result: Result) -> None:
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
