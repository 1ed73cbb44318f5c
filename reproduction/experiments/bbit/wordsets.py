"""Words as sets of the documents that contain them, and repeated sketches of them: stand-ins for the papers' word pairs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

import lookalike as la

DOCUMENTS = 4096  # D; a power of four, so that the library's permutations need no second round
LEAST_WORDS = 15
FIRST_WORDS = 3200
BITS: tuple[int | None, ...] = (1, 2, 3, 4, None)  # None: whole minima, "M" in the papers
# Table 1: words, r1, r2, R, B(32)/B(1) and B(64)/B(1) as printed.
PAIRS = [
    ("KONG-HONG", "0.0145", "0.0143", "0.925", "15.5", "31.0"), ("RIGHTS-RESERVED", "0.187", "0.172", "0.877", "16.6", "32.2"),
    ("OF-AND", "0.570", "0.554", "0.771", "20.4", "40.8"), ("GAMBIA-KIRIBATI", "0.0031", "0.0028", "0.712", "13.3", "26.6"),
    ("UNITED-STATES", "0.062", "0.061", "0.591", "12.4", "24.8"), ("SAN-FRANCISCO", "0.049", "0.025", "0.476", "10.7", "21.4"),
    ("CREDIT-CARD", "0.046", "0.041", "0.285", "7.3", "14.6"), ("TIME-JOB", "0.189", "0.05", "0.128", "4.3", "8.6"),
    ("LOW-PAY", "0.045", "0.043", "0.112", "3.4", "6.8"), ("A-TEST", "0.596", "0.035", "0.052", "3.1", "6.2"),
]  # fmt: skip


def numbers(pair: Sequence[str]) -> tuple[float, float, float]:
    """Return (r1, r2, R) of a row of Table 1."""
    return float(pair[1]), float(pair[2]), float(pair[3])


@dataclass(frozen=True, eq=False)
class WordSets:
    """Sets of document numbers in [0, universe), one for each word, the most frequent word first."""

    words: list[str]
    values: np.ndarray
    offsets: np.ndarray
    universe: int

    @property
    def sizes(self) -> np.ndarray:
        """Documents of each word."""
        return np.diff(self.offsets)

    @property
    def densities(self) -> np.ndarray:
        """Share of the documents that contain each word."""
        return self.sizes / self.universe

    def members(self, rows: Sequence[int] | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (values, offsets) of some words."""
        parts = [self.values[self.offsets[i] : self.offsets[i + 1]] for i in rows]
        return np.concatenate(parts), np.cumsum([0, *map(len, parts)])

    def pairs(self, most: int | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (left, right, common documents) of all pairs of the first ``most`` words."""
        n = len(self.words) if most is None else most
        left, right = np.triu_indices(n, 1)
        return left, right, _common(self)[left, right]


@lru_cache(maxsize=1)
def _common(sets: WordSets) -> np.ndarray:
    """Return the number of documents that each two words share, counted from the sets: (words, words)."""
    table = np.zeros((len(sets.words), sets.universe), np.float32)
    table[np.repeat(np.arange(len(sets.words)), sets.sizes), sets.values] = 1.0
    return table @ table.T  # sums of at most 2^24 ones are exact in float32


def word_sets(texts: Sequence[str], documents: int, least: int, words: int) -> WordSets:
    """Return the sets of the most frequent words of some documents, drawn from those that have ``least`` words at least."""
    chosen: list[set[str]] = []
    for i in np.random.default_rng(0).permutation(len(texts)):
        found = set(re.findall(r"[a-z]+", re.sub(r"\A---\n.*?\n---\n", "", texts[i], flags=re.DOTALL).lower()))
        if len(found) >= least:
            chosen.append(found)
        if len(chosen) == documents:
            break
    counts = Counter(word for found in chosen for word in found)
    names = [w for w, _ in sorted(counts.items(), key=lambda x: (-x[1], x[0]))[:words]]
    place: dict[str, list[int]] = {w: [] for w in names}
    for document, found in enumerate(chosen):
        for word in found & place.keys():
            place[word].append(document)
    members = [np.array(place[w]) for w in names]
    return WordSets(names, np.concatenate(members), np.cumsum([0, *map(len, members)]), len(chosen))


@lru_cache(maxsize=1)
def licence_words(folder: Path) -> WordSets | None:
    """Return the sets of words of licence texts; None where they are absent."""
    path = folder / "licences.parquet"
    if not path.exists():
        return None
    return word_sets(pq.read_table(path, columns=["text"])["text"].to_pylist(), DOCUMENTS, LEAST_WORDS, FIRST_WORDS)


def _odds(share: np.ndarray | float) -> np.ndarray:
    cut = np.clip(share, 1e-6, 1 - 1e-6)
    return np.log(cut / (1 - cut))


@lru_cache(maxsize=2)
def stand_ins(sets: WordSets) -> list[tuple[int, int]]:
    """Return the pair of words closest to each row of Table 1, in log odds of both densities and, twice as much, of R."""
    left, right, common = sets.pairs()  # of two words the left one is at least as frequent
    density = _odds(sets.densities)
    r = _odds(common / (sets.sizes[left] + sets.sizes[right] - common))
    found = []
    for pair in PAIRS:
        one, other, resemblance = (_odds(x) for x in numbers(pair))
        at = ((density[left] - one) ** 2 + (density[right] - other) ** 2 + 4 * (r - resemblance) ** 2).argmin()
        found.append((int(left[at]), int(right[at])))
    return found


def resemblance(sets: WordSets, left: int, right: int) -> float:
    """Return the exact resemblance of two words."""
    one, other = (set(sets.members([i])[0].tolist()) for i in (left, right))
    return len(one & other) / len(one | other)


@dataclass(frozen=True, eq=False)
class Repeated:
    """Estimates of pairs of words, each repetition under permutations of its own: (pairs, repetitions) for numbers of bits.

    ``blind`` are those of one bit without densities, that is (9) with the constants 2^-b.
    """

    slots: int
    found: dict[int | None, np.ndarray]
    blind: np.ndarray


@lru_cache(maxsize=4)
def repeated(sets: WordSets, pairs: tuple[tuple[int, int], ...], slots: int, repetitions: int) -> Repeated:
    """Run algorithm 1 as the library has it, from sets to estimates, so many times: sign, pack to b bits, estimate."""
    rows = sorted({i for pair in pairs for i in pair})
    values, offsets = sets.members(rows)
    left, right = (np.array([rows.index(pair[side]) for pair in pairs]) for side in (0, 1))
    found = {bits: np.empty((len(pairs), repetitions)) for bits in BITS}
    blind = np.empty((len(pairs), repetitions))
    for seed in range(repetitions):
        signed = la.sketches.PermutationMinHash(universe=sets.universe, permutations=slots, seed=seed).sign_sets(
            values, offsets
        )
        for bits in BITS:
            if bits is None:
                found[bits][:, seed] = signed.estimated_resemblance(left, right)
                continue
            packed = la.sketches.BBit(bits=bits).pack(signed)
            found[bits][:, seed] = packed.estimated_resemblance(left, right)
            if bits == 1:
                bare = la.sketches.PackedSignatures(packed.words, packed.layout, packed.packing, packed.scheme, "integers")
                blind[:, seed] = bare.estimated_resemblance(left, right)
    return Repeated(slots, found, blind)
