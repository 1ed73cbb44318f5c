"""Standard errors of shares of pairs of documents, whose pairs are not independent: a page has several versions, all alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Share:
    """A share of pairs, and the same share with each page left out in turn."""

    value: float
    without: np.ndarray

    @property
    def error(self) -> float:
        """Its standard error, by the jackknife over pages."""
        return _error(self.without)

    def above(self, other: Share) -> tuple[float, float]:
        """Return how far it is above another share of the same pages, and the standard error of that."""
        return self.value - other.value, _error(self.without - other.without)


def _error(without: np.ndarray) -> float:
    """Return the jackknife's standard error of a value, from that value with each page left out."""
    known = without[np.isfinite(without)]
    return float(np.sqrt((len(known) - 1) / len(known) * ((known - known.mean()) ** 2).sum()))


def share(part: np.ndarray, whole: np.ndarray, left: np.ndarray, right: np.ndarray, pages: int) -> Share:
    """Return the share of the pairs ``whole`` (a mask) that are ``part``, where ``left`` and ``right`` are the pages of each pair."""
    counts = []
    for mask in (part & whole, whole):
        one, other = left[mask], right[mask]
        touched = np.bincount(one, minlength=pages) + np.bincount(other[one != other], minlength=pages)
        counts.append((int(mask.sum()), mask.sum() - touched))
    (some, some_without), (all_of, all_without) = counts
    with np.errstate(invalid="ignore", divide="ignore"):
        return Share(some / all_of, some_without / all_without)
