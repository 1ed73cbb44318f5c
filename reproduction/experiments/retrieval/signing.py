"""Figure 8: the time to sign documents by three families of hash functions, and what the families' minima are worth."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from figures import name_lines
from report import Section, mean_error

import lookalike as la
from lookalike.methods.method import sets_of_values
from lookalike.theory import bbit
from retrieval.documents import WIDTH, shingled
from retrieval.estimates import normal_error
from retrieval.signing_kernels import FAMILIES, draw_parameters, pack_bits

BATCH, COUNTS, UNLIKE = 256, (32, 64, 128, 256), 0.1


def numbered(values: np.ndarray) -> tuple[np.ndarray, int]:
    """Number values by first appearance: (uint32 keys, how many there are)."""
    _, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.uint32)
    rank[np.argsort(first)] = np.arange(len(first), dtype=np.uint32)
    return rank[inverse], len(first)


def scattered(keys: np.ndarray) -> np.ndarray:
    """Spread numbers over all 32 bits, different ones to different places."""
    x = keys * np.uint32(0x9E3779B1)
    x ^= x >> np.uint32(15)
    x *= np.uint32(0x85EBCA77)
    return x ^ (x >> np.uint32(13))


def unrelated_pairs(shingles: la.sketches.Shingles) -> tuple[np.ndarray, np.ndarray]:
    """Choose pairs of documents with resemblances from 0.2 on, unlike those of all other pairs: (rows, exact resemblances).

    Rows 2 i and 2 i + 1 are a pair. Pairs that share shingles would err alike, and tell no more than one of them.
    """
    n = min(len(shingles), 800)
    left, right = np.triu_indices(n, 1)
    exact = np.zeros((n, n))
    exact[left, right] = sets_of_values(shingles.values, shingles.offsets).compare(left, right, 0.0)
    exact += exact.T
    free, rows = np.ones(n, bool), []
    for a, b in np.random.default_rng(8).permutation(np.argwhere(np.triu((exact >= 0.2) & (exact < 1)))):
        if free[a] and free[b]:
            rows += [a, b]
            free &= (exact[a] < UNLIKE) & (exact[b] < UNLIKE)
            free[[a, b]] = False
    return np.array(rows), exact[rows[::2], rows[1::2]]


def figure_8(quick: bool) -> Section:
    """Sign real documents with four families, with and without packing."""
    section = Section(
        "a-signing",
        "Figure 8: preprocessing time, by family of hash functions",
        "minima of 2- or 4-universal functions of mixed keys, or of full permutations, whose share of matches is not the resemblance, "
        "or whose lowest bits match with another probability than Theorem 1's; 2-universal functions that are not biased on keys "
        "in a row. Times are not checked.",
    )
    everything = shingled(800 if quick else 3000)
    if everything is None:
        return section.left_out("licence texts")
    rows, exact = unrelated_pairs(everything)
    values = np.concatenate([everything.row(int(row)) for row in rows])
    offsets = np.concatenate([[0], np.cumsum(everything.sizes[rows])])
    keys, universe = numbered(values)
    section.say(
        f"The paper's 100,000 news are not to be had. Their stand-in: {len(rows)} licence texts with {len(keys):,} shingles of "
        f"{WIDTH} words, {universe:,} different ones. k distinct functions each, none used twice, in compiled loops of the same form: "
        '2-universal (multiply-shift), 4-universal (cubic polynomials modulo 2^61 - 1, the "CWtrick" that the paper cites; and Thorup & '
        "Zhang's tables), and full permutations of the universe of these shingles (one table each, by Fisher & Yates's shuffle). "
        "The time to draw functions is not counted."
    )
    _check_minima(section, keys, offsets, universe, exact, 4 if quick else 8)
    _check_rows(section)
    _measure(section, scattered(keys), keys, offsets, universe)
    return section


def _signed(name: str, keys: np.ndarray, offsets: np.ndarray, parameters: np.ndarray) -> np.ndarray:
    """Return the minima of one family, (documents, k)."""
    out = np.empty((len(offsets) - 1, len(parameters)), np.uint32)
    FAMILIES[name](keys, offsets, parameters, out)
    return out


def _check_minima(
    section: Section, keys: np.ndarray, offsets: np.ndarray, universe: int, exact: np.ndarray, batches: int
) -> None:
    """Check shares of matches, and of matching lowest bits, against the exact resemblances."""
    sizes, mixed, rows = np.diff(offsets), scattered(keys), []
    for name in FAMILIES:
        whole = name == "full permutations"
        # The universe of a hash is so much larger than any set that densities are 0.
        densities = sizes / universe if whole else np.zeros(len(sizes))
        chance = bbit.match_probability(exact, 1, densities[::2], densities[1::2])
        kinds = {"their numbers": keys} if whole else {"scattered": mixed, "their numbers": keys}
        apart: dict[str, list[np.ndarray]] = {kind: [] for kind in kinds}
        for batch in range(batches):
            parameters = draw_parameters(name, BATCH, universe, 1000 + BATCH * batch)
            for kind, used in kinds.items():
                minima = _signed(name, used, offsets, parameters)
                one, other = minima[::2], minima[1::2]
                match = (one == other) - exact[:, None]
                low = ((one ^ other) & 1 == 0) - np.asarray(chance)[:, None]
                # One value a function: functions are independent, pairs of documents need not be.
                apart[kind].append(np.stack([match.mean(0), low.mean(0)]))
        for kind, values in apart.items():
            mean, error = mean_error(np.concatenate(values, 1))
            error = normal_error(mean, np.zeros(2), error, BATCH * batches)
            rows.append([name, kind, *(f"{m:+.4f} ± {e:.4f}" for m, e in zip(mean, error, strict=True))])
            if (name, kind) != ("2-universal", "their numbers"):
                section.agrees(
                    f"{name}, keys {kind}: minima match with probability R, their lowest bits with Theorem 1's (mean over pairs)",
                    mean, 0.0, error, name="families",
                )  # fmt: skip
    told = next(row for row in rows if row[:2] == ["2-universal", "their numbers"])
    section.observe(
        f"of 2-universal functions of keys that are not scattered, the share of matches less R is {told[2]} on these documents"
    )
    section.table(["family", "keys", "share of matches less R", "share of equal lowest bits less theory"], rows)
    section.say(
        f"Means over {len(exact)} pairs of documents of R = {exact.min():.2f} to {exact.max():.2f}, unlike all documents of other "
        f"pairs (R < {UNLIKE}), and {BATCH * batches:,} functions (± standard errors from the functions, which are independent). Keys are the shingles' "
        "numbers by first appearance, or these scattered over 32 bits, as hashes of shingles are. Densities are 0 but for "
        "permutations, whose universe is small."
    )


def _check_rows(section: Section) -> None:
    """Show the bias of 2-universal functions on intervals."""
    whole, halves, k = np.arange(1000), np.arange(500, 1500), 4096
    for name in ("2-universal", "4-universal"):
        parameters, found, truth = draw_parameters(name, k, 0), [], []
        for other in (halves, whole[250:750]):
            keys = np.concatenate([whole, other]).astype(np.uint32)
            one, two = _signed(name, keys, np.array([0, len(whole), len(whole) + len(other)]), parameters)
            found.append((one == two).mean())
            truth.append(len(np.intersect1d(whole, other)) / len(np.union1d(whole, other)))
        error = np.sqrt(np.multiply(truth, 1 - np.array(truth)) / k)
        told = " and ".join(f"{share:.3f} (R = {r:.3f})" for share, r in zip(found, truth, strict=True))
        if name == "2-universal":
            section.refutes(
                f"2-universal functions are not minwise: of 1,000 keys in a row, and 1,000 that overlap by half or the middle half of them, "
                f"minima match in {told}", found, truth, error, name="two-universal",
            )  # fmt: skip
        else:
            section.agrees(f"of 4-universal functions they match in {told}", found, truth, error, name="four-universal")


def _measure(section: Section, mixed: np.ndarray, keys: np.ndarray, offsets: np.ndarray, universe: int) -> None:
    """Time all families in alternating runs, with and without packing, and draw them."""
    n, counts = len(offsets) - 1, COUNTS
    drawn = {name: draw_parameters(name, counts[-1], universe) for name in FAMILIES}
    words = np.empty((n, (counts[-1] + 63) // 64), np.uint64)
    times: dict[tuple[str, bool, int], list[float]] = {}
    for _ in range(5):
        for k in counts:
            for name, parameters in drawn.items():
                used = keys if name == "full permutations" else mixed
                start = time.process_time()
                minima = _signed(name, used, offsets, parameters[:k])
                middle = time.process_time()
                pack_bits(minima, words)
                end = time.process_time()
                times.setdefault((name, False, k), []).append(middle - start)
                times.setdefault((name, True, k), []).append(end - start)
    best = {key: min(runs) / n * 1e6 for key, runs in times.items()}
    section.table(
        ["family", *(f"k = {k}, us per document" for k in counts), f"{counts[-1]} over {counts[0]}", "packed over not"],
        [
            [
                name, *(f"{best[name, False, k]:.0f}" for k in counts),
                f"{best[name, False, counts[-1]] / best[name, False, counts[0]]:.1f}",
                f"{best[name, True, counts[-1]] / best[name, False, counts[-1]]:.3f}",
            ]
            for name in drawn
        ],
    )  # fmt: skip
    base = best["2-universal", False, counts[-1]]
    section.observe(
        f"{counts[-1] // counts[0]} times the functions take "
        + ", ".join(f"{best[name, False, counts[-1]] / best[name, False, counts[0]]:.1f}" for name in drawn)
        + " times the time; packing to 1 bit adds "
        + ", ".join(f"{best[name, True, counts[-1]] / best[name, False, counts[-1]] - 1:.1%}" for name in drawn)
        + f"; against 2-universal functions the others take {', '.join(f'{best[name, False, counts[-1]] / base:.1f}' for name in list(drawn)[1:])} "
        "times the time (processor time, least of five alternating runs each)"
    )

    def draw(axes: Any) -> None:
        for i, name in enumerate(drawn):
            for packed in (False, True):
                axes[0].plot(
                    counts, [best[name, packed, k] for k in counts], "--" if packed else "-", color=f"C{i}",
                    label="_packed" if packed else name,
                )  # fmt: skip
        axes[0].set(xscale="log", yscale="log", xlabel="k", ylabel="us per document", title="solid: signed, dashed: and packed")
        axes[0].set_xticks(counts, [str(k) for k in counts])
        axes[0].minorticks_off()
        name_lines(axes[0])
        for i, name in enumerate(drawn):
            axes[1].plot(counts, [best[name, True, k] / best[name, False, k] for k in counts], "--", color=f"C{i}", label=name)
        axes[1].set(xscale="log", xlabel="k", title="signed and packed over signed")
        axes[1].set_xticks(counts, [str(k) for k in counts])
        axes[1].minorticks_off()
        name_lines(axes[1])

    section.figure(
        "a-signing", (1, 2), draw,
        "Time to sign a document with k functions, and to pack the lowest bits too. It rises in proportion to k (lines of slope 1), and "
        "packing adds so little that dashed lines lie on the solid ones; the right panel shows how much.",
    )  # fmt: skip
