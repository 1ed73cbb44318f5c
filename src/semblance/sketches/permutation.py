"""Minwise hashing with true permutations of a finite universe, for which densities matter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import ParameterError
from ..hashing import ROUNDS, Permutation, derive
from ..kernels import families as kernel
from ..theory import minhash as theory
from ..values import Float64Array, Signatures, UInt64Array

EMPTY = np.uint64(0xFFFFFFFFFFFFFFFF)


@dataclass(frozen=True, slots=True, kw_only=True)
class PermutationMinHash:
    """The papers' own scheme: k permutations of [0, universe), the least place of a set under each.

    Elements are the integers themselves, unmixed. With a small universe the sets are dense, and b-bit estimates need their
    densities r = f / D, which the signatures carry.

    Parameters
    ----------
    universe : int in [1, 2^64]
        D.
    permutations : int >= 1, default 128
        k.
    seed : int in [0, 2^64), default 1

    Notes
    -----
    Time: n k keyed permutations of six rounds each. It exists to exercise the theory; ``FastSimilarity`` is the tool.

    References
    ----------
    Li & König, WWW 2010, algorithm 1.
    """

    universe: int
    permutations: int = 128
    seed: int = 1

    def __post_init__(self) -> None:
        """Check the parameters."""
        Permutation(universe=self.universe, seed=self.seed)
        if self.permutations < 1:
            raise ParameterError(f"permutations must be at least 1; {self.permutations} was given")

    @property
    def mergeable(self) -> bool:
        """False: minima could be merged, but not the densities beside them."""
        return False

    def sign_sets(self, values: ArrayLike, offsets: ArrayLike) -> Signatures:
        """Sign sets of integers in [0, universe): ``values`` (n,) without repeats in a row, ``offsets`` (rows + 1,).

        Parameters
        ----------
        values : array_like of int, shape (n,)
        offsets : array_like of int, shape (rows + 1,)

        Returns
        -------
        Signatures

        Raises
        ------
        ParameterError
            If a member lies outside the universe, or shapes do not fit.
        """
        keys = np.ascontiguousarray(values).astype(np.uint64)
        bounds = np.ascontiguousarray(offsets).astype(np.int64)
        if len(keys) and int(keys.max()) >= self.universe:
            raise ParameterError(f"elements must lie in [0, {self.universe}); {int(keys.max())} was given")
        out = np.empty((len(bounds) - 1, self.permutations), np.uint64)
        rounds = derive(self.seed, "permutations", ROUNDS * self.permutations).reshape(self.permutations, ROUNDS)
        half_bits = np.uint64(Permutation(universe=self.universe).half_bits)
        kernel.sign_with_permutations(keys, bounds, np.uint64(self.universe % (1 << 64)), half_bits, rounds, out)
        densities: Float64Array = np.diff(bounds) / self.universe
        return Signatures(out, self, "integers", densities)

    def estimate(self, left: UInt64Array, right: UInt64Array) -> tuple[Any, Any]:
        """Return (share of equal slots, its standard error) over the last axis; nan where both sets are empty.

        Parameters
        ----------
        left, right : ndarray, shape (..., permutations)
        """
        share = np.where((left[..., 0] == EMPTY) & (right[..., 0] == EMPTY), np.nan, np.mean(left == right, axis=-1))
        error = theory.standard_error(share, self.permutations)
        return share[()], error[()]
