"""Formulas: numbers in, numbers out. Each file is loaded on first use.

Arguments are numbers, or arrays of them that broadcast against each other; what is returned is a float, or an array of float64
of the shape that they broadcast to (both are `Float`). Where a function takes or returns anything else, it says so.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__all__ = [
    "banding",
    "bbit",
    "blocks",
    "chance",
    "choose",
    "hamming_costs",
    "likelihood",
    "minhash",
    "mixture",
    "one_permutation",
    "packed_banding",
    "set_distance",
    "shares",
    "simhash",
    "weak_bits",
    "xor_bits",
]

if TYPE_CHECKING:
    from . import (
        banding,
        bbit,
        blocks,
        chance,
        choose,
        hamming_costs,
        likelihood,
        minhash,
        mixture,
        one_permutation,
        packed_banding,
        set_distance,
        shares,
        simhash,
        weak_bits,
        xor_bits,
    )
else:  # where type checkers do not look, for a name that is not there to be an error

    def __getattr__(name: str) -> object:
        """Load a file of formulas on first use."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return import_module(f".{name}", __name__)

    def __dir__() -> list[str]:
        """List the files of formulas."""
        return __all__
