"""The documents among which pairs are retrieved, and the exact resemblance of their pairs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pyarrow.parquet as pq
from report import DATA

import lookalike as la
from lookalike.methods.method import sets_of_values

WIDTH, LEAST, DISSIMILAR, SAMPLED = 3, 60, 0.1, 0.05
STAND_IN = (
    "The papers' corpora are not to be had: a million and 10,000 news of the BLEWS project, 2,633 words of a Microsoft web crawl, "
    "36,889 project texts. (The 300,000 NYTimes articles of the UCI repository are public: a reader could run this on them.)"
)


@dataclass(frozen=True)
class Pairs:
    """Shingle sets of documents, and their pairs with exact resemblances; of dissimilar ones a sample, with weights."""

    shingles: la.sketches.Shingles
    left: np.ndarray
    right: np.ndarray
    exact: np.ndarray
    weights: np.ndarray

    @property
    def words(self) -> str:
        """What stands in for the papers' documents, for a section's text."""
        return (
            f"{STAND_IN} They are replaced by a stand-in: {len(self.shingles):,} licence texts, drawn at random from the "
            f"different ones with at least {LEAST} shingles of {WIDTH} words (heads of files are stripped). Truth is the exact "
            f"resemblance of every pair: {int((self.exact >= 0.3).sum()):,} pairs reach 0.3. Of the pairs below {DISSIMILAR} "
            f"a random {SAMPLED:.0%} are estimated, each counted {1 / SAMPLED:.0f} times."
        )


def without_head(text: str) -> str:
    """Strip the head between two lines of dashes that files of licences start with."""
    end = text.find("\n---", 3) if text.startswith("---") else -1
    return text if end < 0 else text[end + 4 :]


@lru_cache(maxsize=1)
def shingled(n: int) -> la.sketches.Shingles | None:
    """Shingle n different licence texts of some length, drawn at random; None where the texts are absent."""
    path = DATA / "licences.parquet"
    if not path.exists():
        return None
    rng = np.random.default_rng(5)
    texts = list(dict.fromkeys(without_head(text) for text in pq.read_table(path, columns=["text"])["text"].to_pylist()))
    # Half of the files are short notes: look at enough of them to be left with n.
    chosen = [texts[i] for i in rng.permutation(len(texts))[: min(len(texts), 6 * n)]]
    all_of_them = la.shingle(chosen, width=WIDTH)
    long = np.flatnonzero(all_of_them.sizes >= LEAST)[:n]
    values = np.concatenate([all_of_them.row(int(row)) for row in long])
    return la.sketches.Shingles(values, np.concatenate([[0], np.cumsum(all_of_them.sizes[long])]), all_of_them.parameters)


@lru_cache(maxsize=1)
def pairs_of_documents(quick: bool) -> Pairs | None:
    """Compare all pairs of documents exactly."""
    shingles = shingled(800 if quick else 3000)
    if shingles is None:
        return None
    left, right = np.triu_indices(len(shingles), 1)
    exact = sets_of_values(shingles.values, shingles.offsets).compare(left, right, 0.0)
    some = np.flatnonzero((exact >= DISSIMILAR) | (np.random.default_rng(6).random(len(exact)) < SAMPLED))
    exact = exact[some]
    return Pairs(shingles, left[some], right[some], exact, np.where(exact >= DISSIMILAR, 1.0, 1.0 / SAMPLED))
