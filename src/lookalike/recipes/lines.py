"""Lines and paragraphs that a corpus repeats."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engines.engine import Table
from ..results.shortened import LinesResult
from ..settings.option import front_door
from ..settings.repeats import LinesOptions
from ..text.units import Lines
from .repeats import Proposed, Searching, check_inputs, find_repeats

_BYTES = {"line": 80, "paragraph": 300}  # of one, about


@dataclass(frozen=True, kw_only=True)
class LinesSettings(LinesOptions):
    """All that a user can choose about repeated lines."""

    def __post_init__(self) -> None:
        """Check every parameter before any work is done."""
        check_inputs(self)


@front_door(LinesSettings)
def lines(data: Any, settings: LinesSettings) -> LinesResult:
    """Find lines, or paragraphs, that occur more than once in a corpus, and remove them.

    Parameters
    ----------
    data : as for ``lookalike.dedup``

    Returns
    -------
    LinesResult

    Raises
    ------
    ParameterError
        If a parameter is out of its range, or the memory cannot hold a bit for each line that is repeated.
    InputDataError
        If a file or row is not as expected, or an id appears twice.

    Notes
    -----
    A line ends with a line feed. Two lines are equal if their bytes are, but for blanks, tabs, form feeds and carriage returns
    at both ends. They are compared by 122 bits of a digest under a secret that is drawn for the run, so that nobody can write
    lines that only seem to be equal. Time: linear; the inputs are read twice, and once more to be written. Memory: 8 bytes per
    document and a bit per line that may be repeated; what does not fit otherwise goes to the disk.

    References
    ----------
    Wenzek et al., "CCNet: extracting high quality monolingual datasets from web crawl data", 2020, section 3.1.
    Penedo et al., "The RefinedWeb dataset for Falcon LLM", 2023.

    Examples
    --------
    >>> import lookalike as la
    >>> pages = ["Accept all cookies on this site\\nApples are red.", "Accept all cookies on this site\\nPears are green."]
    >>> found = la.lines(pages)
    >>> found.removed.to_pylist()
    [{'id': 1, 'begin': 0, 'end': 32, 'lines': 1}]
    >>> found.top(1).to_pylist()
    [{'text': 'Accept all cookies on this site', 'count': 2, 'documents': 2, 'id': 0, 'begin': 0}]
    """
    return LinesResult(find_repeats(data, settings, partial(_find, settings=settings)))


def _find(searching: Searching, settings: LinesSettings) -> tuple[Proposed, Table, NDArray[np.uint8]]:
    """Count the keys of all lines; those that may be repeated meet."""
    units = Lines(settings.unit == "paragraph", settings.min_words, searching.key)
    found = searching.propose(units, searching.count(units, searching.expected(_BYTES[settings.unit])), "proposed")
    return found, *searching.judge(found, settings.drop_over, "repeated")
