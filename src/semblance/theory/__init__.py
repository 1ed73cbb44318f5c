"""Formulas: numbers in, numbers out, vectorised over NumPy arrays."""

from . import banding, minhash

__all__ = ["banding", "minhash"]
