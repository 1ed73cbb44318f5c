"""Minwise hashing with true permutations of a finite universe, for which densities matter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import ParameterError
from ..hashing import ROUNDS, Permutation, derive
from ..kernels import families as kernel
from ..kernels.constants import WIDE_EMPTY
from ..values import Float64Array, Signatures, UInt64Array
from ..values.arrays import MAX_PERMUTATIONS, MOST_SEED, keys_of, offsets_of, whole
from ._scheme import share_of_equal


@dataclass(frozen=True, slots=True, kw_only=True)
class PermutationMinHash:
    """The papers' own scheme: k permutations of [0, universe), the least place of a set under each.

    Elements are the integers themselves, unmixed. With a small universe the sets are dense, and b-bit estimates need their
    densities r = f / D, which the signatures carry.

    Parameters
    ----------
    universe : int in [1, 2^64]
        D.
    permutations : int in [1, 65536], default 128
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
        for name, low, high in (("universe", 1, 1 << 64), ("permutations", 1, MAX_PERMUTATIONS), ("seed", 0, MOST_SEED)):
            object.__setattr__(self, name, whole(name, getattr(self, name), low, high))

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
            If a member is outside the universe or twice in its row, or the offsets do not rise from 0 to n.
        """
        keys = keys_of(values)
        bounds = offsets_of(offsets, len(keys))
        for outside in (np.min(values, initial=0), np.max(values, initial=0)):
            if not 0 <= int(outside) < self.universe:
                raise ParameterError(f"elements must be in [0, {self.universe}); got {outside}")
        row = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
        order = np.lexsort((keys, row))
        again = np.flatnonzero((keys[order][1:] == keys[order][:-1]) & (row[order][1:] == row[order][:-1]))
        if len(again):
            at = order[again[0]]
            raise ParameterError(f"a set has each element once; got {keys[at]} twice in row {row[at]}")
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
        return share_of_equal(left, right, WIDE_EMPTY)
