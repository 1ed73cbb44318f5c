"""Retrieval of near-duplicates on real documents by estimates alone: precision, recall, storage (Experiments 2 and 3)."""

from __future__ import annotations

import time

import numpy as np
import pyarrow.parquet as pq
from report import ROOT, Section
from scipy.optimize import isotonic_regression

import semblance as sb
from semblance import hashing
from semblance.kernels import families
from semblance.methods.exact_sets import RowSets
from semblance.sketches.packed import unpack
from semblance.theory import bbit

SAMPLED = 0.05
PRECISIONS = (0.7, 0.8)
THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
SIZES = np.array([8, 12, 16, 20, 28, 36, 44, 52, 64, 80, 100, 120, 140, 160, 200, 240, 280, 320, 360, 400, 480, 560, 640])
SCHEMES = {"b = 1": [(1, 1.0)], "f = 1.25": [(1, 0.75), (2, 0.25)], "f = 1.5": [(1, 0.5), (2, 0.5)], "f = 1.75": [(1, 0.25), (2, 0.75)],
           "b = 2": [(2, 1.0)], "b = 4": [(4, 1.0)], "32 bits": [(32, 1.0)]}  # fmt: skip


def _documents(quick: bool) -> list[str] | None:
    path = ROOT.parent / "shared/data/licences.parquet"
    if not path.exists():
        return None
    texts = pq.read_table(path, columns=["text"])["text"].to_pylist()
    order = np.random.default_rng(5).permutation(len(texts))[: 1000 if quick else 3000]
    return [texts[i] for i in order]


def _curve(matches, parts, k: int, exact, weights, threshold: float) -> np.ndarray:
    """Weights of the pairs (rightly chosen, chosen, true) by estimates from k slots."""
    share = np.zeros(len(exact))
    begin = 0
    for bits, weight in parts:
        end = begin + round(weight * k)
        share += (matches[bits][:, end].astype(float) - matches[bits][:, begin]) / k
        begin = end
    c = sum(w * 2.0**-b for b, w in parts)
    chosen = (share - c) / (1 - c) >= threshold
    true = exact >= threshold
    return np.array([weights[chosen & true].sum(), weights[chosen].sum(), weights[true].sum()])


def _matches(shingles, seed: int, left, right) -> dict[int, np.ndarray]:
    """Matching slots among the first 0, 1, 2, ... of each pair, for each number of bits."""
    k = int(SIZES.max())
    signatures = sb.MinHash(permutations=k, seed=seed).sign(shingles)
    out = {}
    for bits in (1, 2, 4, 32):
        codes = unpack(sb.BBit(bits=bits).pack(signatures))[0].astype(np.uint32)
        counts = np.zeros((len(left), k + 1), np.int16)
        for begin in range(0, len(left), 50_000):
            part = slice(begin, begin + 50_000)
            np.cumsum(codes[left[part]] == codes[right[part]], axis=1, out=counts[part, 1:])
        out[bits] = counts
    return out


def precision_and_recall(quick: bool) -> list[Section]:
    """Precision and recall by number of slots, and the storage that equal precision takes."""
    texts = _documents(quick)
    if texts is None:
        section = Section("Experiments 2 and 3, fractional Figure 5: retrieval on real documents")
        section.say("Left out: the corpus of licence texts is not there.")
        return [section]
    shingles = sb.shingle(texts, width=3)
    keep = np.flatnonzero(shingles.sizes > 0)
    shingles = sb.Shingles(
        np.concatenate([shingles.row(i) for i in keep]), np.concatenate([[0], np.cumsum(shingles.sizes[keep])])
    )
    left, right = np.triu_indices(len(keep), 1)
    exact = RowSets.from_values(shingles.values, shingles.offsets).compare(left, right, 0.0)
    # Of the many pairs below .1 a sample stands for all, with weights to match.
    rng = np.random.default_rng(6)
    some = np.flatnonzero((exact >= 0.1) | (rng.random(len(exact)) < SAMPLED))
    left, right, exact = left[some], right[some], exact[some]
    weights = np.where(exact >= 0.1, 1.0, 1.0 / SAMPLED)
    totals = {(name, t): np.zeros((len(SIZES), 3)) for name in SCHEMES for t in THRESHOLDS}
    repetitions = 2 if quick else 8
    for seed in range(repetitions):
        matches = _matches(shingles, seed, left, right)
        for (name, t), total in totals.items():
            total += [_curve(matches, SCHEMES[name], k, exact, weights, t) for k in SIZES]
    results = {
        key: np.stack([v[:, 0] / np.maximum(v[:, 1], 1), v[:, 0] / np.maximum(v[:, 2], 1)], 1) for key, v in totals.items()
    }
    section = Section("Experiments 2 and 3, fractional Figure 5: precision and recall on real documents")
    section.say(
        f"{len(keep):,} licence texts, shingles of 3 words; {int((exact >= 0.3).sum()):,} pairs of resemblance .3 and more."
    )

    def draw(axes):
        for row, index in enumerate((0, 1)):
            for column, threshold in enumerate((0.3, 0.5, 0.7, 0.9)):
                axis = axes[4 * row + column]
                for name in SCHEMES:
                    axis.plot(SIZES, results[name, threshold][:, index], label=name, lw=1)
                axis.set(xlabel="k", ylabel=("precision", "recall")[index], title=f"R0 = {threshold}", ylim=(0, 1.02))
        axes[0].legend(fontsize=7)

    section.figure("retrieval", 4, 2, draw, "Recall does not tell the schemes apart, precision does: the papers' finding")
    better = np.mean([results["b = 2", t][10, 0] >= results["b = 1", t][10, 0] - 0.02 for t in THRESHOLDS])
    section.check(better >= 0.8, "at k = 100, 2 bits are at least as precise as 1 in most cells")
    between = np.mean([
        min(results["b = 1", t][:, 0].mean(), results["b = 2", t][:, 0].mean()) - 0.02 <= results["f = 1.5", t][:, 0].mean()
        <= max(results["b = 1", t][:, 0].mean(), results["b = 2", t][:, 0].mean()) + 0.02 for t in THRESHOLDS
    ])  # fmt: skip
    section.check(between >= 0.8, "1.5 bits lie between 1 and 2")
    return [section, _storage(results)]


def _needed(curve: np.ndarray, precision: float) -> float:
    """Number of slots at which a precision is reached, interpolated on the rising curve nearest to it; nan if never."""
    rising = isotonic_regression(curve[:, 0]).x
    if rising[0] >= precision or rising[-1] < precision:
        return float("nan")
    first = int(np.argmax(rising >= precision))
    low, high = rising[first - 1], rising[first]
    return float(SIZES[first - 1] + (precision - low) / (high - low) * (SIZES[first] - SIZES[first - 1]))


def _storage(results) -> Section:
    section = Section("Table 2: storage at equal precision, 32 bits over b bits")
    rows = []
    for threshold in THRESHOLDS:
        row: list = [threshold]
        for precision in PRECISIONS:
            whole = 32 * _needed(results["32 bits", threshold], precision)
            for name, bits in (("b = 1", 1), ("b = 2", 2), ("b = 4", 4)):
                ratio = whole / (bits * _needed(results[name, threshold], precision))
                row.append("" if np.isnan(ratio) else f"{ratio:.1f}")
        row += [f"{float(bbit.storage_ratio(32, b, threshold)):.1f}" for b in (1, 2, 4)]
        rows.append(row)
    section.table(
        ["R0", *(f"precision {p}, b = {b}" for p in PRECISIONS for b in (1, 2, 4)), *(f"theory, b = {b}" for b in (1, 2, 4))],
        rows,
    )
    ratios = [float(row[i]) / float(row[i + (6 if i < 4 else 3)]) for row in rows for i in range(1, 7) if row[i]]
    section.check(
        0.5 < float(np.median(ratios)) < 1.3,
        f"storage falls nearly as theory says (median of measured over theory {np.median(ratios):.2f})",
    )
    section.lines.append("")
    section.say(
        f"Empty: the precision is reached with fewer than {SIZES[0]} slots, or not with {SIZES[-1]}. The paper's own table has "
        "5.7 to 23 on other corpora; how many slots a precision takes depends on how many pairs lie right below the threshold."
    )
    return section


def preprocessing(quick: bool) -> Section:
    """Fig. 8: time to sign, by kind of permutation."""
    section = Section("Figure 8: preprocessing time")
    rng = np.random.default_rng(8)
    n, size = (20 if quick else 60), 1500
    keys = rng.integers(0, 1 << 32, n * size, dtype=np.uint64)
    offsets = np.arange(0, n * size + 1, size)
    shingles = sb.Shingles.from_arrays(keys, offsets)
    table = hashing.shuffled(1 << 20, 1)
    small = (keys & np.uint64((1 << 20) - 1)).astype(np.int64)
    tables = hashing.derive(1, "four-universal", 1 << 18)
    out = np.empty(len(keys), np.uint64)

    def two_universal(k):
        return sb.MinHash(permutations=k).sign(shingles)

    def four_universal(k):
        for _ in range(k):
            families.four_universal(keys, tables[: 1 << 16], tables[1 << 16 : 1 << 17], tables[1 << 17 :], out)
            np.minimum.reduceat(out, offsets[:-1])

    def full(k):
        for _ in range(k):
            np.minimum.reduceat(table[small], offsets[:-1])

    ways = {"2-universal": two_universal, "4-universal": four_universal, "full permutations": full,
            "2-universal, packed to 1 bit": lambda k: sb.BBit(bits=1).pack(two_universal(k)),
            "one permutation": lambda k: sb.OnePermutation(permutations=k).sign(shingles),
            "fast similarity": lambda k: sb.FastSimilarity(permutations=k).sign(shingles)}  # fmt: skip
    counts, times = (50, 100, 200, 400), {}
    for name, way in ways.items():
        way(4)
        times[name] = []
        for k in counts:
            runs = []
            for _ in range(3):
                start = time.perf_counter()
                way(k)
                runs.append(time.perf_counter() - start)
            times[name].append(min(runs) / n * 1e6)
    section.table(
        ["way", *(f"k = {k}, us a document" for k in counts)],
        [[name, *(f"{t:.0f}" for t in row)] for name, row in times.items()],
    )
    packing = times["2-universal, packed to 1 bit"][-1] / times["2-universal"][-1]
    section.check(
        times["2-universal"][-1] / times["2-universal"][0] > 4, "k permutations: time grows in proportion to k (8 x more)"
    )
    section.check(packing < 1.3, f"packing to 1 bit costs little beside ({packing:.2f} x)")
    gain = times["2-universal"][-1] / times["one permutation"][-1]
    section.check(gain > 20, f"one permutation hashing: {gain:.0f} times faster at k = 400, whatever k")
    section.say(f"Documents of {size:,} shingles. Full permutations are tables over a universe of 2^20.")
    return section


def throughput(quick: bool) -> Section:
    """Section 5.1.2: estimation from packed bits against whole samples."""
    section = Section("Section 5.1.2: speed of estimation")
    rng = np.random.default_rng(12)
    n, k = 2000, 512
    values = rng.integers(0, 1 << 32, (n, k), dtype=np.uint32)
    signatures = sb.Signatures(values, sb.FastSimilarity(permutations=k), "made up")
    packed = sb.BBit(bits=1).pack(signatures)
    left, right = (rng.integers(0, n, 20_000 if quick else 100_000) for _ in range(2))
    wide = values.astype(np.uint64)
    table = np.array([bin(i).count("1") for i in range(1 << 16)], np.uint8)
    halves = packed.words.view(np.uint16)

    def chunked(function):
        return [function(left[i : i + 5000], right[i : i + 5000]) for i in range(0, len(left), 5000)]

    ways = {
        "64-bit samples, compared": lambda: chunked(lambda a, b: (wide[a] == wide[b]).sum(1)),
        "32-bit samples, compared": lambda: chunked(lambda a, b: (values[a] == values[b]).sum(1)),
        "1 bit, 16-bit look-up table (the paper's way)": lambda: chunked(
            lambda a, b: k - table[halves[a] ^ halves[b]].sum(1, dtype=np.int64)
        ),
        "1 bit, XOR and population count": lambda: packed.matches(left, right),
    }
    rows, rates = [], {}
    for name, way in ways.items():
        way()
        runs = []
        for _ in range(3):
            start = time.perf_counter()
            way()
            runs.append(time.perf_counter() - start)
        rates[name] = len(left) / min(runs)
        rows.append([name, f"{rates[name] / 1e6:.2f}"])
    section.table(["way", f"million pairs/s at k = {k}"], rows)
    names = list(ways)
    gain = rates[names[3]] / rates[names[0]]
    equal = gain / 3  # at R = .5 single bits need three times as many samples as whole values
    section.check(
        equal > 1, f"at equal accuracy (R = .5, three times the samples) 1 bit is {equal:.1f} times faster than 64-bit samples"
    )
    section.say("The paper's end ratio is 12.8 (21.3 times less storage, 1.67 times the time a sample).")
    return section


def run(quick: bool) -> list[Section]:
    """Run all."""
    return [*precision_and_recall(quick), preprocessing(quick), throughput(quick)]
