"""Real documents for the experiments with SimHash: versions of policies, as weighted stems."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pyarrow.parquet as pq
from preparation import prepared
from report import DATA

import semblance as sb

VERSIONS = 8  # a page at most: some have thousands


@dataclass(frozen=True)
class Documents:
    """Texts, which page each is a version of, their weighted stems, fingerprints with margins, and all-pairs figures.

    ``distance`` and ``cosine`` are of the pairs ``left``, ``right``: all of them.
    """

    texts: list[str]
    pages: np.ndarray
    features: sb.WeightedSets
    prints: sb.Fingerprints
    left: np.ndarray
    right: np.ndarray
    distance: np.ndarray
    cosine: np.ndarray


@lru_cache(maxsize=2)
def documents(quick: bool, *, least_bytes: int = 0, english: float = 0.0, distinct: bool = False) -> Documents | None:
    """Read some versions of each page in a row, stem them without stop words, weigh by TF-IDF; None where they are absent.

    ``least_bytes``, ``english`` (the least share of common English words) and ``distinct`` leave texts out, as
    ``preparation.prepared`` does.
    """
    path = DATA / "policies.parquet"
    if not path.exists():
        return None
    table = pq.read_table(path, columns=["path", "time", "text"]).sort_by([("path", "ascending"), ("time", "ascending")])
    names, pages = np.unique(table["path"].to_pylist(), return_inverse=True)
    rng = np.random.default_rng(0)
    chosen = []
    for page in range(0, len(names), 4 if quick else 1):
        versions = np.flatnonzero(pages == page)
        begin = int(rng.integers(0, max(1, len(versions) - VERSIONS + 1)))
        chosen.append(versions[begin : begin + VERSIONS])
    rows = np.concatenate(chosen)
    texts = table["text"].take(rows).to_pylist()
    kept = prepared(texts, least_bytes=least_bytes, english=english, distinct=distinct)
    rows, texts = rows[kept], [text for text, stays in zip(texts, kept.tolist(), strict=True) if stays]
    features = sb.weigh(texts, shingling=sb.Shingling(tokenizer=sb.WordTokenizer(language="english"), width=1))
    prints = sb.SimHash(margins=True).sign(features)
    left, right = np.triu_indices(len(rows), 1)
    cosine = features.cosine(left, right)
    return Documents(texts, pages[rows], features, prints, left, right, prints.distance(left, right), cosine)
