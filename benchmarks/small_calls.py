"""What a call of the persistent index costs where each brings few texts, all new, as those of a service do; prints a table.

Texts are generated, of Zipf-distributed words; every second query is a stored text with one word in sixty replaced. Processor
time, the best of some rounds, one thread.

Usage: python benchmarks/small_calls.py [--documents 1e6] [--words 60 300] [--keep-text]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from generated import vocabulary

import lookalike as la

BATCH, KEPT, ROUNDS = 100_000, 400, 5


class Texts:
    """Draws texts, and near-copies of some of them."""

    def __init__(self, words: int) -> None:
        self.rng, self.words = np.random.default_rng(7), words
        self.known = vocabulary(self.rng).tolist()
        ranks = np.arange(1, len(self.known) + 1) ** -1.05
        self.chances = np.cumsum(ranks / ranks.sum())

    def draw(self, n: int) -> np.ndarray:
        """Numbers of the words of some texts."""
        places = np.searchsorted(self.chances, self.rng.random((n, self.words)))
        return np.minimum(places, len(self.known) - 1)

    def edited(self, texts: np.ndarray) -> np.ndarray:
        """Texts in which some words are others."""
        out = texts.copy()
        for text in out:
            text[self.rng.integers(0, self.words, max(1, self.words // 60))] = self.rng.integers(0, len(self.known))
        return out

    def write(self, texts: np.ndarray) -> list[str]:
        """Write texts out."""
        return [" ".join([self.known[word] for word in text]) for text in texts.tolist()]


def build(index: la.Index, texts: Texts, n: int) -> list[str]:
    """Add documents; return queries."""
    stored = []
    for begin in range(0, n, BATCH):
        some = texts.draw(min(BATCH, n - begin))
        index.add(range(begin, begin + len(some)), texts.write(some))
        stored.append(some[:KEPT])
    near = texts.edited(np.concatenate(stored))
    mixed = np.stack([near, texts.draw(len(near))], 1).reshape(-1, texts.words)
    return texts.write(mixed)


def cost(ask: Callable[[list[str]], Any], queries: list[str], size: int) -> float:
    """Microseconds a text, so many of them a call."""
    calls = [queries[i : i + size] for i in range(0, len(queries) - size + 1, size)][: max(3, 2000 // size)]
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.process_time()
        for call in calls:
            ask(call)
        best = min(best, time.process_time() - start)
    return best / len(calls) / size * 1e6


def main() -> None:
    """Measure, and print a row for each length of texts, way of asking and number of segments."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--documents", default="1e6")
    parser.add_argument("--words", nargs="+", type=int, default=[60, 300])
    parser.add_argument("--keep-text", action="store_true")
    options = parser.parse_args()
    print("| words | segments | method | 1 text a call | 8 | 100 | MB of its own |\n|---|---|---|---|---|---|---|")
    for words in options.words:
        with (
            tempfile.TemporaryDirectory(prefix="lookalike-calls-") as folder,
            la.Index.create(f"{folder}/x", keep_text=options.keep_text) as index,
        ):
            queries = build(index, Texts(words), int(float(options.documents)))
            for _ in range(2):
                for ask in (index.answers, index.query):
                    costs = " | ".join(f"{cost(ask, queries, size):.1f} µs" for size in (1, 8, 100))
                    own = int(Path("/proc/self/status").read_text().partition("RssAnon:")[2].split()[0]) // 1024
                    print(f"| {words} | {index.info['segments']} | `{ask.__name__}` | {costs} | {own} |", flush=True)
                index.compact()


if __name__ == "__main__":
    main()
