"""Passages that a corpus repeats."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engines.engine import Table
from ..results.shortened import PassagesResult
from ..settings.option import front_door
from ..settings.repeats import PassagesOptions
from ..text.shingle import Shingling
from ..text.units import Blocks, Hashing, Windows
from ..values.arrow import to_numpy
from .repeats import Proposed, Searching, check_inputs, find_repeats


@dataclass(frozen=True, kw_only=True)
class PassagesSettings(PassagesOptions):
    """All that a user can choose about repeated passages."""

    def __post_init__(self) -> None:
        """Check every parameter before any work is done."""
        check_inputs(self)


@front_door(PassagesSettings)
def passages(data: Any, settings: PassagesSettings) -> PassagesResult:
    """Find passages of many words that occurred before in a corpus, and remove them.

    Parameters
    ----------
    data : as for ``lookalike.dedup``

    Returns
    -------
    PassagesResult

    Raises
    ------
    ParameterError
        If a parameter is out of its range, or the memory cannot hold a bit for each word that is repeated.
    InputDataError
        If a file or row is not as expected, or an id appears twice.

    Notes
    -----
    A word is repeated if it is in a window of ``length`` words that is equal to one that begins earlier: in an earlier
    document, or earlier in the same one. Runs of repeated words are removed, from the first byte of the first word to the last
    of the last. Windows are compared by two 64-bit hashes under secret keys, drawn for the run, so that nobody can write texts
    that only seem to be equal. Time: linear; the inputs are read twice, and once more to be written. Memory: 8 bytes per
    document and a bit per word that may be repeated; what does not fit otherwise goes to the disk.

    References
    ----------
    Lee et al., "Deduplicating training data makes language models better", 2022, section 4.1: there, of bytes that a suffix
    array finds, and all but one occurrence, or all, of each.

    Examples
    --------
    >>> import lookalike as la
    >>> pages = ["We use cookies to improve this site. Apples are red.", "Hello! We use cookies to improve this site, too."]
    >>> found = la.passages(pages, length=5)
    >>> found.removed.to_pylist()
    [{'id': 1, 'begin': 7, 'end': 42, 'words': 7}]
    """
    return PassagesResult(find_repeats(data, settings, partial(_find, settings=settings)))


def _find(searching: Searching, settings: PassagesSettings) -> tuple[Proposed, Table, NDArray[np.uint8]]:
    """Let blocks of windows meet, so that text that comes once more is known by few rows; then the windows of all others.

    That is enough: a window in a later block is equal to one in the first of these blocks, which is not left out.
    """
    shingling = Shingling(width=settings.length, normalization=settings.normalization, fold_case=settings.fold_case)
    hashing = Hashing(shingling, settings.length, searching.key)
    blocks = searching.propose(Blocks(hashing), np.empty(0, np.uint64), "blocks", named=False)
    _, bits = searching.judge(blocks, None, "repeated-blocks")
    windows = Windows(hashing, bits, blocks.starts, blocks.corpus.starts)
    words = sum(int(to_numpy(batch.column(0)).sum()) for batch in blocks.rows.select(["whole"]).batches())
    found = searching.propose(windows, searching.count(windows, words), "proposed")
    return found, *searching.judge(found, None, "repeated")
