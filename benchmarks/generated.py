"""Corpora with planted near-duplicates of known kinds: generated documents, and edited copies of given ones."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import count, islice

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

WORDS, EDITS = 50_000, ("replace", "delete", "insert", "move", "append")


def vocabulary(rng: np.random.Generator) -> np.ndarray:
    """Words of 2 to 12 letters."""
    letters = np.array(list("etaoinshrdlcumwfgypbvk"))
    return np.unique(["".join(rng.choice(letters, size)) for size in rng.integers(2, 13, WORDS)])


def edited(rng: np.random.Generator, words: np.ndarray, kind: str, share: float, fresh: np.ndarray) -> np.ndarray:
    """A near-copy in which about a share of the words was touched."""
    n, size = len(words), max(1, int(share * len(words)))
    at = int(rng.integers(0, n - size + 1))
    if kind == "replace":  # one word here, one there
        out = words.copy()
        places = rng.choice(n, max(1, size // 5), replace=False)  # each spoils five shingles of five words
        out[places] = fresh[: len(places)]
        return out
    if kind == "delete":
        return np.delete(words, np.s_[at : at + size])
    if kind == "insert":
        return np.insert(words, at, fresh[:size])
    if kind == "move":
        rest = np.delete(words, np.s_[at : at + size])
        return np.insert(rest, int(rng.integers(0, len(rest) + 1)), words[at : at + size])
    return np.concatenate([words, fresh[:size]])


def by_zipf(rng: np.random.Generator, known: np.ndarray) -> Callable[[int], np.ndarray]:
    """What draws words, the first ones most often."""
    ranks = np.arange(1, len(known) + 1) ** -1.05
    chances = np.cumsum(ranks / ranks.sum())
    return lambda size: known[np.searchsorted(chances, rng.random(size))]


def near_copies(rng: np.random.Generator, draw: Callable[[int], np.ndarray]) -> Iterator[tuple[int, np.ndarray]]:
    """Yield documents as words without end, each with the number of its family: a third are near-copies of an earlier one."""
    originals: list[np.ndarray] = []
    for number in count():
        if originals and rng.random() < 0.33:
            family = int(rng.integers(0, len(originals)))
            share = float(rng.uniform(0.02, 0.5))
            words = edited(rng, originals[family], EDITS[number % len(EDITS)], share, draw(len(originals[family])))
        else:
            words, family = draw(int(np.clip(rng.lognormal(5.9, 0.7), 30, 5000))), len(originals)
            originals.append(words)
        yield family, words


def write(path: str, documents: int = 40_000, seed: int = 1) -> None:
    """Write a parquet file: documents of Zipf-distributed words, a third of them near-copies of earlier ones."""
    rng = np.random.default_rng(seed)
    made = islice(near_copies(rng, by_zipf(rng, vocabulary(rng))), documents)
    pq.write_table(pa.table({"text": [" ".join(words.tolist()).capitalize() + "." for _, words in made]}), path)


def retouched(texts: list[str], copies: int = 4, seed: int = 4) -> list[str]:
    """Return each text some times, in which one word in 20, 60 or 300 has become another."""
    rng = random.Random(seed)
    out = []
    for text in texts:
        original = text.split(" ")
        for _ in range(copies):
            words = list(original)
            for _ in range(max(1, len(words) // rng.choice([20, 60, 300]))):
                words[rng.randrange(len(words))] = rng.choice(["alpha", "beta", "gamma", str(rng.randrange(999))])
            out.append(" ".join(words))
    return out
