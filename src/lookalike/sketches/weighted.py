"""A sketch of weighted sets (multisets)."""

from __future__ import annotations

from dataclasses import dataclass

from .. import core
from ..errors import ParameterError, from_caller
from ..values import Signatures, WeightedSets
from .minhash import Scheme

LEAST_WEIGHT = 2.0**-40
MOST_WEIGHT = 2.0**500  # so that no sum, and no strip of weights, is infinite


@dataclass(frozen=True, slots=True, kw_only=True)
class DartMinHash(Scheme):
    """DartMinHash: slots agree with probability the weighted resemblance, sum min / sum max, and independently.

    The variance is R (1 - R) / k. With inverse document frequencies as weights (``weigh``), what many documents have counts
    less.

    Parameters
    ----------
    permutations : int >= 1
    seed : int in [0, 2^64), default 1

    Notes
    -----
    Time: about n + k log k steps for n elements and k slots. Darts are thrown by element, in strips of weight, so that
    elements of two sets share those below both of their weights. A step is the first dart of a strip that is not thrown any
    more, of which an element has 11, and one more for each doubling of its weight above 1; weights much below 1 take more
    darts, up to 16 times.

    References
    ----------
    Christiani, "DartMinHash: fast sketching for weighted sets", 2020.

    Examples
    --------
    >>> import lookalike as la
    >>> sets = la.sketches.WeightedSets.from_arrays([1, 2, 1, 2], [3.0, 1.0, 1.0, 2.0], [0, 2, 4])
    >>> found = la.sketches.DartMinHash(permutations=1024).sign(sets).estimated_resemblance(0, 1)
    >>> bool(abs(found - (1 + 1) / (3 + 2)) < 0.06)
    True
    """

    @property
    def mergeable(self) -> bool:
        """False: codes of sampled elements have no order."""
        return False

    @from_caller
    def sign(self, sets: WeightedSets) -> Signatures:
        """Sign weighted sets: one row of ``permutations`` codes (uint64) a document.

        Parameters
        ----------
        sets : WeightedSets

        Returns
        -------
        Signatures

        Raises
        ------
        ParameterError
            If a weight is below 2^-40 or above 2^500.
        """
        for outside in (sets.weights.min(initial=1.0), sets.weights.max(initial=1.0)):
            if not LEAST_WEIGHT <= outside <= MOST_WEIGHT:
                raise ParameterError(
                    f"weights must be at least 2^-40 (9.1e-13) and at most 2^500 (3.3e150); got {outside:g}: multiply all by a "
                    "factor"
                )
        out = core.dart_minhash(sets.values, sets.weights, sets.offsets, self.permutations, self.seed)
        return Signatures(out, self, "weighted")
