"""Experiments of the report on one permutation hashing."""
