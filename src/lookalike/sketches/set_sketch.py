"""SetSketch: one mergeable sketch for cardinality, resemblance and containment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import IncompatibleSketchError, ParameterError
from ..kernels import weighted as kernel
from ..theory import setsketch
from ..values import Float64Array, Shingles
from ..values.arrays import MAX_PERMUTATIONS, MOST_SEED, matrix, pairs_of_rows, rows_of, whole
from ..wording import Brief, counted


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SetSketches(Brief):
    """Registers of documents."""

    registers: NDArray[np.uint16]
    scheme: SetSketch
    shingling: object

    def _facts(self) -> dict[str, str]:
        """Return what is said of it."""
        n, registers = self.registers.shape
        return {"documents": counted(n, "document"), "registers": counted(registers, "register"), "made by": repr(self.scheme)}

    def __post_init__(self) -> None:
        """Check type and shape."""
        object.__setattr__(self, "registers", matrix("registers", self.registers, {"u2": np.uint16}))

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self.registers)

    def cardinality(self, rows: ArrayLike | None = None) -> Any:
        """Estimate the number of shingles of some rows (all by default)."""
        some = self.registers if rows is None else self.registers[rows_of(rows, len(self))]
        sums = np.power(self.scheme.base, -some.astype(np.float64)).sum(-1)
        found = setsketch.cardinality(sums, self.scheme.permutations, self.scheme.base, self.scheme.rate)
        return np.where((some == 0).all(-1), 0.0, found)[()]

    def _joint(self, left: ArrayLike, right: ArrayLike, other: SetSketches | None) -> tuple[Any, Float64Array, Float64Array]:
        there = self if other is None else other
        if there.scheme != self.scheme or there.shingling != self.shingling:
            raise IncompatibleSketchError(f"sketches of {self.scheme} cannot be compared with those of {there.scheme}")
        left, right = pairs_of_rows(left, len(self), right, len(there))
        a, b = self.registers[left], there.registers[right]
        n_left, n_right = np.asarray(self.cardinality(left)), np.asarray(there.cardinality(right))
        total, filled = n_left + n_right, (n_left > 0) & (n_right > 0)
        share = np.divide(n_left, total, out=np.full_like(total, 0.5), where=filled)
        found = setsketch.most_likely_resemblance(
            (a > b).sum(-1), (a < b).sum(-1), self.scheme.permutations, share, self.scheme.base
        )
        found = np.where(filled, found, 0.0)
        return np.where((n_left == 0) & (n_right == 0), np.nan, found)[()], n_left, n_right

    def estimated_resemblance(self, left: ArrayLike, right: ArrayLike, *, other: SetSketches | None = None) -> Any:
        """Estimate the resemblance of rows ``left`` and rows ``right`` (of ``other``): the most likely one given both
        cardinalities; 0 where one document is empty, nan where both are."""
        return self._joint(left, right, other)[0]

    def estimated_containment(self, left: ArrayLike, right: ArrayLike, *, other: SetSketches | None = None) -> Any:
        """Estimate the share of the shingles of rows ``left`` that rows ``right`` have too, cut to 1."""
        found, n_left, n_right = self._joint(left, right, other)
        empty = n_left == 0
        found = np.where(empty, 0.0, found)
        share = found / (1.0 + found) * (1.0 + n_right / np.where(empty, 1.0, n_left))
        return np.where(empty, np.nan, np.minimum(share, 1.0))[()]

    def merge(self, other: SetSketches) -> SetSketches:
        """Return the sketches of the unions of rows with equal numbers: the larger of each pair of registers."""
        if other.scheme != self.scheme or other.shingling != self.shingling or len(other) != len(self):
            raise IncompatibleSketchError(f"{len(self)} of {self.scheme} cannot merge with {len(other)} of {other.scheme}")
        return SetSketches(np.maximum(self.registers, other.registers), self.scheme, self.shingling)


@dataclass(frozen=True, slots=True, kw_only=True)
class SetSketch:
    """SetSketch with independent registers.

    Parameters
    ----------
    permutations : int in [1, 65536], default 256
        Number m of registers, two bytes each.
    base : float > 1, default 1.001
        b: near 1 registers tell much of resemblance, at 2 they are as small as those of HyperLogLog.
    rate : float > 0, default 20
        a: with the default, sets of one element and more are told apart.
    limit : int in [1, 65535], default 65534
        q + 1, the highest register.
    seed : int in [0, 2^64), default 1

    Notes
    -----
    Time: n m hashes. Sketches of unions are register-wise maxima.

    References
    ----------
    Ertl, "SetSketch: filling the gap between MinHash and HyperLogLog", VLDB 2021.
    """

    permutations: int = 256
    base: float = 1.001
    rate: float = 20.0
    limit: int = 65534
    seed: int = 1

    def __post_init__(self) -> None:
        """Check the parameters."""
        for name, low, high in (("permutations", 1, MAX_PERMUTATIONS), ("limit", 1, 65535), ("seed", 0, MOST_SEED)):
            object.__setattr__(self, name, whole(name, getattr(self, name), low, high))
        for name, above in (("base", 1.0), ("rate", 0.0)):
            value = getattr(self, name)
            if isinstance(value, str) or not above < value < float("inf"):
                raise ParameterError(f"{name} must be a number above {above:g}; got {value!r}")

    def sign(self, shingles: Shingles) -> SetSketches:
        """Sketch documents.

        Parameters
        ----------
        shingles : Shingles

        Returns
        -------
        SetSketches
        """
        out = np.empty((len(shingles), self.permutations), np.uint16)
        kernel.sign_setsketch(
            shingles.values, shingles.offsets, np.uint64(self.seed), self.rate, float(np.log(self.base)), self.limit, out
        )
        return SetSketches(out, self, shingles.parameters)
