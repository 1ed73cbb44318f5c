"""The figures of "f-fractional bit minwise hashing", with the corrected variance, and one permutation hashing."""

from __future__ import annotations

import numpy as np
from report import Section, variance_agrees

import semblance as sb
from semblance.theory import bbit, fractional, one_permutation, xor_bits


def figures_1_and_2(quick: bool) -> Section:
    """Variance and storage factor of fractional bits."""
    section = Section("Fractional Figures 1 and 2: variance and storage factor of f bits")
    r = np.linspace(0.01, 0.99, 99)
    mixes = {
        1.0: [(1, 1.0)],
        1.25: [(1, 0.75), (2, 0.25)],
        1.5: [(1, 0.5), (2, 0.5)],
        1.75: [(1, 0.25), (2, 0.75)],
        2.0: [(2, 1.0)],
    }

    def draw(axes):
        for f, parts in mixes.items():
            axes[0].plot(r, fractional.variance(r, parts, 1), label=f"f = {f:g}")
            axes[1].plot(r, fractional.storage_factor(r, parts), label=f"f = {f:g}")
        printed = [0.25 * sum(e * (1 - e) for e in (float(bbit.match_probability(x, b)) for b in (1, 2))) / 0.625**2 for x in r]
        axes[0].plot(r, printed, "k:", label="f = 1.5, as printed")
        axes[0].set(xlabel="R", ylabel="k · variance")
        axes[1].set(xlabel="R", ylabel="f · k · variance")
        axes[0].legend(fontsize=7)

    section.figure(
        "fractional", 2, 1, draw, "f bits lie between the whole numbers around them; the printed variance lies below both"
    )
    n, k, rng, rows = (4000 if quick else 20_000), 256, np.random.default_rng(1), []
    for x in (0.3, 0.5, 0.8):
        parts = mixes[1.5]
        share = sum(w * rng.binomial(k // 2, float(bbit.match_probability(x, b)), n) / (k // 2) for b, w in parts)
        found = fractional.resemblance(share, parts).var() * k
        right = float(fractional.variance(x, parts, 1))
        rows.append(
            [x, f"{found:.4f}", f"{right:.4f}", f"{right / 2:.4f}", f"{float(fractional.best_variance(x, parts, 1)):.4f}"]
        )
        section.check(variance_agrees(found, right, n), f"R = {x}: k · variance {found:.4f}, corrected formula {right:.4f}")
        section.check(not variance_agrees(found, right / 2, n), f"R = {x}: the printed formula ({right / 2:.4f}) is refuted")
    section.lines.append("")
    section.table(["R", "simulated", "corrected", "printed", "inverse-variance weights"], rows)
    return section


def figures_3_and_4() -> Section:
    """Variances of 1/2^n bits."""
    section = Section("Fractional Figures 3 and 4: 1/2, 1/4, 1/8 bit")
    r = np.linspace(0.3, 0.999, 300)

    def draw(axes):
        for m in (1, 2, 4, 8):
            spread = xor_bits.variance(r, m, 1)
            axes[0].semilogy(r, spread, label=f"1/{m} bit" if m > 1 else "1 bit")
            axes[1].plot(r, bbit.variance(r, 1, 1) / spread)
        axes[0].semilogy(r, xor_bits.three_quarter_variance(r, 1), "k:", label="3/4 bit")
        axes[0].set(xlabel="R", ylabel="variance a stored bit")
        axes[1].set(xlabel="R", ylabel="Var(1) / Var(1/m)", ylim=(0, 8.5))
        axes[0].legend()

    section.figure("less_than_a_bit", 2, 1, draw, "The gain of combining m permutations tends to m as R tends to 1")
    for m in (2, 4, 8):
        limit = float(bbit.variance(0.9999, 1, 1) / xor_bits.variance(0.9999, m, 1))
        section.check(abs(limit / m - 1) < 0.01, f"1/{m} bit: ratio {limit:.3f} at R = .9999, limit {m}")
    return section


def one_permutation_hashing(quick: bool) -> Section:
    """One permutation against k permutations and b bits, at equal storage."""
    section = Section("One permutation hashing beside k permutations and b bits")
    n, k, rows = (1500 if quick else 6000), 64, []
    rng = np.random.default_rng(4)
    schemes = {
        "k permutations": sb.MinHash(permutations=k), "one permutation, raw": sb.OnePermutation(permutations=k),
        "rotation": sb.OnePermutation(permutations=k, densify="rotation"),
        "optimal": sb.OnePermutation(permutations=k, densify="optimal"),
        "reverse": sb.OnePermutation(permutations=k, densify="reverse"), "fast similarity": sb.FastSimilarity(permutations=k),
    }  # fmt: skip
    unions = (16, 32, 64, 128, 256, 1024)
    found: dict[str, list[float]] = {name: [] for name in schemes}
    for union in unions:
        pool = rng.integers(0, 1 << 63, (n, union), dtype=np.uint64)
        common, quarter = union // 2, union // 4
        sets = np.concatenate([pool[:, : common + quarter], pool[:, :common], pool[:, common + quarter :]], 1)
        offsets = np.cumsum([0, *[common + quarter] * (2 * n)])
        shingles = sb.Shingles.from_arrays(sets.ravel(), offsets)
        for name, scheme in schemes.items():
            estimate = scheme.sign(shingles).estimated_resemblance(np.arange(0, 2 * n, 2), np.arange(1, 2 * n, 2))
            found[name].append(float(estimate.var() * k / 0.25))
        theory = {"one permutation, raw": one_permutation.variance, "rotation": one_permutation.rotation_variance,
                  "optimal": one_permutation.optimal_variance}  # fmt: skip
        for name, formula in theory.items():
            expected = float(formula(0.5, union, k)) * k / 0.25
            section.check(
                variance_agrees(found[name][-1], expected, n),
                f"f = {union}, {name}: {found[name][-1]:.3f}, theory {expected:.3f}",
            )
    section.lines.append("")
    rows = [[name, *(f"{v:.2f}" for v in values)] for name, values in found.items()]
    section.say("Variance over R (1 - R) / k at R = .5, k = 64, by the size f of the union:")
    section.table(["scheme", *(f"f = {u}" for u in unions)], rows)
    section.say(
        "Raw bins err least of all kinds of one permutation hashing, at one hash a shingle; filled kinds are for look-ups. Fast "
        "similarity sketching has both: no empty slots, and the error of the raw bins. At equal storage a b-bit signature of any "
        "of them holds 32 / b times as many slots: B(32)/B(1) = 10.7 at R = .5."
    )
    return section


def run(quick: bool) -> list[Section]:
    """Run all."""
    return [figures_1_and_2(quick), figures_3_and_4(), one_permutation_hashing(quick)]
