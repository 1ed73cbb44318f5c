"""Boilerplate, families and clouds: what the rule for crowds finds and what it costs, beside plain banding.

python reproduction/experiments/crowds.py planted N THRESHOLD...  pairs exactly at the threshold among documents that share boilerplate
python reproduction/experiments/crowds.py kept                    families and clouds: how many documents are kept
"""

from __future__ import annotations

import sys
from math import ceil
from time import process_time
from typing import NamedTuple

import numpy as np
from crowd_rule import Array, Corpus, Found, Rule, compiled, cut, find, least, make_codes, packed
from instructions import fmix64, popcount

import lookalike as la
from lookalike.core import band_keys

WIDTH, WORDS = 5, 200
KINDS = {"": {}, "references": {"references": True}, "2 groups": {"n_groups": 2}, "10 groups": {"n_groups": 10}}


def sketched(values: Array, offsets: Array, groups: Array, plan: la.Plan) -> tuple[Array, Array]:
    """Return (codes, keys) of shingle hashes."""
    slots = la.sketches.FastSimilarity(permutations=plan.bands * plan.rows, seed=1).sign_values(values, offsets)
    codes = np.empty(slots.shape, np.uint16)
    make_codes(slots, groups, codes)
    return codes, band_keys(slots, groups, plan.bands, plan.rows)


@compiled
def mix(values, out):
    """Mix 64-bit values."""
    for i in range(len(values)):
        out[i] = fmix64(values[i])


def planted(
    n: int, share: float, plan: la.Plan, n_groups: int = 1, references: bool = False, seed: int = 7
) -> tuple[Corpus, Array, Array] | None:
    """Make documents of 200 words that share boilerplate, and pairs among them whose resemblance is the threshold.

    Returns (corpus, left, right), or None where unrelated documents resemble each other by the threshold. With
    ``references`` the first half are references; pairs of two references are left out.
    """
    generator = np.random.default_rng(seed)
    size, t = WORDS - WIDTH + 1, plan.threshold
    boilerplate = round(share * WORDS) - WIDTH + 1
    own = ceil(2 * size * t / (1 + t) - 1e-9) - boilerplate
    if own < 1:
        return None
    pairs = min(20_000, n // 8)
    pair = np.sort(generator.permutation(n)[: 2 * pairs].reshape(-1, 2), axis=1)
    mate = np.full(n, -1)
    mate[pair[:, 1]] = pair[:, 0]
    group = generator.integers(0, n_groups, n)
    group[pair[:, 1]] = group[pair[:, 0]]
    template = generator.integers(0, 1 << 63, boilerplate, np.uint64)
    digests = generator.integers(0, 1 << 63, n_groups, np.uint64) if n_groups > 1 else np.zeros(1, np.uint64)
    k = plan.bands * plan.rows
    codes, keys = np.empty((n, k), np.uint16), np.empty((n, plan.bands), np.uint64)
    for begin in range(0, n, 20_000):
        rows = np.arange(begin, min(n, begin + 20_000), dtype=np.uint64)
        name = rows[:, None] << np.uint64(16) | np.arange(size, dtype=np.uint64)
        later = np.flatnonzero(mate[rows] >= 0)
        with_mate = mate[rows[later]].astype(np.uint64)[:, None] << np.uint64(16) | np.arange(size, dtype=np.uint64)
        name[later, boilerplate : boilerplate + own] = with_mate[:, boilerplate : boilerplate + own]
        values = np.empty(name.size, np.uint64)
        mix((name ^ np.uint64(seed << 48)).ravel(), values)
        values.reshape(name.shape)[:, :boilerplate] = template
        offsets = np.arange(len(rows) + 1) * size
        codes[rows], keys[rows] = sketched(values, offsets, digests[group[rows]], plan)
    boundary = n // 2 if references else 0
    pair = pair[pair[:, 1] >= boundary]
    return Corpus(plan, codes, keys, boundary), pair[:, 0], pair[:, 1]


def spoiled(n: int, most: int, seed: int = 4) -> list[str]:
    """Copies of one page, each with 0 to ``most`` of its words replaced at random places."""
    generator, page, texts = np.random.default_rng(seed), [f"base{i}" for i in range(WORDS)], []
    for _ in range(n):
        words = page.copy()
        for place in generator.integers(0, WORDS, int(generator.integers(0, most + 1))):
            words[place] = f"z{generator.integers(10**9)}"
        texts.append(" ".join(words))
    return list(dict.fromkeys(texts))


def pages(n: int, seed: int = 6) -> list[str]:
    """Copies of 20 pages, each word replaced with a probability of 0.01."""
    generator, texts = np.random.default_rng(seed), []
    for _ in range(n):
        page = int(generator.integers(20))
        words = [f"p{page}w{i}" for i in range(WORDS)]
        for place in np.flatnonzero(generator.random(WORDS) < 0.01):
            words[place] = f"z{generator.integers(10**9)}"
        texts.append(" ".join(words))
    return list(dict.fromkeys(texts))


def records(n: int, seed: int = 6) -> list[str]:
    """Records of one template with six fields of 1,000 values each."""
    generator, words, texts = np.random.default_rng(seed), [f"b{i}" for i in range(WORDS)], []
    places = np.linspace(10, WORDS - 10, 6).astype(int).tolist()
    for _ in range(n):
        for field, place in enumerate(places):
            words[place] = f"f{field}v{generator.integers(1000)}"
        texts.append(" ".join(words))
    return texts


def family(n: int, seed: int = 1) -> list[str]:
    """One page with ten words of each document's own at its end."""
    generator, page = np.random.default_rng(seed), " ".join(f"base{i}" for i in range(WORDS - 10))
    return [f"{page} {' '.join(f't{x}' for x in tail)}" for tail in generator.integers(0, 10**9, (n, 10))]


@compiled
def resemblance(a, b, offsets, values):
    """Common / all of two rows of ascending values."""
    i, j, common = offsets[a], offsets[b], 0
    while i < offsets[a + 1] and j < offsets[b + 1]:
        common += values[i] == values[j]
        if values[i] <= values[j]:
            j += values[i] == values[j]
            i += 1
        else:
            j += 1
    return common / (offsets[a + 1] - offsets[a] + offsets[b + 1] - offsets[b] - common)


@compiled
def walk_links(links, offsets, values, threshold, kept):
    """Decide in keep order by links sorted by their right document, right << 32 | left; return how many were compared."""
    compared = 0
    for link in range(len(links)):
        right, left = links[link] >> 32, links[link] & 0xFFFFFFFF
        if kept[right] and kept[left]:
            compared += 1
            kept[right] = resemblance(left, right, offsets, values) < threshold
    return compared


class Chains(NamedTuple):
    """The kept documents of each bucket: the last one, the one before each, and for whom each was looked at last."""

    first: Array
    after: Array
    seen: Array


@compiled
def walk_buckets(bucket, words, most, offsets, values, threshold, kept, chains):
    """Decide in keep order by every kept document of every bucket; return how many were compared."""
    compared = 0
    ones = np.uint64(0x1111111111111111)
    for row in range(len(bucket)):
        for band in range(bucket.shape[1]):
            other = chains.first[bucket[row, band]]
            while other >= 0 and kept[row]:
                if chains.seen[other] != row:
                    chains.seen[other] = row
                    differ = 0
                    for word in range(words.shape[1]):
                        x = words[row, word] ^ words[other, word]
                        x |= x >> np.uint64(2)
                        differ += popcount((x | x >> np.uint64(1)) & ones)
                    if differ <= most:
                        compared += 1
                        kept[row] = resemblance(other, row, offsets, values) < threshold
                other = chains.after[other, band]
        if kept[row]:
            for band in range(bucket.shape[1]):
                chains.after[row, band] = chains.first[bucket[row, band]]
                chains.first[bucket[row, band]] = row
    return compared


def from_texts(texts: list[str], plan: la.Plan) -> tuple[Corpus, Array, Array]:
    """Return (corpus, offsets, values) of texts: their shingle hashes ascend in each row."""
    shingles = la.shingle(texts, width=WIDTH)
    codes, keys = sketched(shingles.values, shingles.offsets, np.zeros(len(texts), np.uint64), plan)
    row = np.repeat(np.arange(len(texts)), np.diff(shingles.offsets))
    return Corpus(plan, codes, keys), shingles.offsets, shingles.values[np.lexsort((shingles.values, row))]


def kept_by_rule(corpus: Corpus, offsets: Array, values: Array, rule: Rule) -> tuple[int, str]:
    """Return how many documents the rule keeps, and its costs."""
    n = len(corpus)
    found = find(corpus, rule)
    passed = found.links[cut(corpus, found.links)]
    passed = np.sort((passed & 0xFFFFFFFF) << 32 | passed >> 32)
    kept = np.ones(n, np.bool_)
    compared = walk_links(passed, offsets, values, corpus.plan.threshold, kept)
    cost = f"{found.raw / n:.0f} | {len(found.links) / n:.0f} | {compared / n:.1f} | {found.seconds / n * 1e6:.1f}"
    return int(kept.sum()), cost


def kept_by_banding(corpus: Corpus, offsets: Array, values: Array) -> int:
    """Return how many documents are kept if every pair of every bucket is a candidate."""
    n, bands = corpus.keys.shape
    bucket, n_buckets = np.empty((n, bands), np.int64), 0
    for band in range(bands):
        names, bucket[:, band] = np.unique(corpus.keys[:, band], return_inverse=True)
        bucket[:, band] += n_buckets
        n_buckets += len(names)
    kept = np.ones(n, np.bool_)
    chains = Chains(np.full(n_buckets, -1), np.full((n, bands), -1), np.full(n, -1))
    walk_buckets(
        bucket,
        packed(corpus.codes),
        corpus.codes.shape[1] - least(corpus.plan),
        offsets,
        values,
        corpus.plan.threshold,
        kept,
        chains,
    )
    return int(kept.sum())


def vouched(corpus: Corpus, found: Found, rows: Array, rule: Rule) -> Array:
    """Return for some documents the probability, by a model, that another at the threshold is found.

    A slot whose code is the document's own, that is single or within its budget, agrees with what the other slots leave.
    """
    k, plan, r = corpus.codes.shape[1], corpus.plan, corpus.plan.threshold
    counts = found.counts[np.arange(k), corpus.codes[rows]].astype(np.int64)
    slots = np.argsort(np.where(counts > 1, counts << 16 | np.arange(k), 1 << 60), 1)[:, : rule.codes]
    shared = np.take_along_axis(np.where(counts > 1, counts, 1 << 40), slots, 1)
    own = counts == 1
    np.put_along_axis(own, slots, np.take_along_axis(own, slots, 1) | (shared.cumsum(1) <= rule.budget), 1)
    n_own = own.sum(1)
    common = np.minimum((1 + r) / 2, k * r / np.maximum(k - n_own, 1))
    agree = np.clip((k * r - (k - n_own) * common) / np.maximum(n_own, 1), 0, 1)
    q = 1 - (1 - agree) ** np.minimum(n_own, rule.codes)
    band = np.where(own, agree[:, None], common[:, None]).reshape(len(rows), plan.bands, plan.rows).prod(2)
    small, crowd = (np.where(chosen, 1 - band, 1).prod(1) for chosen in (~found.in_crowd[rows], found.in_crowd[rows]))
    planned = 1 - (1 - r**plan.rows) ** plan.bands
    return np.minimum(planned, np.where(found.crowded[rows], 1 - small * (1 - q * (1 - crowd)), planned))


def report_planted(n: int, thresholds: list[float]) -> None:
    """Print how many planted pairs are found, and what that costs."""
    print("| threshold | plan | boilerplate | | plain | of these | in all | vouched | raw | links | past cut | us |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    for threshold in thresholds:
        plan, rule = la.plan(threshold=threshold), Rule()
        for share in (0.4, 0.67, 0.8, 0.85) if n <= 100_000 else (0.67, 0.85):
            for name, chosen in KINDS.items() if n <= 100_000 else [("", {})]:
                made = planted(n, share, plan, **chosen)
                if made is None:
                    continue
                corpus, left, right = made
                found = find(corpus, rule)
                start = process_time()
                passed = found.links[cut(corpus, found.links)]
                seconds = found.seconds + process_time() - start
                pairs = left << 32 | right
                place = np.minimum(np.searchsorted(passed, pairs), len(passed) - 1)
                by_rule, plain = passed[place] == pairs, (corpus.keys[left] == corpus.keys[right]).any(1)
                at_least = vouched(corpus, found, right, rule).mean()
                print(
                    f"| {threshold} | {plan.bands} x {plan.rows} | {share} | {name} | {plain.mean():.4f} | "
                    f"{by_rule[plain].mean():.4f} | {by_rule.sum() / plain.sum():.4f} | {at_least / plain.mean():.4f} | "
                    f"{found.raw / n:.0f} | {len(found.links) / n:.0f} | {len(passed) / n:.1f} | {seconds / n * 1e6:.1f} |",
                    flush=True,
                )  # fmt: skip


def report_kept() -> None:
    """Print how many documents of families and clouds are kept."""
    print("| corpus | documents | coupled | kept | raw | links | compared | us |")
    print("|---|---|---|---|---|---|---|---|")
    made_of = {"family": family(60_000), "pages": pages(20_000), "records": records(40_000), "cloud": spoiled(60_000, 5)}
    for name, texts in made_of.items():
        made = from_texts(texts, la.plan())
        for coupled in (0, Rule().coupled):
            kept, cost = kept_by_rule(*made, Rule(coupled=coupled))
            print(f"| {name} | {len(texts):,} | {coupled} | {kept:,} | {cost} |", flush=True)
        print(f"| {name}, every pair of a bucket | {len(texts):,} | | {kept_by_banding(*made):,} | | | | |", flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "kept":
        report_kept()
    else:
        report_planted(int(float(sys.argv[2])), [float(t) for t in sys.argv[3:]])
