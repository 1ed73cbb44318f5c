"""Which pages of a crawl are kept, as the thesis prepared its data (VII.A): large enough, in English, no copies."""

from __future__ import annotations

import re

import numpy as np

# The commonest words of English; in running text they are a fifth to a third of all words.
COMMON = frozenset((
    "the", "a", "an", "is", "are", "was", "were", "to", "of", "and", "or", "in", "on", "at", "by", "for", "from", "with", "as", "that",
    "this", "it", "its", "be", "been", "not", "we", "you", "your", "our", "they", "their", "which",
))  # fmt: skip


def english_share(text: str) -> float:
    """Return the share of a text's words that are among the commonest English ones; 0 without words."""
    words = re.findall(r"[^\W\d_]+", text.casefold())
    return sum(word in COMMON for word in words) / len(words) if words else 0.0


def prepared(texts: list[str], *, least_bytes: int = 0, english: float = 0.0, distinct: bool = False) -> np.ndarray:
    """Return which texts are kept: of so many bytes, with that share of common English words, the first of equal ones."""
    kept = np.ones(len(texts), bool)
    seen: set[str] = set()
    for row, text in enumerate(texts):
        kept[row] = len(text.encode()) >= least_bytes and (not english or english_share(text) >= english)
        if distinct and kept[row]:
            kept[row] = text not in seen
            seen.add(text)
    return kept
