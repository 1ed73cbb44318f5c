"""What `teeth.py` reads: where the formulas are, which tests concern them, and which changes nobody can see."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = Path("src/lookalike")

ALL = ("*",)
# Files below the sources, by patterns, and the functions of them that are formulas: theory, stated errors, costs.
FORMULAS: dict[str, tuple[str, ...]] = {
    "theory/*.py": ALL,
    "sketches/packed.py": ("most_likely", "if_clear", "estimate", "_combined"),
    "sketches/permutation.py": ("estimate", "_of_filled"),
    "sketches/minhash.py": ("share_of_equal", "estimate"),
    "sketches/set_sketch.py": ("cardinality", "_joint", "estimated_*"),
    "sketches/weighted.py": ("estimate",),
    "values/packed.py": ("estimated_resemblance",),
    "values/fingerprints.py": ("distance", "estimated_cosine"),
    "index/kinds.py": ("chance", "least", "_match", "_enough", "recall_at*", "error_at*", "share_probed", "estimates"),
    "planner.py": ("recall_at*", "bytes_per_document", "false_candidates", "standard_error", "_cost", "_fitting"),
    "kernels/weak_bits.py": ("rank_bits", "likely_flips", "weak_prefixes"),
}
# Checks of arguments, and names for export.
LEFT_OUT = {"theory/_check.py", "theory/__init__.py"}

# What notices a change, as long as it takes to know which tests call what: kernels are run as plain Python.
SUITES: dict[str, tuple[list[str], dict[str, str]]] = {
    "formulas": (
        [
            *(
                str(path.relative_to(ROOT))
                for path in sorted((ROOT / "tests/theory").glob("test_*.py"))
                if path.stem != "test_ranges"
            ),
            "tests/statistics",
            "tests/kernels/test_packing.py",
            "tests/kernels/test_self_join.py",
            "tests/golden",
            "tests/index/test_kinds.py",
            "tests/index/test_codes.py",
            "tests/index/test_weak_bits.py",
        ],
        {},
    ),
    "kernels": (["tests/kernels/test_hamming.py"], {"NUMBA_DISABLE_JIT": "1", "LOOKALIKE_KERNELS": "python"}),
}

LONGER_SUM = "what the sum leaves out, or has more, is below rounding"
KEPT_OFF = "two matches and two mismatches more keep probabilities off 0 and 1"
CUTS = "wherever beyond its middle an interval is cut, the search ends at the peak"
# Why nobody can see a change: file, start of the change or, beginning with "in", its line, reason.
REASONS: dict[str, dict[str, str]] = {
    "theory/xor_bits.py": {
        "constant mean_squared_error: `40.0`": LONGER_SUM,
        "constant mean_squared_error: `0.5`": LONGER_SUM,
        "constant mean_squared_error: `1.0` to `1.1` in `reach": LONGER_SUM,
        "exponent mean_squared_error: `(n * t * (1.0 - t))": LONGER_SUM,
        "drop mean_squared_error: `n * t * (1.0 - t)`": LONGER_SUM,
        "drop mean_squared_error: `n * t` to `n`": LONGER_SUM,
        "drop mean_squared_error: `1.0 - t` to `1.0` in `reach": LONGER_SUM,
        "drop mean_squared_error: `n * t` to `t`": LONGER_SUM,
        "sign bias: `1.0 + rho ** m`": "t becomes 1 - t, and only t (1 - t) is used",
        "sign mean_squared_error: `1.0 - t` to `1.0 + t` in `reach": LONGER_SUM,
        "drop mean_squared_error: `40.0 * (n * t * (1.0 - t)) ** 0.5 + 40.0` to `40.0 *": LONGER_SUM,
        "drop mean_squared_error: `min(n, int(n * t + reach))` to `n`": LONGER_SUM,
        "drop mean_squared_error: `n * t - reach` to `-reach`": LONGER_SUM,
        "constant mean_squared_error: `1.0` to `1.1` in `if t": "the sum over matches that are certain is 0 too, with a warning",
        "constant best_combined: `4096`": "how many numbers are tried at most",
        "constant best_combined: `1` to `2` in `spread =": "twice the samples, for all numbers that are compared",
        "constant best_combined: `1e-12`": "a resemblance that is taken for 1",
        "drop best_combined: `1 - 1e-12`": "a resemblance of 1, at which no number is better than another",
        "sign best_combined: `1 - 1e-12`": "a resemblance of 1, at which no number is better than another",
        "constant least_resemblance: `0.5` to `0.55` in `return": "c2 is 1/2 at densities of 0 only, where both branches are 0",
    },
    "theory/shares.py": {
        "constant reach_probability: `1` to `2` in `needed =": "one number of matches more, which is never the first that suffices",
    },
    "theory/weak_bits.py": {
        "drop weak_bit_recall: `sums.shape[1] - prefix_bits`": "negative places count from the end",
    },
    "theory/simhash.py": {
        "constant within_radius: `1.0` to `1.1` in `return np.minimum": "cuts what rounding leaves above 1",
    },
    "theory/one_permutation.py": {
        "in `if universe is None and union_size > 50": "from which size on an empty bin is less likely than rounding",
        "constant variance: `1.0` to `1.1` in `return np.where": "sizes are whole: those above 1 are 2 or more",
        "constant copied_variance: `1.0` to `1.1` in `return np.where": "sizes are whole: those above 1 are 2 or more",
    },
    "theory/chance.py": {
        "constant : `0.03`": "where a series takes the place of a closed form: both hold there",
        "constant : `8` to `9` in `_TERMS": "one term more of a series, below rounding",
        "constant chance_match_slopes: `1.0` to `1.1` in `sparse, full": "at r = 1 what is computed has the same limits",
    },
    "theory/choose.py": {
        "exponent for_memory: `least ** 2`": "leaves out fewer of those that err more",
        "drop for_error: `spread / standard_error ** 2`": "where the search for the least number begins",
        "exponent for_error: `standard_error ** 2`": "where the search for the least number begins",
        "drop for_memory: `slots * m`": "only breaks ties of the error",
        "constant for_memory: `2` to `3` in `error, _, parts": "only breaks ties of error and permutations, of which there are none",
        "drop for_error: `slots * b` to `slots` in `if choices": "leaves out fewer of those that are not the smallest",
        "drop for_error: `slots * m` to `slots` in `choices": "of equally many bits, the order is the same",
        "constant _least_slots: `2` to `3` in `low, high": "how fast the search goes up before it goes back",
        "drop _least_slots: `first - 1`": "what lies below the first number is not tried",
        "sign _least_slots: `first - 1`": "what lies below the first number is not tried",
        "constant : `4` to `5` in `BITS": "which numbers of bits are offered is no formula",
        "constant for_error: `1e-09`": "what rounding may add to a whole number",
        "constant _pooled_error: `241`": "in how many steps a numerical integral is summed",
        "constant _pooled_error: `6.0`": "how far a numerical integral reaches: beyond is below its error",
        "sign _pooled_error: `sum((n * t for n, t in expected)) / total + steps": "the steps of the integral are symmetric",
    },
    "theory/bbit.py": {
        "constant constants: `0.5`": "densities are 0, and what the shares weigh is the same twice",
        "constant constants: `1.0` to `1.1` in `share": "stands for 0 where it would be divided by",
        "constant best_bits:": "which numbers of bits are compared unless they are given",
    },
    "theory/mixture.py": {
        "constant : `50` to `51` in `STEPS": "a bisection more, which is below rounding",
    },
    "theory/likelihood.py": {
        "constant _likelihood: `1e-300`": KEPT_OFF,
        "constant _likelihood: `1e-16`": KEPT_OFF,
        "constant _likelihood: `1.0` to `1.1` in `e =": KEPT_OFF,
        "drop _likelihood: `1.0 - 1e-16` to `1.0`": KEPT_OFF,
        "sign _likelihood: `1.0 - 1e-16`": KEPT_OFF,
        "constant _score: `1e-300`": "stands for 0 where it would be divided by",
    },
    "theory/banding.py": {
        "constant crowded_recall: `1.0` to `1.1` in `y = np.minimum": "what is cut at 1 is never above R but for rounding",
        "constant bands_for_recall: `1e-09`": "what rounding may add to a whole number",
        "constant mean_candidate_probability: `301`": "in how many steps a numerical integral is summed",
    },
    "theory/minhash.py": {
        "swap containment: `intersection": "the intersection is the same from either side",
    },
    "values/packed.py": {
        "constant estimated_resemblance: `1.0` to `1.1` in `highest": "without densities no estimate is above 1",
    },
    "values/fingerprints.py": {
        "swap distance: `a, b = pairs_of_rows": "a distance is the same from either side",
    },
    "index/kinds.py": {
        "constant least: `1` to `2` in `return": "at distance 0 the cosine is 1, which reaches any threshold",
        "constant recall_at_threshold: `0` to `1`": "at distance 0 the cosine is 1, which reaches any threshold",
        "constant least: `1e-12`": "what rounding may take from a cosine",
        "drop least: `self.threshold - 1e-12`": "what rounding may take from a cosine",
        "constant estimates: `1` to `2` in `estimated": "all slots are equal at 1, and fewer below",
        "constant recall_at_threshold: `1.0`": "as many slots as there are suffice at any threshold",
        "constant share_probed: `1` to `2` in `sizes": "a single size weighs alike whatever its weight",
    },
    "planner.py": {
        "constant _cost: `0.1`": "the least that a slot costs: no choice among so few slots hinges on it",
    },
    "theory/setsketch.py": {
        "drop most_likely_resemblance: `low + np.minimum": "zeros, for a shape that the search gives it anyway",
        "constant likelihood: `1e-300`": "stands for 0 of which a logarithm would be taken",
        "constant likelihood: `1.0` to `1.1` in `p_left": "a resemblance is never above 1 but for rounding",
        "constant most_likely_resemblance: `2.0`": CUTS,
        "constant most_likely_resemblance: `1.0` to `1.1` in `ratio": CUTS,
        "constant most_likely_resemblance: `5.0`": CUTS,
        "constant most_likely_resemblance: `0.5`": CUTS,
    },
    "sketches/set_sketch.py": {
        "constant _joint: `0.5`": "of an empty document, whose estimate is then replaced",
        "constant estimated_containment: `1.0` to `1.1` in `return": "what is cut at 1 is never above it but for rounding",
    },
    "theory/blocks.py": {
        "constant join_designs: `220`": "no number of combinations is 221",
        "constant : `255`": "words of weight 4 are even anyway",
        "constant : `85` to `86`": "the same Steiner system with two blocks exchanged",
    },
}


def suite_of(name: str) -> str:
    """Return the name of the suite that concerns a file."""
    return "kernels" if name.startswith("kernels/") else "formulas"


def reason(name: str, change: str) -> str:
    """Return why a change may live; empty if it may not."""
    for start, words in REASONS.get(name, {}).items():
        if change.startswith(start) or (start.startswith("in `") and start in change):
            return words
    return ""
