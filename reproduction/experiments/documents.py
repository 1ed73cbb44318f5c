"""Real documents for the experiments with SimHash: versions of policies, as weighted stems."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pyarrow.parquet as pq
from preparation import prepared
from report import DATA

import lookalike as la

VERSIONS = 8  # a page at most: some have thousands
MANY = 40  # where pairs need not be compared all with all


@dataclass(frozen=True)
class Documents:
    """Texts, which page each is a version of, their weighted stems, fingerprints with margins, and all-pairs figures.

    ``distance`` and ``cosine`` are of the pairs ``left``, ``right``: all of them.
    """

    texts: list[str]
    pages: np.ndarray
    features: la.sketches.WeightedSets
    prints: la.sketches.Fingerprints
    left: np.ndarray
    right: np.ndarray
    distance: np.ndarray
    cosine: np.ndarray


@dataclass(frozen=True)
class Versions:
    """Different fingerprints of real documents, their margins, and the page that each is a version of."""

    words: np.ndarray
    margins: np.ndarray
    pages: np.ndarray
    documents: int


def _read(most: int, every: int) -> tuple[list[str], np.ndarray] | None:
    """Return at most so many texts in a row of every so-many-th page, and their pages; None where the corpus is absent."""
    path = DATA / "policies.parquet"
    if not path.exists():
        return None
    table = pq.read_table(path, columns=["path", "time", "text"]).sort_by([("path", "ascending"), ("time", "ascending")])
    names, pages = np.unique(table["path"].to_pylist(), return_inverse=True)
    rng = np.random.default_rng(0)
    chosen = []
    for page in range(0, len(names), every):
        versions = np.flatnonzero(pages == page)
        begin = int(rng.integers(0, max(1, len(versions) - most + 1)))
        chosen.append(versions[begin : begin + most])
    rows = np.concatenate(chosen)
    return table["text"].take(rows).to_pylist(), pages[rows]


def _weighted(texts: list[str]) -> la.sketches.WeightedSets:
    """Stem without stop words, and weigh by TF-IDF, as the thesis does."""
    return la.sketches.weigh(texts, shingling=la.Shingling(tokenizer=la.sketches.WordTokenizer(language="english"), width=1))


@lru_cache(maxsize=2)
def documents(quick: bool, *, least_bytes: int = 0, english: float = 0.0, distinct: bool = False) -> Documents | None:
    """Read some versions of each page in a row, and compare all with all; None where they are absent.

    ``least_bytes``, ``english`` (the least share of common English words) and ``distinct`` leave texts out, as
    ``preparation.prepared`` does.
    """
    found = _read(VERSIONS, 4 if quick else 1)
    if found is None:
        return None
    texts, pages = found
    kept = prepared(texts, least_bytes=least_bytes, english=english, distinct=distinct)
    pages, texts = pages[kept], [text for text, stays in zip(texts, kept.tolist(), strict=True) if stays]
    features = _weighted(texts)
    prints = la.sketches.SimHash(margins=True).sign(features)
    left, right = np.triu_indices(len(texts), 1)
    cosine = features.cosine(left, right)
    return Documents(texts, pages, features, prints, left, right, prints.distance(left, right), cosine)


@lru_cache(maxsize=2)
def versions(quick: bool) -> Versions | None:
    """Sign more versions of each page; of equal fingerprints one stays, as the thesis leaves out exact duplicates."""
    found = _read(MANY, 4 if quick else 1)
    if found is None:
        return None
    texts, pages = found
    prints = la.sketches.SimHash(margins=True).sign(_weighted(texts))
    words, first = np.unique(prints.words[:, 0], return_index=True)
    return Versions(words, prints.margins[first], pages[first], len(texts))
