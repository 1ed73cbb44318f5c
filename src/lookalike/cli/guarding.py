"""A job that would remove more than its user expects is stopped before it writes what programs go on with."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..errors import LookalikeError
from ..values import Int64Array
from ..wording import counted

NAMED = 10  # sources that a message names


def check_removed(
    found: tuple[Int64Array, Sequence[str]],
    most: float,
    resumable: bool,
    withheld: Sequence[str] = (),
    written: Sequence[str] = (),
) -> None:
    """Stop if more than a share of the documents is removed, or all those of a source that has several."""
    (total, kept), names = found
    removed = total - kept
    vanished = np.flatnonzero((total > 1) & (kept == 0))  # a text file among data files is an input of one document
    said = []
    if removed.sum() > most * total.sum():
        share = f"{_share(int(removed.sum()), int(total.sum()))} would be removed, more than --fail-if-removed {most:g}"
        said.append(share)
    if len(vanished):
        said.append(f"nothing would be left of {counted(len(vanished), 'input')}")
    if not said:
        return
    losing = np.flatnonzero(removed)
    order = losing[np.lexsort((losing, -removed[losing], -removed[losing] / total[losing]))]
    figures = [f"{names[i]}: {_share(int(removed[i]), int(total[i]))}" for i in order[:NAMED].tolist()]
    more = f", and {len(order) - NAMED:,} inputs more" if len(order) > NAMED else ""
    if resumable:
        way = "with --resume and without --fail-if-removed, to write what the job has found"
    elif written:
        way = "without --fail-if-removed and with --force, to write all"
    else:
        way = "without --fail-if-removed, with --report in place of -o to see what would go, or as before to write it"
    verb = "were" if len(withheld) > 1 else "was"
    stopped = f"{' and '.join(withheld)} {verb} not written" if withheld else "stopped"
    without = stopped if written else "nothing was written"
    there = f"; {' and '.join(written)} {'were' if len(written) > 1 else 'was'} written" if written else ""
    raise LookalikeError(f"{without}: {'; '.join(said)} ({', '.join(figures)}{more}){there}; run again {way}")


def _share(part: int, whole: int) -> str:
    return f"{part:,} of {counted(whole, 'document')} ({100 * part / whole:.1f}%)"
