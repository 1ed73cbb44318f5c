"""C-MinHash: two permutations of a finite universe in place of k."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..errors import ParameterError
from ..hashing import Permutation, derive
from ..values import Int64Array, Signatures, UInt64Array
from .permutation import PermutationMinHash


@dataclass(frozen=True, slots=True, kw_only=True)
class CMinHash(PermutationMinHash):
    """Two permutations of [0, universe) in place of k: slot j is the least second place of all first places less j.

    A slot agrees with the probability of the resemblance, as with k permutations; two slots agree together less often than
    independent ones, so that the share of equal slots varies less: ``theory.minhash.circulant_variance``. The reported standard
    error is that of independent slots, the upper limit.

    Parameters
    ----------
    universe : int in [1, 2^63]
        D.
    permutations : int in [1, min(universe, 65536)], default 128
        Number k of slots.
    seed : int in [0, 2^64), default 1

    Raises
    ------
    ParameterError
        If a parameter is out of its range: more slots than the universe has places would repeat the first ones.

    Notes
    -----
    Time: n k keyed permutations, or D and n k steps if those are fewer. Signatures are packed and saved as those of
    ``PermutationMinHash``. It gains where members are a good part of the universe, and little elsewhere; for shingles,
    ``FastSimilarity`` is the tool.

    References
    ----------
    Li & Li, "C-MinHash: Improving Minwise Hashing with Circulant Permutation", ICML 2022, the form with two permutations.

    Examples
    --------
    >>> import lookalike as la
    >>> scheme = la.CMinHash(universe=500, permutations=400)
    >>> signatures = scheme.sign_sets([*range(300), *range(100, 400)], [0, 300, 600])
    >>> error = float(la.theory.minhash.circulant_variance(0.5, 400, 400, 500)) ** 0.5
    >>> abs(signatures.estimated_resemblance(0, 1) - 0.5) < 3 * error < 3 * 0.5 / 400**0.5
    True
    """

    _most: ClassVar[int] = 1 << 63

    def __post_init__(self) -> None:
        """Check the parameters."""
        PermutationMinHash.__post_init__(self)
        if self.permutations > self.universe:
            raise ParameterError(
                f"permutations must be at most the universe of {self.universe}: slot {self.universe} would be slot 0 again; "
                f"got {self.permutations}"
            )

    def _sign(self, keys: UInt64Array, bounds: Int64Array) -> Signatures:
        first, second = (Permutation(universe=self.universe, seed=int(s)) for s in derive(self.seed, "circulant", 2))
        out = np.full((len(bounds) - 1, self.permutations), np.iinfo(np.uint64).max, np.uint64)
        places, filled = first.apply(keys), np.flatnonzero(np.diff(bounds))
        look_up = self.universe <= len(keys) * self.permutations
        table = second.apply(np.arange(self.universe if look_up else 0, dtype=np.uint64))
        for j in range(self.permutations if len(filled) else 0):
            moved = (places + np.uint64(self.universe - j)) % np.uint64(self.universe)
            out[filled, j] = np.minimum.reduceat(table[moved] if look_up else second.apply(moved), bounds[filled])
        densities = np.diff(bounds) / self.universe
        return Signatures(out, self, "integers", densities)
