"""SimHash fingerprints."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .. import core
from ..errors import ParameterError, from_caller
from ..hashing import derive
from ..values import Fingerprints, Float64Array, Shingles, UInt64Array, WeightedSets
from ..values.arrays import MOST_SEED, whole


@dataclass(frozen=True, slots=True, kw_only=True)
class SimHash:
    """SimHash: documents of small angle get fingerprints of small Hamming distance.

    Bit j is the sign of the sum of the features' weights, each plus or minus by bit j of the feature's hash. Two bits differ
    with probability angle / pi. Sums of zero take their bit from a word fixed by the seed, so that documents of few features
    do not lean to zeros.

    Parameters
    ----------
    bits : int, a multiple of 32 in 32..256, default 64
    seed : int in [0, 2^64), default 1
    margins : bool, default False
        Keep the signed sums, which ``WeakBitIndex`` needs of queries; fingerprints with and without go together.

    Raises
    ------
    ParameterError
        If a parameter is out of its range.

    Notes
    -----
    Time: features of equal weight, a few ns each; weighted ones, an addition a bit. A document without features gets the
    tie word itself, which matches nothing: indexes refuse it.

    References
    ----------
    Charikar, "Similarity estimation techniques from rounding algorithms", STOC 2002; Manku, Jain & Das Sarma, WWW 2007.

    Examples
    --------
    >>> import lookalike as la
    >>> prints = la.sketches.SimHash(bits=64).sign(la.shingle(["one two three four five six"] * 2, width=1))
    >>> int(prints.distance(0, 1))
    0
    """

    bits: int = 64
    seed: int = 1
    margins: bool = field(default=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Check the parameters."""
        object.__setattr__(self, "bits", whole("bits", self.bits, 32, 256))
        object.__setattr__(self, "seed", whole("seed", self.seed, 0, MOST_SEED))
        if self.bits % 32:
            raise ParameterError("must be a multiple of 32 in 32..256", "bits", self.bits)

    @property
    def no_features(self) -> UInt64Array:
        """The fingerprint of a document without features, uint64 of shape (n_words,)."""
        words = derive(self.seed, "simhash ties", (self.bits + 63) // 64)
        words[self.bits // 64 :] &= np.uint64((1 << self.bits % 64) - 1)
        return words

    @from_caller
    def sign(self, features: Shingles | WeightedSets) -> Fingerprints:
        """Fingerprint documents: sets of features of equal weight, or weighted ones.

        Parameters
        ----------
        features : Shingles or WeightedSets

        Returns
        -------
        Fingerprints
        """
        how = self.bits, int(derive(self.seed, "simhash", 1)[0]), derive(self.seed, "simhash ties", (self.bits + 63) // 64)
        if isinstance(features, WeightedSets):
            out, margins = core.weighted_simhash(features.values, _summable(features), features.offsets, *how, self.margins)
        else:
            out, margins = core.simhash(features.values, features.offsets, *how, self.margins)
        made_by = features.parameters if isinstance(features, Shingles) else "weighted"
        return Fingerprints(out, self.bits, self, made_by, margins if self.margins else None)


def _summable(features: WeightedSets) -> Float64Array:
    """Return the weights; where a sum could be beyond all numbers, each row scaled by a power of two, which changes no bit."""
    weights, sizes = features.weights, np.diff(features.offsets)
    if not len(weights) or weights.max() < np.finfo(np.float64).max / sizes.max():
        return weights
    exponents = np.zeros(len(sizes), np.int64)
    np.maximum.at(exponents, np.repeat(np.arange(len(sizes)), sizes), np.frexp(weights)[1])
    return np.ldexp(weights, -np.repeat(exponents, sizes))
