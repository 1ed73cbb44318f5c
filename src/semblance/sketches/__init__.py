"""Sketch schemes: frozen parameter objects that turn shingles into signatures."""

from .fast_similarity import FastSimilarity
from .minhash import MinHash

__all__ = ["FastSimilarity", "MinHash"]
