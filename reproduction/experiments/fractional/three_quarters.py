"""3/4 bit of "f-Fractional bit minwise hashing" ((35) to (38)), and other mixtures below one bit."""

from __future__ import annotations

from typing import Any

import numpy as np
from estimates import batches, equal_sets, estimated, pair_of, signatures_of
from figures import COLOURS, band, name_lines
from report import Section, mean_error, variance_error

import lookalike as la
from fractional.forms import three_quarter_match_probability, three_quarter_resemblance, three_quarter_variance
from lookalike.theory import bbit, mixture, xor_bits

SLOTS = 768  # of which 256 make as many single bits, and 512 make 256 XORs of two
STORED = 512
THREE_QUARTERS = la.sketches.Fractional(shares=[(1, 1 / 3), (0.5, 2 / 3)])
MIXED = la.sketches.Fractional(shares=[(1, 1 / 4), (0.5, 1 / 4), (0.25, 1 / 2)])
POINTS = (0.4, 0.6, 0.8, 0.9, 0.97)


def _sketches(rng: np.random.Generator, resemblance: float, pairs: int) -> Any:
    """Signatures in batches, of hashed sets or, for a pair of dense sets, of true permutations: (signatures, R, densities)."""
    dense = pair_of(rng, 1 << 14, 0.6, 0.5, resemblance) if resemblance == DENSE else None
    for begin, end in batches(pairs, 4 * SLOTS):
        if dense is None:
            shingles, exact = equal_sets(rng, end - begin, 100, resemblance)
            yield la.sketches.MinHash(permutations=SLOTS, seed=34).sign(shingles), exact, (0.0, 0.0)
        else:
            yield signatures_of(rng, dense, end - begin, SLOTS), dense.resemblance, dense.densities


DENSE = 0.75


def three_quarters(quick: bool) -> Section:
    """3/4 bit as the paper has it, the variance it leaves out, and a mixture of 1, 1/2 and 1/4 bit."""
    pairs = 2500 if quick else 8000
    section = Section(
        "c-three-quarters",
        f"3/4 bit, (35) to (38), and mixtures of 1, 1/2 and 1/4 bit, {pairs:,} pairs of sets",
        "The share of matching slots differs from (36) by more than the limit of standard errors; the library's estimate "
        "from it is not "
        "that of (38); its variance differs from the formula that the paper leaves out; or the most likely resemblance "
        "does not "
        "reach the bound of the best weights.",
    )
    section.say(
        f"`Fractional` packs {SLOTS:,} slots of a signature into {STORED:,} bits: half of them single bits, half XORs of "
        "two, so a stored "
        "sample takes 3/4 bit as the paper counts. Sets of random keys, and one pair of dense sets (densities 0.6 and 0.5, R = "
        f"{DENSE}) under true permutations."
    )
    rng = np.random.default_rng(35)
    rows: dict[str, list[tuple[float, ...]]] = {"pooled": [], "likely": [], "mixed": []}
    shares, exact_root = [], True
    theory: dict[str, list[float]] = {name: [] for name in rows}
    points = []
    for r in (*POINTS, DENSE):
        found: dict[str, list[np.ndarray]] = {name: [] for name in (*rows, "share")}
        exact, densities = r, (0.0, 0.0)
        for signatures, same, sides in _sketches(rng, r, pairs):
            exact, densities = same, sides
            packed, mixed = THREE_QUARTERS.pack(signatures), MIXED.pack(signatures)
            left = np.arange(0, len(packed), 2)
            share = packed.matches(left, left + 1).sum(1) / STORED
            pooled = estimated(packed)
            known = ~np.isnan(pooled)
            plain = three_quarter_resemblance(share, *densities)
            exact_root &= bool(np.allclose(pooled[known], plain[known], atol=1e-9))
            for name, values in (
                ("share", share),
                ("pooled", plain),
                ("likely", estimated(packed, most_likely=True)),
                ("mixed", estimated(mixed)),
            ):
                found[name].append(values)
        joined = {name: np.concatenate(each) for name, each in found.items()}
        points.append(exact)
        shares.append(
            (
                *(float(v) for v in mean_error(joined["share"])),
                float(three_quarter_match_probability(exact, *densities)),
            )
        )
        for name, each in rows.items():
            each.append(tuple(float(v) for v in variance_error(joined[name])))
        theory["pooled"].append(float(three_quarter_variance(exact, STORED, *densities)))
        theory["likely"].append(float(mixture.least_variance(exact, THREE_QUARTERS.parts(SLOTS), *densities)))
        theory["mixed"].append(float(mixture.variance(exact, MIXED.parts(SLOTS), *densities)))
    section.holds(f"a sketch takes {STORED // 8} bytes per set", packed.n_bytes == len(packed) * STORED // 8, name="bytes")
    mean, error, expected = np.array(shares).T
    section.agrees("(36): the share of matches, six pairs of sets", mean, expected, error, name="matches")
    section.holds("(38): the library's pooled estimates are those of the paper's root", exact_root, name="root")
    names = {
        "pooled": "(38): variance of 3/4 bit, which the paper leaves out",
        "likely": "most likely resemblance: the bound of the best weights",
        "mixed": "1, 1/2 and 1/4 bit in one sketch: variance of the pooled estimate",
    }
    for name, each in rows.items():
        variance, spread = np.array(each).T
        # The delta method needs a root that is nearly linear: not at R = 0.4, where few more of the XORs match than by chance.
        use = slice(1, None) if name == "mixed" else slice(None)
        right = np.array(theory[name])
        section.agrees(
            f"{names[name]}, {len(right[use])} pairs of sets", variance[use], right[use], spread[use], name="variance"
        )
        ratio, apart = (variance / right)[use], (spread / right)[use]
        section.agrees(
            f"{names[name]}: measured over theory, mean", ratio.mean(), 1.0, (apart**2).sum() ** 0.5 / len(ratio), name="ratio"
        )
    _bias(section, rng, pairs * 8)

    def draw(axes: Any) -> None:
        curve = np.linspace(0.35, 0.99, 150)
        base = bbit.variance(curve, 1, 1)
        lines = {
            "1 bit": base, "1/2 bit": xor_bits.variance(curve, 2, 1), "3/4 bit (38)": three_quarter_variance(curve, 1),
            "3/4 bit, best": mixture.least_variance(curve, THREE_QUARTERS.parts(SLOTS)) * STORED,
        }  # fmt: skip
        for colour, (name, line) in zip(COLOURS, lines.items(), strict=False):
            axes[0].plot(curve, np.asarray(line) / base, color=colour, label=name)
        at = np.array(points[:-1])
        for colour, name, shift in ((COLOURS[2], "pooled", -0.003), (COLOURS[3], "likely", 0.003)):
            variance, spread = np.array(rows[name][:-1]).T * STORED / bbit.variance(at, 1, 1)
            band(axes[0], at + shift, variance, spread, color=colour)
        axes[0].set(xlabel="R", ylabel="variance over that of 1 bit", ylim=(0.4, 2.1))
        name_lines(axes[0])

    section.figure(
        "c-three-quarters", (1, 1), draw,
        "Variance of 1/2 and 3/4 bit over that of as many stored single bits: theory (lines), and sets (points, ±2 standard "
        "errors, side by side) for both ways of reading 3/4 bit. The best weights gain 5% at R = 0.35, 1% at 0.5, and less above.",
    )  # fmt: skip
    return section


def _bias(section: Section, rng: np.random.Generator, pairs: int) -> None:
    """The heading calls (38) unbiased."""
    slots = 48
    shingles, exact = equal_sets(rng, pairs, 40, 0.6)
    packed = THREE_QUARTERS.pack(la.sketches.MinHash(permutations=slots, seed=36).sign(shingles))
    left = np.arange(0, len(packed), 2)
    share = packed.matches(left, left + 1).sum(1) / (2 * slots // 3)
    mean, error = (float(v) for v in mean_error(three_quarter_resemblance(share) - exact))
    section.refutes(
        f"32 stored bits, R = {exact:.2f}: (38) is not unbiased, as the heading says; its bias is {mean:+.4f}",
        mean,
        0.0,
        error,
        name="biased",
        sense="excludes",
    )
