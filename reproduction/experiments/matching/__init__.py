"""Probabilistic SimHash matching against tables."""
