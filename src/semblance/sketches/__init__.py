"""Sketch schemes: frozen parameter objects that turn shingles into signatures."""

from .fast_similarity import FastSimilarity
from .minhash import MinHash
from .one_permutation import OnePermutation
from .packed import BBit, Fractional, XorBits
from .permutation import PermutationMinHash
from .set_sketch import SetSketch
from .simhash import SimHash
from .weighted import ICWS, ProbMinHash

__all__ = [
    "ICWS", "BBit", "FastSimilarity", "Fractional", "MinHash", "OnePermutation", "PermutationMinHash", "ProbMinHash",
    "SetSketch", "SimHash", "XorBits",
]  # fmt: skip
