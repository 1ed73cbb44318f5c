"""Permutations: one of hashes, cut into bins; true ones of a finite universe, many of them, or one cut into bins."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import core
from ..choices import Densify, Filling, check_choice
from ..errors import ParameterError, from_caller
from ..hashing import ROUNDS, Permutation, derive
from ..theory import one_permutation as theory
from ..values import Float64Array, Int64Array, Signatures, UInt32Array, UInt64Array
from ..values.arrays import MAX_PERMUTATIONS, MOST_SEED, keys_of, offsets_of, whole
from .minhash import SlotScheme, count_filled, share_of_equal


def _of_filled(left: NDArray[Any], right: NDArray[Any], universe: float = theory.HASHES) -> tuple[Any, Any]:
    """Return (estimated resemblance, its standard error) over the last axis; bins that are empty in both do not count."""
    bins, filled = left.shape[-1], count_filled(left, right)
    empty = bins - filled
    matches = (left == right).sum(-1) - empty
    return theory.resemblance(matches, empty, bins), theory.raw_error(matches, filled, bins, universe)


@dataclass(frozen=True, slots=True, kw_only=True)
class OnePermutation(SlotScheme):
    """One permutation hashing into ``permutations`` bins.

    Raw bins may be empty; estimates leave out those empty in both: R = N_mat / (t - N_emp), unbiased and never worse than any
    filled kind. For look-ups, which need slots that are always there, ``fill`` copies values into empty bins.

    Parameters
    ----------
    permutations : int in [1, 65536], default 128
        Number t of bins.
    seed : int in [0, 2^64), default 1
    densify : {"none", "rotation", "optimal", "reverse"}, default "none"
        How empty bins are filled; "none" leaves them.

    Notes
    -----
    Raw signatures of unions are slot-wise minima; filled ones cannot be merged.

    Copies are equal together, and marked by their highest bit, so that standard errors account for them: with 20 members and
    1,024 bins, those of rotation are seven times as large as those of independent slots. Packed bits do not show copies, and
    state no error. Filled bins share bands less often than is planned, see ``BandingIndex``.

    References
    ----------
    Li, Owen & Zhang, NIPS 2012; report, algorithm 3. Rotation: Shrivastava & Li, ICML 2014. Optimal: Shrivastava, ICML 2017.
    Reverse: Mai et al., UAI 2019.

    Examples
    --------
    >>> import lookalike as la
    >>> scheme = la.sketches.OnePermutation(permutations=64)
    >>> raw = scheme.sign(la.sketches.Shingles.from_arrays([*range(9), *range(9)], [0, 9, 18]))
    >>> [scheme.fill(raw, densify).estimated_resemblance(0, 1) for densify in ("rotation", "optimal", "reverse")]
    [1.0, 1.0, 1.0]
    """

    densify: Densify = "none"

    def __post_init__(self) -> None:
        """Check the parameters."""
        SlotScheme.__post_init__(self)
        check_choice("densify", self.densify, Densify)

    @property
    def mergeable(self) -> bool:
        """Whether the signature of a union is the slot-wise minimum: of raw bins."""
        return self.densify == "none"

    @property
    def may_be_empty(self) -> bool:
        """Whether some slots can be empty where others are not: raw bins."""
        return self.densify == "none"

    @property
    def may_be_copied(self) -> bool:
        """Whether some slots can be copies of others, with which they agree: filled bins."""
        return self.densify != "none"

    def sign_values(self, values: UInt64Array, offsets: Int64Array) -> UInt32Array:
        return self._filled(core.one_permutation(values, offsets, self.permutations, self.seed))

    def _filled(self, bins: UInt32Array) -> UInt32Array:
        if self.densify == "none":
            return bins
        bins, seed = np.ascontiguousarray(bins), int(derive(self.seed, "densification", 1)[0])
        out: UInt32Array
        if self.densify == "rotation":
            out = core.densify_rotation(bins)
        else:
            out = (core.densify_optimal if self.densify == "optimal" else core.densify_reverse)(bins, seed)
        out |= bins & np.uint32(1 << 31)  # only of empty ones is the highest bit set
        return out

    @from_caller
    def fill(self, signatures: Signatures, densify: Filling) -> Signatures:
        """Fill the empty bins of raw signatures, one of "rotation", "optimal", "reverse"; an empty document stays empty.

        Parameters
        ----------
        signatures : Signatures
        densify : {"rotation", "optimal", "reverse"}

        Returns
        -------
        Signatures

        Raises
        ------
        ParameterError
            If the filling is unknown, or the signatures are filled already.
        """
        if signatures.scheme != self or self.densify != "none":
            raise ParameterError(f"only raw signatures of {self} can be filled; these are of {signatures.scheme}")
        scheme = replace(self, densify=densify)
        return Signatures(scheme._filled(signatures.values), scheme, signatures.shingling)

    def estimate(self, left: UInt32Array, right: UInt32Array) -> tuple[Any, Any]:
        """Return (estimated resemblance, its standard error) over the last axis.

        Parameters
        ----------
        left, right : ndarray, shape (..., permutations)
        """
        return _of_filled(left, right) if self.densify == "none" else share_of_equal(left, right, self.densify)


def _members(values: ArrayLike, offsets: ArrayLike, universe: int) -> tuple[UInt64Array, Int64Array]:
    """Return the members of sets, and where the sets begin and end, checked."""
    keys = keys_of(values)
    bounds = offsets_of(offsets, len(keys))
    for outside in (np.min(values, initial=0), np.max(values, initial=0)):
        if not 0 <= int(outside) < universe:
            raise ParameterError(f"must be in [0, {universe})", "elements", outside)
    row = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    order = np.lexsort((keys, row))
    again = np.flatnonzero((keys[order][1:] == keys[order][:-1]) & (row[order][1:] == row[order][:-1]))
    if len(again):
        at = order[again[0]]
        raise ParameterError(f"a set has each element once; got {keys[at]} twice in row {row[at]}")
    return keys, bounds


@dataclass(frozen=True, slots=True, kw_only=True)
class _OfUniverse:
    """Base of schemes for sets of integers in [0, universe)."""

    universe: int
    permutations: int = 128
    seed: int = 1
    _most: ClassVar[int] = 1 << 64

    def __post_init__(self) -> None:
        """Check the parameters."""
        for name, low, high in (("universe", 1, self._most), ("permutations", 1, MAX_PERMUTATIONS), ("seed", 0, MOST_SEED)):
            object.__setattr__(self, name, whole(name, getattr(self, name), low, high))

    def sign_sets(self, values: ArrayLike, offsets: ArrayLike) -> Signatures:
        """Sign sets of integers in [0, universe): one row of ``permutations`` slots (uint64) each.

        Parameters
        ----------
        values : array_like of int, shape (n,)
            Without repeats in a row.
        offsets : array_like of int, shape (rows + 1,)

        Returns
        -------
        Signatures

        Raises
        ------
        ParameterError
            If a member is outside the universe or twice in its row, or the offsets do not rise from 0 to n.
        """
        return self._sign(*_members(values, offsets, self.universe))

    def _sign(self, keys: UInt64Array, bounds: Int64Array) -> Signatures:
        raise NotImplementedError


@dataclass(frozen=True, slots=True, kw_only=True)
class PermutationMinHash(_OfUniverse):
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

    Examples
    --------
    >>> import lookalike as la
    >>> scheme = la.sketches.PermutationMinHash(universe=100)
    >>> la.sketches.BBit(bits=1).pack(scheme.sign_sets([*range(50), 3], [0, 50, 51])).densities
    array([0.5 , 0.01])
    """

    plain_bits = 1
    mergeable = False  # minima could be merged, but not the densities beside them

    def _sign(self, keys: UInt64Array, bounds: Int64Array) -> Signatures:
        rounds = derive(self.seed, "permutations", ROUNDS * self.permutations).reshape(self.permutations, ROUNDS)
        half_bits = Permutation(universe=self.universe).half_bits
        out = core.permutation_minhash(keys, bounds, self.universe % (1 << 64), half_bits, rounds)
        densities: Float64Array = np.diff(bounds) / self.universe
        return Signatures(out, self, "integers", densities)

    def estimate(self, left: UInt64Array, right: UInt64Array) -> tuple[Any, Any]:
        """Return (share of equal slots, its standard error) over the last axis; nan where both sets are empty.

        Parameters
        ----------
        left, right : ndarray, shape (..., permutations)
        """
        return share_of_equal(left, right)


@dataclass(frozen=True, slots=True, kw_only=True)
class PermutationBins(_OfUniverse):
    """One permutation hashing as the papers have it: one permutation of [0, universe), cut into bins of equal width.

    A slot is the least place of a set within its bin, counted from where the bin begins. Bins may be empty; estimates leave out
    those empty in both: R = N_mat / (t - N_emp), unbiased. ``OnePermutation`` does the same with hashes, for any elements.

    Parameters
    ----------
    universe : int in [1, 2^63]
        D, a multiple of ``permutations``. It may exceed the elements: raise it to the next multiple where it is none.
    permutations : int in [1, 65536], default 128
        Number t of bins.
    seed : int in [0, 2^64), default 1

    Raises
    ------
    ParameterError
        If a parameter is out of its range, or the universe cannot be cut into so many equal bins.

    Notes
    -----
    ``BBit`` with fewer than ``plain_bits`` packs these signatures as it does raw ``OnePermutation`` bins.

    References
    ----------
    Li, Owen & Zhang, NIPS 2012; report, algorithm 3 and section 4.

    Examples
    --------
    The report's sets X, Y, Z after the permutation; 18446744073709551615 stands for an empty bin.

    >>> import lookalike as la
    >>> scheme = la.sketches.PermutationBins(universe=16, permutations=4)
    >>> signatures = scheme.bin_places([2, 4, 7, 13, 0, 3, 6, 13, 0, 1, 10, 12], [0, 4, 8, 12])
    >>> [[int(slot) if slot < 4 else "*" for slot in row] for row in signatures.values]
    [[2, 0, '*', 1], [0, 2, '*', 1], [0, '*', 2, 0]]
    >>> signatures.estimated_resemblance([0, 0, 1], [1, 2, 2])
    array([0.33333333, 0.        , 0.25      ])
    """

    mergeable = may_be_empty = True
    _most: ClassVar[int] = 1 << 63

    def __post_init__(self) -> None:
        """Check the parameters."""
        _OfUniverse.__post_init__(self)
        if self.universe % self.permutations:
            above = -(-self.universe // self.permutations) * self.permutations
            raise ParameterError(
                f"a universe of {self.universe} cannot be cut into {self.permutations} equal bins: raise it to {above}"
            )

    @property
    def plain_bits(self) -> int:
        """Bits that hold a slot whole: from so many on packing cuts them as they are."""
        return max(1, (self.universe // self.permutations - 1).bit_length())

    def _sign(self, keys: UInt64Array, bounds: Int64Array) -> Signatures:
        places = Permutation(universe=self.universe, seed=self.seed).apply(keys)
        return Signatures(self._cut(places, bounds), self, "integers")

    def bin_places(self, places: ArrayLike, offsets: ArrayLike) -> Signatures:
        """Sign sets whose members were permuted already: ``places`` are those of the members under a permutation of yours.

        Parameters
        ----------
        places : array_like of int, shape (n,)
        offsets : array_like of int, shape (rows + 1,)

        Returns
        -------
        Signatures
            They cannot be compared with those of ``sign_sets``.

        Raises
        ------
        ParameterError
            If a place is outside the universe or twice in its row, or the offsets do not rise from 0 to n.
        """
        return Signatures(self._cut(*_members(places, offsets, self.universe)), self, "places")

    def _cut(self, places: UInt64Array, bounds: Int64Array) -> UInt64Array:
        out: UInt64Array = core.cut_places(places, bounds, self.permutations, self.universe // self.permutations)
        return out

    def estimate(self, left: UInt64Array, right: UInt64Array) -> tuple[Any, Any]:
        """Return (estimated resemblance, its standard error) over the last axis.

        Parameters
        ----------
        left, right : ndarray, shape (..., permutations)
        """
        return _of_filled(left, right, self.universe)
