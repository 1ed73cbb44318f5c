"""Sets in place of the words of "b-Bit Minwise Hashing", experiment 1, whose web crawl is not public."""

from __future__ import annotations

import numpy as np
from estimates import Pair, pair_of

UNIVERSE = 1 << 16
WORDS = {
    "KONG-HONG": (0.0145, 0.0143, 0.925),
    "OF-AND": (0.570, 0.554, 0.771),
    "UNITED-STATES": (0.062, 0.061, 0.591),
    "LOW-PAY": (0.045, 0.043, 0.112),
}
SAID = (
    "The paper's sets of word occurrences come from a Microsoft web crawl that is not public. Stand-ins are random subsets of "
    "[0, D), D = 65,536, with the sizes and resemblances that its Table 1 prints; each repetition draws new uniformly random "
    "permutations of [0, D) by Fisher-Yates shuffles."
)


def word_pairs(rng: np.random.Generator) -> dict[str, Pair]:
    """Draw the four pairs of Figures 6 and 9."""
    return {name: pair_of(rng, UNIVERSE, *densities) for name, densities in WORDS.items()}
