"""How many sets of bits are flipped until the right one: the thesis' Figure 2, and the orders in which they can be tried."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from documents import Documents, documents
from figures import COLOURS, name_lines
from matching.trials import WANTED, share_error
from pair_model import SIGMA, SPREAD, families
from report import Section
from scipy.special import log_ndtr, ndtr

from lookalike.core import cheapest_flip_sets
from lookalike.theory.blocks import combinations_within

RADIUS, PROBES, MOST = 3, 23, 300


def sets_of(bits: int) -> tuple[np.ndarray, np.ndarray]:
    """Return all sets of 1 to 3 of so many bits: (members, with ``bits`` where there is none, of shape (sets, 3); masks)."""
    every = [c + (bits,) * (RADIUS - n) for n in range(1, RADIUS + 1) for c in combinations(range(bits), n)]
    members = np.array(every)
    place = np.append(np.uint64(1) << np.arange(bits, dtype=np.uint64), np.uint64(0))
    return members, np.bitwise_or.reduce(place[members], 1)


def _near(real: Documents) -> tuple[np.ndarray, np.ndarray]:
    """Return (left, right) of pairs at distance 1 to 3."""
    near = (real.distance >= 1) & (real.distance <= RADIUS)
    return real.left[near], real.right[near]


def figure_2(quick: bool) -> Section:
    """Flip sets of the bits of one document until its fingerprint is the other's: weak bits first, and in random order."""
    section = Section(
        "t-attempts",
        "Thesis, Figure 2: attempts until the differing bits are flipped",
        "Weak bits first do not need fewer attempts than a random order, pair by pair, or the random order needs other than "
        "half of all "
        "sets in the mean.",
    )
    real = documents(quick)
    if real is None:
        return section.left_out("policies")
    left, right = _near(real)
    masks = sets_of(64)[1]
    rng = np.random.default_rng(1)
    apart, count = real.prints.words[left, 0] ^ real.prints.words[right, 0], len(masks)
    differing = apart[:, None] & (np.uint64(1) << np.arange(64, dtype=np.uint64)) != 0
    weak = ranks(np.abs(real.prints.margins[left].astype(np.float64)), differing, count + 1) - 1  # the empty set is the first
    random = np.array([np.flatnonzero(masks[rng.permutation(count)] == mask)[0] + 1 for mask in apart])
    section.say(
        f"{len(left):,} pairs of versions of policies 1 to 3 bits apart, a stand-in for the thesis' 8 million. All "
        f"{count:,} sets of 1 to 3 of 64 bits are put in order, by summed |W|, as the library's kernel makes them, or at random, "
        "and flipped one after the other until the fingerprint is the other document's. Pairs of one page are not independent: "
        "standard errors are taken over pages."
    )
    pages = real.pages[left]
    share, error = share_error(weak < random, pages)
    section.below(
        f"weak bits first come sooner than a random order, in {share:.1%} of the pairs", 0.5, share, error, name="sooner"
    )
    section.holds(f"the kernel comes to the set of each pair, among {count:,}", bool((weak <= count).all()), name="reached")
    uniform = (random - (count + 1) / 2) / count
    section.agrees(
        "in random order half of all sets are tried in the mean (as a share of them, less a half)",
        uniform.mean(),
        0.0,
        1 / np.sqrt(12 * len(uniform)),
        name="random-half",
    )
    quantiles = (0.25, 0.5, 0.75, 0.9, 0.95)
    section.table(
        ["share of pairs found", *(f"{q:.0%}" for q in quantiles)],
        [
            [name, *(f"{int(np.quantile(x, q)):,}" for q in quantiles)]
            for name, x in (("weak bits first", weak), ("random order", random))
        ],
    )
    by_distance = [weak[real.prints.distance(left, right) == d] for d in (1, 2, 3)]
    section.say(
        f"Median attempts, weak bits first, by distance 1, 2 and 3: "
        f"{', '.join(f'{np.median(x):,.0f}' for x in by_distance)}; of as many bits "
        f"there are "
        f"{', '.join(f'{combinations_within(64, d) - combinations_within(64, d - 1):,}' for d in (1, 2, 3))} sets."
    )

    def draw(axes):
        for name, values in (("weak bits first", weak), ("random order", random)):
            axes[0].plot(np.sort(values), (np.arange(len(values)) + 1) / len(values), label=name)
        axes[0].set_xscale("log")
        axes[0].set_xlabel(f"sets of bits flipped, of {count:,}")
        axes[0].set_ylabel("share of pairs found")
        axes[0].legend(loc="upper left")

    section.figure(
        "t-attempts",
        (1, 1),
        draw,
        "Real pairs at distance 1 to 3: share found after so many sets of flipped "
        "bits, both orders run. "
        "With weak bits first most pairs are found within some tens of sets; in random order hardly any.",
    )
    return section


def costs_of(margins: np.ndarray, sigma: np.ndarray) -> dict[str, np.ndarray]:
    """Return the cost of flipping each bit under each order, of shape (n, bits); sets are tried by rising sum of costs.

    (4.5) and (4.4) are chances, whose product (4.6) is to be large: the cost is minus the logarithm. Odds are those of (4.4).
    """
    size = np.abs(margins)
    norm = np.sqrt((margins**2).sum(1, keepdims=True))
    flip = log_ndtr(-size / sigma[:, None])
    return {
        "sum of |W|": size,
        "product of (4.5)": -np.log1p(-np.minimum(size / norm, 1 - 1e-12)),
        "product of (4.4)": -flip,
        "odds of (4.4)": log_ndtr(size / sigma[:, None]) - flip,
        "sum of W^2": size**2,
    }


def ranks(costs: np.ndarray, differing: np.ndarray, most: int) -> np.ndarray:
    """At which place, from 1, each row's own set of differing bits comes by the library's kernel; the empty set is the first.

    ``costs`` and ``differing`` are of the prefix, of shape (n, bits). most + 1 where it does not come.
    """
    n, bits = costs.shape
    found = np.full(n, most + 1)
    order = np.argsort(costs, 1, kind="stable")
    shift = np.uint64(1) << np.arange(bits, dtype=np.uint64)
    wanted = (np.take_along_axis(differing, order, 1) * shift).sum(1, dtype=np.uint64)
    for row in range(n):
        sets = cheapest_flip_sets(costs[row, order[row]].astype(np.float64), RADIUS, most)
        place = np.flatnonzero(sets == wanted[row])
        if len(place):
            found[row] = place[0] + 1
    return found


def _random_ranks(rng: np.random.Generator, differing: np.ndarray) -> np.ndarray:
    """The same for a random order of all sets of at most 3 bits, after the empty one; run for each pair."""
    _n, bits = differing.shape
    masks = sets_of(bits)[1]
    wanted = (differing * (np.uint64(1) << np.arange(bits, dtype=np.uint64))).sum(1, dtype=np.uint64)
    return np.array([1 if w == 0 else int(np.flatnonzero(masks[rng.permutation(len(masks))] == w)[0]) + 2 for w in wanted])


def _flips(at: np.ndarray, share: float, most: int) -> str:
    """How many flips find so large a share; of more than were tried it is only said that they are more."""
    need = int(np.sort(at)[min(len(at) - 1, max(0, int(np.ceil(share * len(at))) - 1))])
    return f"over {most:,}" if need > most else f"{need:,}"


def _compared(
    section: Section, name: str, margins: np.ndarray, differing: np.ndarray, sigma: np.ndarray, groups: np.ndarray
) -> dict:
    """Make the table of one kind of pairs; return the ranks of each order."""
    found = {
        order: ranks(costs[:, -differing.shape[1] :], differing, MOST) for order, costs in costs_of(margins, sigma).items()
    }
    found["random"] = _random_ranks(np.random.default_rng(2), differing)
    rows = []
    for order, at in found.items():
        most = combinations_within(differing.shape[1], RADIUS) if order == "random" else MOST
        share, error = share_error(at <= PROBES, groups)
        spread = share_error(at <= np.sort(at)[int(WANTED * len(at))], groups)[1]
        low, need, high = (_flips(at, q, most) for q in (WANTED - 2 * spread, WANTED, WANTED + 2 * spread))
        rows.append([order.replace("|", "\\|"), need, f"{low} to {high}", f"{share:.3f} ± {error:.3f}"])
    section.table(
        [f"order ({name} pairs)", f"flips for recall {WANTED}", "within two standard errors", f"recall with {PROBES}"], rows
    )
    return found


def _products(section: Section, margins: np.ndarray, sigma: np.ndarray, bits: int) -> None:
    """Compare the library's sets, by rising sums of logarithms of (4.4), with the largest products of (4.4) of all sets."""
    members, _ = sets_of(bits)
    found, best = np.empty((2, len(margins), MOST))
    for row, (own, spread) in enumerate(zip(margins, sigma, strict=True)):
        costs = np.sort(-log_ndtr(-np.abs(own[-bits:]) / spread))
        out = cheapest_flip_sets(costs, RADIUS, MOST)
        chances = np.append(np.exp(-costs), 1.0)
        chosen = out[:, None] >> np.arange(bits, dtype=np.uint64) & np.uint64(1) != 0
        found[row] = np.where(chosen, chances[:-1], 1.0).prod(1)
        best[row] = -np.sort(-np.append(chances[members].prod(1), 1.0))[:MOST]
    section.equals(
        f"modelled: the kernel's first {MOST} sets of {bits} bits, by sums of logarithms, have the {MOST} largest products of (4.4) of "
        f"all sets, in their order ({len(margins)} documents; ratios)",
        found / best, 1.0, 1e-9, name="products",
    )  # fmt: skip


def orders(quick: bool) -> Section:
    """Compare the orders of (4.4), (4.5), (4.6) and of summed |W|, by the flips they need; and (4.5) with chances."""
    section = Section(
        "t-orders",
        "Thesis, (4.4)-(4.6): in which order to flip, and whether (4.5) is a probability",
        "Products of chances put sets into another order than the library's sums of logarithms do; a random order serves as well "
        "with 23 flips; or (4.5) is the share of bits that differ.",
    )
    prefix = 26
    trial = families(8_000 if quick else 40_000, 1000 if quick else 6000)
    n = len(trial.queries)
    place = np.uint64(1) << np.arange(64, dtype=np.uint64)
    first = np.unique(trial.asked, return_index=True)[1]  # one pair a query
    bits = (trial.queries[:, None] ^ trial.near[first][:, None]) & place != 0
    margins = trial.margins.astype(np.float64)
    sets = {"modelled": (margins, bits, np.full(n, SIGMA), np.arange(n))}
    real = documents(quick)
    if real is not None:
        left, right = _near(real)
        sums = real.prints.margins.astype(np.float64)
        sums /= np.sqrt((sums**2).mean(1, keepdims=True))
        differ = (real.prints.words[left] ^ real.prints.words[right]) & place != 0
        apart = (
            real.prints.margins[right] / np.sqrt((real.prints.margins[left].astype(np.float64) ** 2).mean(1, keepdims=True))
            - sums[left]
        )
        sigmas = np.sqrt((apart**2).mean(1))
        sigma = float(np.median(sigmas))
        sets["real"] = sums[left], differ, np.full(len(left), sigma), real.pages[left]
    section.say(
        f"Pairs 1 to 3 bits apart, the {prefix} bits of a prefix flipped, all "
        f"{combinations_within(prefix, RADIUS):,} sets of at most 3. Modelled: {n:,} "
        f"pairs of the model of margins (sigma log-normal, median {SIGMA}, spread {SPREAD}). "
        + (
            f"Real: {len(left):,} pairs of versions of policies, sigma of (4.4) their median, {sigma:.3f} (5 % "
            f"{np.quantile(sigmas, 0.05):.3f}, 95 % {np.quantile(sigmas, 0.95):.3f}); standard errors over pages."
            if real
            else "Real pairs are left out: the corpus of policies is not there."
        )
    )
    _products(section, margins[:100], np.full(100, SIGMA), prefix)
    drawn = {}
    for name, (margin, differ, spread, groups) in sets.items():
        found = drawn[name] = _compared(section, name, margin, differ[:, -prefix:], spread, groups)
        gains = [
            share_error((x <= PROBES).astype(float) - (found["random"] <= PROBES), groups)
            for o, x in found.items()
            if o != "random"
        ]
        section.below(
            f"{name}: with {PROBES} flips each of the five orders finds more than the random one",
            0.0,
            *np.array(gains).T,
            name="weak-first",
        )
        off = {
            o: share_error((x <= PROBES).astype(float) - (found["sum of |W|"] <= PROBES), groups)
            for o, x in found.items()
            if o not in ("random", "sum of |W|")
        }
        section.observe(
            f"{name}: recall with {PROBES} flips less that of summed |W|: "
            + ", ".join(f"{o} {d:+.4f} ± {e:.4f}" for o, (d, e) in off.items())
        )
        ratio = np.abs(margin) / np.sqrt((margin**2).sum(1, keepdims=True))
        rows = []
        for low, high in ((0, 0.005), (0.005, 0.02), (0.02, 0.05), (0.05, 0.1), (0.1, 0.2)):
            here = (ratio >= low) & (ratio < high)
            hits, groups_here = differ[here], np.broadcast_to(groups[:, None], here.shape)[here]
            share, error = share_error(hits, groups_here)
            q = ndtr(-np.abs(margin) / spread[:, None])[here].mean()
            rows.append((f"{low} to {high}", share, error, 1 - ratio[here].mean(), q))
        section.table(
            [f"\\|W\\| / size of W ({name})", "share of bits that differ", "by (4.5)", "by (4.4), one sigma"],
            [[where, f"{s:.4f} ± {e:.4f}", f"{wrong:.3f}", f"{q:.4f}"] for where, s, e, wrong, q in rows],
        )
        _, share, error, wrong, _ = zip(*rows[:4], strict=True)
        section.below(
            f"{name}: (4.5) is no probability: far more than the share of bits that differ, in the first four classes",
            share,
            wrong,
            error,
            name="no-probability",
            sense="excludes",
        )

    def draw(axes):
        for row, (name, found) in enumerate(drawn.items()):
            groups, least = sets[name][3], found["sum of |W|"]
            left, right = axes[2 * row : 2 * row + 2]
            for order, most, colour in (
                ("sum of |W|", MOST, "black"),
                ("sum of W^2", MOST, COLOURS[3]),
                ("random", 2950, "grey"),
            ):
                ks = np.unique(np.geomspace(1, most, 80).astype(int))
                missed = (found[order] > ks[:, None]).mean(1)
                left.loglog(ks, np.where(missed > 0, missed, np.nan), color=colour, label=order)
            left.set(title=f"{name} pairs", xlabel="flips", ylabel="share of pairs missed")
            ks = np.arange(1, 61)
            for colour, order in zip(COLOURS[1:], ("product of (4.5)", "product of (4.4)", "sum of W^2"), strict=False):
                more = ((found[order] > k).astype(float) - (least > k) for k in ks)
                share, error = np.array([share_error(x, groups) for x in more]).T * 100
                right.plot(ks, share, color=colour, label=order)
                right.fill_between(ks, share - 2 * error, share + 2 * error, color=colour, alpha=0.2, lw=0)
            right.axhline(0, color="black", label="sum of |W|")
            right.set(title=f"{name} pairs", xlabel="flips", ylabel="more missed, % of all pairs")
            name_lines(left)
            name_lines(right)

    section.figure(
        "t-orders",
        (len(sets), 2),
        draw,
        "Left: share of pairs missed by so many flips of 26 bits, by summed |W|, which the library uses and which has no "
        "parameter, by W^2, and at random. Right: how many more pairs other orders miss than summed |W|, in percent of all, "
        "with two standard errors: (4.5) as good as none; (4.4), of the modelled pairs, one more with 5 to 8 flips and 0.3 fewer with "
        "some 20; W^2 more.",
    )
    return section
