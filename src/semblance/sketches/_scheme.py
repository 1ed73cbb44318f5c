"""What the sketch schemes with 32-bit slots share: checked parameters, signing of shingles, the estimate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import ParameterError
from ..theory import minhash as theory
from ..values import Int64Array, Shingles, Signatures, UInt32Array, UInt64Array

EMPTY = np.uint32(0xFFFFFFFF)
MAX_PERMUTATIONS = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotScheme:
    """Base of schemes whose signatures are rows of 32-bit slots that agree with the probability of the resemblance.

    Parameters
    ----------
    permutations : int in [1, 65536]
        Number of slots of a signature.
    seed : int in [0, 2^64)
        The only source of randomness.
    """

    permutations: int = 128
    seed: int = 1

    def __post_init__(self) -> None:
        """Check the parameters."""
        if not 1 <= self.permutations <= MAX_PERMUTATIONS:
            raise ParameterError(f"permutations must lie in 1..{MAX_PERMUTATIONS}; {self.permutations} was given")
        if not 0 <= self.seed < 1 << 64:
            raise ParameterError(f"seed must lie in 0..2^64-1; {self.seed} was given")

    @property
    def mergeable(self) -> bool:
        """Whether the signature of a union is the slot-wise minimum."""
        return True

    def sign_values(self, values: UInt64Array, offsets: Int64Array) -> UInt32Array:
        """Return the slots of rows of mixed 64-bit hashes, uint32 of shape (rows, permutations); repeats do not matter."""
        raise NotImplementedError

    def sign(self, shingles: Shingles) -> Signatures:
        """Sign documents.

        Parameters
        ----------
        shingles : Shingles

        Returns
        -------
        Signatures
            One row of ``permutations`` slots (uint32) a document.
        """
        return Signatures(self.sign_values(shingles.values, shingles.offsets), self, shingles.parameters)

    def estimate(self, left: UInt32Array, right: UInt32Array) -> tuple[Any, Any]:
        """Return (share of equal slots, its error if slots are independent) over the last axis; nan if both are empty.

        Parameters
        ----------
        left, right : ndarray, shape (..., permutations)
        """
        resemblance = np.mean(left == right, axis=-1)
        both_empty = (left[..., 0] == EMPTY) & (right[..., 0] == EMPTY)
        resemblance = np.where(both_empty, np.nan, resemblance)
        error = theory.standard_error(resemblance, self.permutations)
        return (float(resemblance), float(error)) if resemblance.ndim == 0 else (resemblance, error)
