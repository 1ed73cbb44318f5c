"""Figures 6 and 7 of "b-Bit Minwise Hashing": Hamming distance from b bits and from sampled coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np
from estimates import Pair, estimated, estimates, pair_of, pooled_ratio, signatures_of, sparse_signatures_of
from figures import COLOURS, band, name_lines
from report import Section, mean_error, variance_error

import lookalike as la
from bbit import laws
from bbit.coordinates import INDEX_BYTES, CoordinateSample, prefix_distances
from bbit.word_sets import SAID, word_pairs
from lookalike.theory import bbit, set_distance

SAMPLES = np.array([20, 50, 100, 200, 500, 1000])
BITS = (1, 2)


def _distances(found: np.ndarray, pair: Pair) -> np.ndarray:
    """Distances by equation 18 from estimates, negative ones raised to 0 (the library refuses them: the pole is at -1)."""
    return set_distance.distance(np.clip(found, 0.0, 1.0), len(pair.left), len(pair.right))


def figure_6(quick: bool) -> Section:
    """Hamming distance of four pairs of sets: b bits against sampled coordinates."""
    repetitions = 4000 if quick else 12_000
    section = Section(
        "a-hamming",
        f"Figure 6: Hamming distance from b bits and from sampled coordinates, {repetitions:,} repetitions",
        "The variance of either estimate differs by more than the limit of standard errors from (17) or (19), at any "
        "sample size at "
        "which the paper calls them accurate; the bias that the paper only mentions differs from its second-order value; "
        "or, on "
        "OF-AND, b bits win at equal numbers of bits, or coordinates win nowhere at equal numbers of samples.",
    )
    section.say(SAID + " Coordinates are sampled by the baseline of section 4, drawn anew each time.")
    rng = np.random.default_rng(60)
    pairs = word_pairs(rng)
    found: dict[str, dict[Any, np.ndarray]] = {}
    bit_estimates = {}
    for name, pair in pairs.items():
        bit_estimates[name] = estimates(rng, pair, repetitions, SAMPLES, {b: la.sketches.BBit(bits=b) for b in BITS})
        found[name] = {b: _distances(values, pair) for b, values in bit_estimates[name].items()}
        found[name]["H"] = prefix_distances(rng, pair.universe, pair.left, pair.right, SAMPLES, repetitions)
    _check_sampling(section, rng, pairs, found, repetitions)
    _check_bits(section, pairs, found, bit_estimates)
    _who_wins(section, pairs, found)

    def errors(axes: Any) -> None:
        for axis, (name, pair) in zip(axes, pairs.items(), strict=True):
            for colour, key in zip(COLOURS, ("H", 1, 2), strict=False):
                label = "H" if key == "H" else f"b = {key}"
                axis.loglog(SAMPLES, _theory(pair, key, SAMPLES) / pair.distance**2, color=colour, label=label)
                mse, error = mean_error((found[name][key] / pair.distance - 1.0) ** 2)
                band(axis, SAMPLES, mse, error, color=colour)
            axis.set(xlabel="samples k", ylabel="MSE / H²", title=f"{name}, R = {pair.resemblance:.3f}")
            name_lines(axis)

    section.figure(
        "a-hamming-errors", (2, 2), errors,
        "Mean square errors on sets (points, ±2 standard errors) and the variances (17) and (19) (lines), at equal numbers of "
        "samples. b bits have the lower error, except on the dense OF-AND, where coordinates (H) are between 1 and 2 bits. "
        "At few samples LOW-PAY is off its lines: (18) is not linear, and estimates below 0 count as 0.",
    )  # fmt: skip

    def ratios(axes: Any) -> None:
        for axis, name in zip(axes, ("OF-AND", "UNITED-STATES"), strict=True):
            for shift, colour, key in zip((0.94, 1.0, 1.06), COLOURS, ("H", 1, 2), strict=False):
                variance, error = variance_error(found[name][key])
                theory = _theory(pairs[name], key, SAMPLES)
                band(axis, SAMPLES * shift, variance / theory, error / theory, color=colour)
                axis.plot(SAMPLES * shift, variance / theory, color=colour, lw=0.6, label="H" if key == "H" else f"b = {key}")
            axis.axhline(1.0, color="black", lw=0.8)
            axis.set(xscale="log", xlabel="samples k", ylabel="measured variance / theory", title=name)
            name_lines(axis)

    section.figure(
        "a-hamming-ratios-to-theory", (1, 2), ratios,
        "Measured variance over (17) for coordinates (H) and over (19) for b bits, ±2 standard errors. (19) is the first "
        "order in 1/k: too low at few samples, right at many.",
    )  # fmt: skip
    return section


def _theory(pair: Pair, key: Any, samples: Any) -> np.ndarray:
    """(17), without replacement, for "H"; (19) for a number of bits."""
    if key == "H":
        return set_distance.sampling_variance(pair.distance, pair.universe, samples, replacement=False)
    r = pair.resemblance
    return set_distance.variance(r, bbit.variance(r, key, samples, *pair.densities), pair.total)


def _check_sampling(section: Section, rng: Any, pairs: dict[str, Pair], found: Any, repetitions: int) -> None:
    """(16) is unbiased; (17) with its finite factor, with replacement and without."""
    for name, pair in pairs.items():
        mean, error = mean_error(found[name]["H"])
        section.agrees(
            f"{name}: the coordinate estimate (16) is unbiased at each k", mean, pair.distance, error, name="unbiased"
        )
    ratio, error = pooled_ratio(
        np.stack([found[name]["H"][3:] for name in pairs]), np.stack([_theory(p, "H", SAMPLES[3:]) for p in pairs.values()])
    )
    section.agrees(
        "(17) with the factor (D - k) / (D - 1), all pairs, k = 200 to 1,000: variance over theory",
        ratio, 1.0, error, name="variance-17",
    )  # fmt: skip
    small = pair_of(rng, 2000, 0.570, 0.554, 0.771)
    for replacement in (True, False):
        measured = prefix_distances(
            rng, small.universe, small.left, small.right, np.array([1000]), repetitions, replacement=replacement
        )
        variance, error = variance_error(measured[0])
        plain, corrected = (
            set_distance.sampling_variance(small.distance, small.universe, 1000, replacement=kind) for kind in (True, False)
        )
        if replacement:
            section.agrees("D = 2,000, k = 1,000 with replacement: (17) as it is", variance, plain, error, name="replacement")
        else:
            section.agrees(
                "D = 2,000, k = 1,000 without replacement: (17) times 0.5003", variance, corrected, error, name="finite"
            )
            section.refutes(
                "D = 2,000, k = 1,000 without replacement: not (17) without the factor", variance, plain, error, name="finite"
            )
    sample = CoordinateSample.draw(rng, small.universe, 1000)
    dense, sparse = ([sketch(small.left), sketch(small.right)] for sketch in (sample.dense, sample.sparse))
    section.holds(
        "stored as bits and as the set coordinates only, a sample gives the same estimate",
        sample.distance_dense(*dense) == sample.distance_sparse(*sparse) > 0,
        name="storage",
    )


def _check_bits(section: Section, pairs: dict[str, Pair], found: Any, bit_estimates: Any) -> None:
    """(19), and the bias that the paper leaves out."""
    cells = [(name, b) for name in pairs for b in BITS]
    ratio, error = pooled_ratio(
        np.stack([found[name][b][-1] for name, b in cells]),
        np.stack([_theory(pairs[name], b, SAMPLES[-1]) for name, b in cells]),
    )
    section.agrees("(19), all pairs, b = 1 and 2, k = 1,000: variance over theory", ratio, 1.0, error, name="variance-19")
    shares = []
    for name, b in [(name, b) for name, b in cells if pairs[name].resemblance > 0.5]:
        pair, r, k = pairs[name], pairs[name].resemblance, 500
        at = int(np.flatnonzero(k == SAMPLES)[0])
        slope = -2.0 * pair.total / (1.0 + r) ** 2
        # The estimate of R is unbiased: taking slope (R' - R) away leaves the mean as it is, and most of the noise is gone.
        rest = found[name][b][at] - pair.distance - slope * (bit_estimates[name][b][at] - r)
        shares.append(rest / set_distance.bias(r, bbit.variance(r, b, k, *pair.densities), pair.total))
    ratio, error = (float(v) for v in mean_error(np.mean(shares, 0)))
    section.agrees(
        "bias of the distance at k = 500, three pairs with R > 0.5, b = 1 and 2, over 2 (f1 + f2) Var / (1 + R)³",
        ratio, 1.0, error, name="bias", sense="limits",
    )  # fmt: skip


def _who_wins(section: Section, pairs: dict[str, Pair], found: Any) -> None:
    """At equal samples and at equal bits, at k = 1,000."""
    rows, measured = [], {}
    for name, pair in pairs.items():
        own, own_error = (float(v) for v in variance_error(found[name]["H"][-1]))
        for b in BITS:
            variance, error = (float(v) for v in variance_error(found[name][b][-1]))
            ratio = own / variance
            measured[name, b] = ratio, ratio * ((own_error / own) ** 2 + (error / variance) ** 2) ** 0.5
            theory = float(set_distance.sampling_ratio(pair.resemblance, b, *pair.densities))
            rows.append([
                name, b, f"{ratio:.2f} ± {2 * measured[name, b][1]:.2f}",
                f"{ratio / b:.2f} ± {2 * measured[name, b][1] / b:.2f}",
                f"{theory:.2f}",
            ])  # fmt: skip
    section.say(
        "Variance of sampled coordinates over variance of b bits, k = 1,000 (± 2 standard errors); above 1, b bits win:"
    )
    section.table(["pair", "b", "at equal samples", "at equal bits", "W_b of (20)"], rows)
    for b in BITS:
        ratio, error = measured["OF-AND", b]
        section.below(
            f"OF-AND, equal numbers of bits: coordinates win against b = {b}", ratio / b, 1.0, error / b, name="of-and"
        )
    section.below(
        "OF-AND, equal numbers of samples: coordinates win against b = 1",
        measured["OF-AND", 1][0], 1.0, measured["OF-AND", 1][1], name="of-and-samples",
    )  # fmt: skip
    claim = "OF-AND, equal numbers of samples: b = 2 wins against coordinates"
    section.below(claim, 1.0, *measured["OF-AND", 2], name="of-and-samples")
    for name in pairs:
        if name != "OF-AND":
            section.below(
                f"{name}: b = 1 and b = 2 win at equal numbers of bits",
                1.0, *np.transpose([(m / b, e / b) for b in BITS for m, e in [measured[name, b]]]), name="bits-win",
            )  # fmt: skip
    section.say(
        "The paper says that on dense data such as OF-AND the baseline could still win. It does, but not against every b: at "
        "equal numbers of samples, which Figure 6 draws, sampled coordinates err less than 1 bit and more than 2 bits; at "
        "equal numbers of bits they err less than both."
    )


POINTS = {0.001: (0.1, 0.5, 0.8, 0.95), 0.01: (0.1, 0.5, 0.8, 0.95), 0.1: (0.2, 0.5, 0.8, 0.95), 0.9: (0.83, 0.88, 0.95)}
DENSITIES = (1e-6, 1e-4, 0.001, 0.01, 0.1, 0.9)
UNIVERSES = {0.001: 1 << 18, 0.01: 1 << 16, 0.1: 1 << 14, 0.9: 1 << 14}
SPARSE = 0.001  # Below this density, a shuffle takes a thousand steps and more until the minima are known.


def _measured_ratios(
    rng: Any, pair: Pair, repetitions: int, bits: tuple[int, ...]
) -> dict[str, dict[int, tuple[float, float]]]:
    """W_b and G_b, each with its standard error, from estimates and from bytes of the sketches that gave them."""
    sparse = pair.densities[0] < 1.5 * SPARSE
    slots, samples = 256, 1 << 15 if sparse else 1 << 12
    variance, error = (float(v) for v in variance_error(_sampled(rng, pair, samples, repetitions)[0]))
    dense_bytes = len(CoordinateSample.draw(rng, pair.universe, samples).dense(pair.left))
    draws = [CoordinateSample.draw(rng, pair.universe, samples, replacement=True) for _ in range(200)]
    stored = [np.mean([len(draw.sparse(members)) for members in (pair.left, pair.right)]) for draw in draws]
    sparse_bytes, sparse_error = (INDEX_BYTES * float(v) for v in mean_error(np.array(stored)))
    out: dict[str, dict[int, tuple[float, float]]] = {"W": {}, "G": {}}
    signatures = (sparse_signatures_of if sparse else signatures_of)(rng, pair, repetitions, slots)
    for b in bits:
        packed = la.sketches.BBit(bits=b).pack(signatures)
        # (20) takes the variance of the distance to first order, which that of the resemblance gives without its bias.
        own, own_error = (float(v) for v in variance_error(estimated(packed)))
        own, own_error = (float(set_distance.variance(pair.resemblance, v, pair.total)) for v in (own, own_error))
        own_bytes = packed.n_bytes / len(packed)
        for which, size, relative in (("W", dense_bytes, 0.0), ("G", sparse_bytes, sparse_error / sparse_bytes)):
            ratio = variance * size / (own * own_bytes)
            spread = ratio * ((error / variance) ** 2 + (own_error / own) ** 2 + relative**2) ** 0.5
            out[which][b] = ratio, spread
    return out


def _sampled(rng: Any, pair: Pair, samples: int, repetitions: int) -> np.ndarray:
    """Distances from sampled coordinates, with replacement: (17) without the finite factor, as (20) has it."""
    return prefix_distances(rng, pair.universe, pair.left, pair.right, np.array([samples]), repetitions, replacement=True)


def figure_7(quick: bool) -> Section:
    """W_b and G_b in bytes of real sketches."""
    repetitions, bits = (1200 if quick else 6000), (1, 2, 4)
    section = Section(
        "a-hamming-ratios",
        f"Figure 7, Theorem 3: storage of sampled coordinates over that of b bits, {repetitions:,} repetitions",
        "Variance times bytes of coordinate sketches over variance times bytes of packed signatures of the same sets "
        "differs by more than the limit of standard errors from W_b or G_b of (20); or G_1 is outside 10 to 30 at R = 0.5 for "
        "densities up to 0.1; or W_1 is not below 1 for sets of density 0.9.",
    )
    section.say(
        "Measured on random sets, with true random permutations (at density 0.001, minima drawn by their law in a large "
        "universe) and with coordinates drawn at random: bytes are those of the packed signatures, of the sampled bits, and of "
        "64-bit numbers of the set coordinates only; the variance of the resemblance becomes that of the distance by (19), "
        "which the section above measures. Densities 10⁻⁶ and 10⁻⁴ are drawn as curves only."
    )
    rng = np.random.default_rng(70)
    found, exact = {}, {}
    for density, resemblances in POINTS.items():
        for r in resemblances:
            pair = pair_of(rng, UNIVERSES[density], density, density, r)
            exact[density, r] = pair
            found[density, r] = _measured_ratios(rng, pair, repetitions * (4 if density == 0.9 else 1), bits)
    functions = {"W": set_distance.sampling_ratio, "G": set_distance.sparse_sampling_ratio}
    for which, function in functions.items():
        for b in bits:
            measured = np.array([found[at][which][b] for at in found])
            theory = np.array([function(pair.resemblance, b, *pair.densities) for pair in exact.values()])
            section.agrees(
                f"{which}_{b} in bytes, {len(found)} pairs of sets", measured[:, 0], theory, measured[:, 1], name="bytes"
            )
        ratios = np.array(
            [found[at][which][b][0] / function(exact[at].resemblance, b, *exact[at].densities) for at in found for b in bits]
        )
        errors = np.array([found[at][which][b][1] / found[at][which][b][0] for at in found for b in bits])
        mean = ratios.reshape(-1, len(bits)).mean(1)  # the three packings share their permutations and samples
        spread = errors.reshape(-1, len(bits)).max(1)
        section.agrees(
            f"{which}_b: mean over all pairs and b of measured over theory",
            mean.mean(), 1.0, (spread**2).sum() ** 0.5 / len(mean), name="ratio",
        )  # fmt: skip
    _limits(section, found, exact, bits)

    def draw(axes: Any) -> None:
        for axis, (which, b) in zip(axes, (("W", 1), ("G", 1), ("G", 2), ("G", 4)), strict=True):
            for colour, density in zip(COLOURS, DENSITIES, strict=False):
                r = np.linspace(max(0.005, 2 * density - 1 + 1e-6), 0.995, 200)
                label = f"{density:g}" if which == "W" or density > 0.001 else "≤ 0.001" if density == 0.001 else "_"
                axis.plot(r, functions[which](r, b, density, density), color=colour, label=label)
                if at := [place for place in found if place[0] == density]:
                    values = np.array([found[place][which][b] for place in at])
                    band(axis, [exact[place].resemblance for place in at], values[:, 0], values[:, 1], color=colour)
            axis.axhline(1.0, color="black", lw=0.8)
            axis.set(xlabel="R", ylabel=f"{which}_{b}", xlim=(0, 1), yscale="log" if which == "W" else "linear")
            name_lines(axis)

    section.figure(
        "a-hamming-ratios", (2, 2), draw,
        "W_1 (coordinates stored as bits) and G_b (only set coordinates stored, 64 bits each): curves of (20) for six "
        "densities, and points measured in bytes on sets, ±2 standard errors. Above the black line b bits need less storage.",
    )  # fmt: skip
    return section


def _limits(section: Section, found: Any, exact: Any, bits: tuple[int, ...]) -> None:
    """Theorem 3, "10 to 30 times", and dense sets."""
    for b in bits:
        at = [place for place in found if place[0] == 0.001]
        measured = np.array([found[place]["G"][b] for place in at])
        closed = set_distance.sparse_sampling_ratio_limit(np.array([exact[place].resemblance for place in at]), b)
        section.agrees(
            f"G_{b} at density 0.001: the closed form for vanishing densities",
            measured[:, 0], closed, measured[:, 1], name="vanishing",
        )  # fmt: skip
    r, total = np.array([[1e-6], [0.3], [0.7], [1 - 1e-6]]), 2e-4  # total: f1 + f2 over D
    apart = total * (1 - r) / (1 + r)
    own = np.array([[laws.variance(b, float(x), total / 2, total / 2) for b in bits] for x in r[:, 0]])
    # (20): variance (17) of a coordinate times its bits, 64 for each that is set, over variance (19) of a sample times its b bits.
    ratios = apart * (1 - apart) * 64 * total / 2 / (own * 4 * total**2 / (1 + r) ** 4 * np.array(bits))
    printed = np.array([[8 / b * (2**b - 1) for b in bits], [64 / b * (2**b - 1) / 2**b for b in bits]])
    section.equals(
        "(21) and (22): G_b by (17), (19) and sums over the appendix's law, at density 0.0001 and R = 1e-6 and 1 - 1e-6, over the "
        "limits of Theorem 3, b = 1, 2, 4",
        ratios[[0, -1]] / printed, 1.0, 2e-3, name="limits",
    )  # fmt: skip
    library = set_distance.sparse_sampling_ratio(r, bits, total / 2, total / 2)
    closed = set_distance.sparse_sampling_ratio_limit(r, bits)
    section.equals(
        "the library's G_b, and its closed form for vanishing densities, are the same at R = 1e-6, 0.3, 0.7 and 1 - 1e-6 (ratios)",
        [library / ratios, closed / ratios], 1.0, 2e-3, name="limits",
    )  # fmt: skip
    for name, r in (("g-low", 0.1), ("g-high", 0.95)):
        value, error = found[0.001, r]["G"][1]
        section.observe(f"G_1 at density 0.001 and R = {r}: {value:.1f}", name=name, found=value, error=error)
        section.agrees(
            f"the paper's factor of 10 for small R, 30 for large: 8 (1 + R)² at R = {r}",
            value, 8 * (1 + exact[0.001, r].resemblance) ** 2, error, name="ends",
        )  # fmt: skip
    for density in (0.001, 0.01, 0.1):
        ratio, error = found[density, 0.5]["G"][1]
        section.below(f"density {density}, R = 0.5: G_1 = {ratio:.1f} is more than 10", 10.0, ratio, error, name="from-10")
        section.below(f"density {density}, R = 0.5: G_1 = {ratio:.1f} is less than 30", ratio, 30.0, error, name="to-30")
    for r in POINTS[0.9][:2]:
        ratio, error = found[0.9, r]["W"][1]
        section.below(
            f"density 0.9, R = {r:g}: W_1 = {ratio:.3f} is below 1, so coordinates win", ratio, 1.0, error, name="dense"
        )
    ratio, error = found[0.001, 0.5]["W"][1]
    section.below(
        f"density 0.001, R = 0.5: W_1 = {ratio:.0f}, more than two orders of magnitude", 100.0, ratio, error, name="sparse"
    )
