"""What the experiments with searches of fingerprints share: at which probe a pair is found, recall, and its standard error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import process_time
from typing import Any
from unittest.mock import patch

import numpy as np
from pair_model import RADIUS, SIGMA, SPREAD, Trial

import lookalike as la
from lookalike.search import fingerprint_file, fingerprints
from lookalike.search.weak_bits import WeakBits
from lookalike.theory.weak_bits import weak_bit_recall

WANTED, MOST = 0.95, 160  # recall; probes looked at


def among_random(words: np.ndarray, margins: np.ndarray, pages: np.ndarray, n: int, seed: int = 3) -> Trial:
    """Ask a random third of real fingerprints among the rest of them, filled up to n with random ones, in random order."""
    rng = np.random.default_rng(seed)
    asked = rng.random(len(words)) < 1 / 3
    kept = words[~asked]
    stored = np.concatenate([kept, rng.integers(0, 1 << 64, n - len(kept), dtype=np.uint64)])
    place = rng.permutation(n)
    distance = np.bitwise_count(words[asked][:, None] ^ kept)
    query, row = np.nonzero((distance >= 1) & (distance <= RADIUS))
    with_any, number = np.unique(query, return_inverse=True)
    shuffled = np.empty(n, np.uint64)
    shuffled[place] = stored
    return Trial(
        "real", shuffled, words[asked][with_any], margins[asked][with_any], number, place[row], pages[asked][with_any],
        place[: len(kept)],
    )  # fmt: skip


def probe_ranks(trial: Trial, prefix: int, most: int = MOST) -> np.ndarray:
    """At which probe each pair is found, from 1; ``most + 1`` where it is not: the probes are those of the library."""
    wanted = WeakBits(64, prefix, RADIUS, most).prefixes(trial.queries[:, None], trial.margins, 0, len(trial.queries))
    equal = wanted[trial.asked] == trial.near[:, None] >> np.uint64(64 - prefix)
    return np.where(equal.any(1), equal.argmax(1) + 1, most + 1)


def first_ranks(trial: Trial, ranks: np.ndarray) -> np.ndarray:
    """At which probe each query has its first answer."""
    out = np.full(len(trial.queries), np.iinfo(np.int64).max)
    np.minimum.at(out, trial.asked, ranks)
    return out


def share_error(hits: np.ndarray, groups: np.ndarray) -> tuple[float, float]:
    """Return (share of hits, its standard error), with groups of hits that are not independent of each other.

    The share is a ratio of sums over groups; its error is that of the sums of (hit - share).
    """
    share = float(hits.mean())
    number = np.unique(groups, return_inverse=True)[1]
    apart = np.bincount(number, hits - share)
    count = len(apart)
    return share, float(np.sqrt((apart**2).sum() * count / max(count - 1, 1)) / len(hits))


def recalls(trial: Trial, ranks: np.ndarray, ks: Any) -> tuple[np.ndarray, np.ndarray]:
    """Recall with so many probes: (7.5), of pairs, and (7.4), of queries with any; each of shape (2, ks) with its errors."""
    first = first_ranks(trial, ranks)
    pairs = np.array([share_error(ranks <= k, trial.groups[trial.asked]) for k in ks]).T
    queries = np.array([share_error(first <= k, trial.groups) for k in ks]).T
    return pairs, queries


def needed(ranks: np.ndarray, wanted: float = WANTED) -> int:
    """Fewest probes that reach the wanted recall."""
    return int(np.sort(ranks)[int(np.ceil(wanted * len(ranks))) - 1])


def expected_found(trial: Trial, chosen: np.ndarray, prefix: int, most: int, step: float = 0.5) -> np.ndarray:
    """Chance that a near-duplicate of each chosen query is found with 1, 2, ... probes, by ``weak_bit_recall``.

    Sigma is unknown: it is log-normal, and summed over by the trapezoidal rule. Far smaller ones flip nothing, far larger ones
    too much for a near-duplicate.
    """
    x = np.arange(-3.5, 1.51, step)
    sigmas = np.broadcast_to(SIGMA * np.exp(SPREAD * x), (len(chosen), len(x)))
    found, near = weak_bit_recall(trial.margins[chosen], sigmas, prefix, most, RADIUS)
    weights = np.exp(-(x**2) / 2)
    return (found * weights[:, None]).sum(1) / (near * weights).sum(1)[:, None]


def drawn_shares(margins: np.ndarray, sigma: float, prefix: int, probes: int, times: int, seed: int = 13) -> np.ndarray:
    """Draw so many other documents for each query, and count: shares of them 1 to 3 bits apart, and found too; shape (2, n)."""
    rng, n = np.random.default_rng(seed), len(margins)
    place = np.uint64(1) << np.arange(64, dtype=np.uint64)
    query = ((margins > 0) * place).sum(1, dtype=np.uint64)
    wanted = WeakBits(64, prefix, RADIUS, probes).prefixes(query[:, None], margins, 0, n)
    counts = np.zeros((2, n))
    for _ in range(times):
        other = ((margins + sigma * rng.normal(0, 1, margins.shape) > 0) * place).sum(1, dtype=np.uint64)
        distance = np.bitwise_count(query ^ other)
        near = (distance >= 1) & (distance <= RADIUS)
        probed = (wanted == (other >> np.uint64(64 - prefix)).astype(np.uint32)[:, None]).any(1)
        counts += near, near & probed
    return counts / times


def theory_recall(trial: Trial, chosen: int, prefix: int, most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Recall of the first so many queries by theory, its standard error and the expected misses, each (2, most): R_A and R_F.

    Given its query each near-duplicate is found or not by itself, so that some one of s is found with chance
    1 - (1 - recall)^s; errors are those of sums of independent trials with these chances.
    """
    one = expected_found(trial, np.arange(chosen), prefix, most)
    members = np.bincount(trial.asked[trial.asked < chosen])[:, None]
    either = 1 - (1 - one) ** members
    out = []
    for chance, times in ((one, members), (either, np.ones_like(members))):
        total = times.sum()
        variance = (times * chance * (1 - chance)).sum(0)
        out.append(((times * chance).sum(0) / total, np.sqrt(variance) / total, (times * (1 - chance)).sum(0)))
    mean, error, misses = (np.array(x) for x in zip(*out, strict=True))
    return mean, error, misses


def measured_recall(trial: Trial, chosen: int, ranks: np.ndarray, most: int) -> np.ndarray:
    """Return R_A and R_F of the first so many queries with 1, 2, ... probes: shape (2, most)."""
    ks = np.arange(1, most + 1)[:, None]
    both = ranks[trial.asked < chosen], first_ranks(trial, ranks)[:chosen]
    return np.array([(x <= ks).mean(1) for x in both])


def uniform_compared(trial: Trial, index: Any, make: Callable[[], Any], margins: np.ndarray | None = None) -> tuple[int, int]:
    """Return (uniform fingerprints that the index compared, others): what an index of the others alone compares."""
    alone = make().add(trial.stored[trial.special])
    alone.query(trial.queries, margins)
    return index.compared - alone.compared, alone.compared


def with_probes(index: la.search.WeakBitIndex, probes: int) -> la.search.WeakBitIndex:
    """The same index with another number of probes."""
    index.probes = probes
    index._weak = index.weak_bits(len(index))
    index.compared = 0
    return index


def alternating(works: dict[str, Callable[[], Any]], times: int = 3) -> dict[str, np.ndarray]:
    """Processor seconds of some works that are run in turns, after a run of each that is not counted."""
    out: dict[str, list[float]] = {name: [] for name in works}
    for turn in range(times + 1):
        for name, work in works.items():
            start = process_time()
            work()
            if turn:
                out[name].append(process_time() - start)
    return {name: np.array(seconds) for name, seconds in out.items()}


def told_ratio(one: np.ndarray, other: np.ndarray) -> str:
    """How many times as long one work took as another, turn by turn: median and range."""
    ratio = one / other
    return f"{np.median(ratio):.2f} ({ratio.min():.2f} to {ratio.max():.2f})"


def turn_ratio(one: np.ndarray, other: np.ndarray) -> dict[str, Any]:
    """That ratio as a value, with the least and the largest of the turns instead of an error."""
    ratio = one / other
    median, least, largest = (round(float(x), 2) for x in (np.median(ratio), ratio.min(), ratio.max()))
    return {"found": median, "turns": (least, largest)}


def held(index: Any) -> int:
    """Bytes of all arrays that an index holds, wherever they hang; arrays on the same memory count once."""
    seen: dict[int, int] = {}
    todo = [index]
    while todo:
        at = todo.pop()
        if isinstance(at, np.ndarray):
            while isinstance(at.base, np.ndarray):
                at = at.base
            seen[at.ctypes.data] = at.nbytes
        elif isinstance(at, (list, tuple)):
            todo += at
        elif type(at).__module__.startswith("lookalike"):
            todo += [getattr(at, name) for name in getattr(at, "__slots__", ())] + list(getattr(at, "__dict__", {}).values())
    return sum(seen.values())


@contextmanager
def counting(file: la.search.FingerprintFile | None = None) -> Iterator[dict[str, int]]:
    """Count what searches do: fingerprints compared, and pieces, fingerprints and bytes read from a file."""
    counts = {"compared": 0, "pieces": 0, "fingerprints": 0, "bytes": 0}
    collect = fingerprints.collect

    def counted(search: Any, n: int) -> Any:
        found = collect(search, n)
        counts["compared"] += found[3]
        return found

    with patch.object(fingerprints, "collect", counted), patch.object(fingerprint_file, "collect", counted):
        if file is None:
            yield counts
            return
        pieces = file._chunks.pieces

        def read(most: int) -> Any:
            for words, rows in pieces(most):
                counts["pieces"] += 1
                counts["fingerprints"] += len(rows)
                counts["bytes"] += words.nbytes + 4 * len(rows)  # rows are in 32 bits on the disk
                yield words, rows

        with patch.object(file._chunks, "pieces", read):
            yield counts
