"""Sketches of weighted sets (multisets), and their exact resemblances."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..kernels import weighted as kernel
from ..kernels.constants import WIDE_EMPTY
from ..values import Signatures, UInt64Array, WeightedSets
from .minhash import Scheme


@dataclass(frozen=True, slots=True, kw_only=True)
class _WeightedScheme(Scheme):
    """Base of schemes for weighted sets, whose slots are 64-bit codes."""

    @property
    def mergeable(self) -> bool:
        """False: codes of sampled elements have no order."""
        return False

    def sign(self, sets: WeightedSets) -> Signatures:
        """Sign weighted sets: one row of ``permutations`` codes (uint64) a document.

        Parameters
        ----------
        sets : WeightedSets

        Returns
        -------
        Signatures
        """
        out = np.empty((len(sets), self.permutations), np.uint64)
        self._run(sets, out)
        out[np.diff(sets.offsets) == 0] = WIDE_EMPTY
        return Signatures(out, self, "weighted")

    def _run(self, sets: WeightedSets, out: UInt64Array) -> None:
        raise NotImplementedError


class ICWS(_WeightedScheme):
    """Improved consistent weighted sampling: slots agree with probability the weighted resemblance, sum min / sum max.

    The reference: n k logarithms for n elements and k slots.

    Parameters
    ----------
    permutations : int >= 1
    seed : int in [0, 2^64), default 1

    References
    ----------
    Ioffe, "Improved consistent sampling, weighted minhash and L1 sketching", ICDM 2010.
    """

    def _run(self, sets: WeightedSets, out: UInt64Array) -> None:
        kernel.sign_icws(sets.values, sets.weights, sets.offsets, np.uint64(self.seed), out)


class ProbMinHash(_WeightedScheme):
    """ProbMinHash3: slots agree with probability the *probability resemblance*, which does not change with scale.

    About n + k log k steps for n elements and k slots; its variance is below that of independent slots.

    Parameters
    ----------
    permutations : int >= 1
    seed : int in [0, 2^64), default 1

    References
    ----------
    Ertl, "ProbMinHash - a class of locality-sensitive hash algorithms for the (probability) Jaccard similarity", TKDE 2020.
    """

    def _run(self, sets: WeightedSets, out: UInt64Array) -> None:
        minima = np.empty(self.permutations)
        kernel.sign_probminhash3(sets.values, sets.weights, sets.offsets, np.uint64(self.seed), minima, out)
