"""The two kinds of index: MinHash bands and SimHash fingerprints, in one form.

A kind holds the method that sketches, which jobs use too. From its sketches come a few 64-bit keys, of which one must match
for a document to be looked at, and 16-bit codes, by which it is scored.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ..errors import IndexFormatError, ParameterError
from ..methods.minhash import MinHashMethod
from ..methods.simhash import SimHashMethod
from ..planner import Plan, check_targets, plan
from ..sketches.fast_similarity import FastSimilarity
from ..sketches.simhash import SimHash
from ..text.shingle import Shingling
from ..theory import shares, simhash
from ..values import Float64Array, Int64Array, UInt64Array
from ..values.weighted import count_repeats

CODES = 256
CHANCE = 2.0**-16  # that two unequal slots have equal codes
_TYPES: dict[str, tuple[type, ...]] = {
    "threshold": (float, int), "recall": (float, int), "unit": (str,), "width": (int,), "normalization": (str,),
    "fold_case": (bool,), "seed": (int,), "bands": (int,), "rows": (int,), "radius": (int,),
}  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Sketches:
    """Sketches of documents, ready to be added or looked up.

    Parameters
    ----------
    keys : ndarray of uint64, shape (n, n_keys)
    codes : ndarray of uint16, shape (n, n_codes)
    empty : ndarray of bool, shape (n,)
        Documents without a single token; they match nothing.
    kind : Kind
        The parameters that made them.
    """

    keys: UInt64Array
    codes: NDArray[np.uint16]
    empty: NDArray[np.bool_]
    kind: Kind

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self.keys)


@dataclass(frozen=True, kw_only=True)
class Kind:
    """What all documents of an index have in common.

    Parameters
    ----------
    threshold : float in (0, 1]
        Resemblance from which documents are found (of SimHash: cosine).
    recall : float in (0, 1)
    unit, width, normalization, fold_case
        What a shingle is: see ``semblance.Shingling``.
    seed : int

    Raises
    ------
    ParameterError
        If one is out of its range.
    """

    threshold: float = 0.8
    recall: float = 0.99
    unit: str = "word"
    width: int | None = None
    normalization: str = "NFC"
    fold_case: bool = True
    seed: int = 1
    name: ClassVar[str]

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_targets(self.threshold, self.recall)
        _ = self.shingling

    @cached_property
    def shingling(self) -> Shingling:
        """What a shingle is."""
        return Shingling(unit=self.unit, width=self.width, normalization=self.normalization, fold_case=self.fold_case)

    def resolved(self) -> Self:
        """Return the same with all that is left to defaults and planner written out, so that it means the same for ever."""
        return replace(self, width=self.shingling.to_dict()["width"])

    def to_dict(self) -> dict[str, Any]:
        """Return all parameters as plain values."""
        return {"kind": self.name} | asdict(self) | {"shingling": self.shingling.to_dict()}


@dataclass(frozen=True, kw_only=True)
class MinHashKind(Kind):
    """Bands of a MinHash signature as keys, 256 more slots, 16 bits of each, as codes.

    Parameters
    ----------
    bands, rows : int >= 1, optional
        In place of the planner's choice.
    """

    bands: int | None = None
    rows: int | None = None
    name = "minhash"
    radius: ClassVar[int] = 0
    differing: ClassVar[bool] = False

    @cached_property
    def plan(self) -> Plan:
        """Bands and rows."""
        return plan(threshold=self.threshold, recall=self.recall, bands=self.bands, rows=self.rows)

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        FastSimilarity(permutations=self.method.plan.permutations, seed=self.seed)

    def resolved(self) -> Self:
        """Write out bands and rows too."""
        return replace(super().resolved(), bands=self.plan.bands, rows=self.plan.rows)

    @property
    def n_keys(self) -> int:
        """Tables of an index."""
        return self.plan.bands

    @property
    def n_codes(self) -> int:
        """Codes of a document."""
        return CODES

    @property
    def prefix_bits(self) -> int:
        """Most bits by which a table may be entered."""
        return 32

    @cached_property
    def least(self) -> int:
        """Least score of a match: the estimate reaches the threshold."""
        return int(np.ceil(CODES * (self.threshold * (1 - CHANCE) + CHANCE) - 1e-9))

    @property
    def recall_at_threshold(self) -> float:
        """Probability that a document at the threshold is found: looked at, and estimated to reach the threshold."""
        match = self.threshold * (1 - CHANCE) + CHANCE
        return self.plan.recall_at_threshold * shares.reach_probability(match, min(1.0, self.least / CODES), CODES)

    @cached_property
    def method(self) -> MinHashMethod:
        """What sketches: the bands, and as many slots set aside for estimates as there are codes."""
        slots = self.plan.bands * self.plan.rows + CODES
        shape = replace(self.plan, permutations=slots, estimation_slots=CODES)
        return MinHashMethod(plan=shape, seed=self.seed, exact=False, coded=False)

    def sketch(self, values: UInt64Array, offsets: Int64Array) -> Sketches:
        """Sketch documents given by their shingle hashes."""
        empty = np.diff(offsets) == 0
        made = self.method.sketch(values, offsets, np.zeros(len(empty), np.uint64))
        return Sketches(made.keys, made.estimates.astype(np.uint16), empty, self)

    def estimate(self, score: Int64Array) -> tuple[Float64Array, Float64Array]:
        """Return (estimated resemblance, standard error) of scores."""
        estimated, error = self._estimates
        return estimated[score], error[score]

    @cached_property
    def _estimates(self) -> tuple[Float64Array, Float64Array]:
        """The same for every score there is."""
        estimated = np.clip((np.arange(CODES + 1) / CODES - CHANCE) / (1 - CHANCE), 0, 1)
        return estimated, np.asarray(shares.share_error(np.arange(CODES + 1), CODES) / (1 - CHANCE), np.float64)

    def measure(self, a: UInt64Array, b: UInt64Array) -> float:
        """Return the exact resemblance of two documents given by their shingle hashes."""
        a, b = np.unique(a), np.unique(b)
        common = len(np.intersect1d(a, b, assume_unique=True))
        return common / (len(a) + len(b) - common) if len(a) or len(b) else 0.0


@dataclass(frozen=True, kw_only=True)
class SimHashKind(Kind):
    """64-bit fingerprints, turned by one of ``radius + 1`` blocks each, as keys, and plain, in four pieces, as codes.

    Parameters
    ----------
    radius : int in [0, 7], default 3
        Bits in which fingerprints of near-duplicates may differ.
    """

    name = "simhash"
    radius: int = 3
    differing: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        SimHash(bits=64, seed=self.seed)
        if not 0 <= self.radius <= 7:
            raise ParameterError(f"radius must be in 0..7 for an index; got {self.radius}")

    @property
    def n_keys(self) -> int:
        """Tables of an index: of radius + 1 blocks one is free of differences."""
        return self.radius + 1

    @property
    def n_codes(self) -> int:
        """Codes of a document."""
        return 4

    @property
    def prefix_bits(self) -> int:
        """Bits of a block."""
        return 64 // self.n_keys

    @cached_property
    def least(self) -> int:
        """Least score of a match: neither the radius is left nor the estimate below the threshold."""
        distances = np.arange(self.radius + 1)
        enough = distances[simhash.cosine(distances, 64) >= self.threshold - 1e-12]
        return -int(enough.max(initial=-1)) if len(enough) else 1

    @property
    def recall_at_threshold(self) -> float:
        """Probability that a document whose cosine is the threshold is found: within the radius, and estimated to reach it."""
        return float(simhash.within_radius(self.threshold, -self.least, 64)) if self.least <= 0 else 0.0

    @cached_property
    def method(self) -> SimHashMethod:
        """What fingerprints."""
        return SimHashMethod(radius=self.radius, seed=self.seed, verify="sketch")

    def sketch(self, values: UInt64Array, offsets: Int64Array) -> Sketches:
        """Fingerprint documents given by their shingle hashes; a feature weighs as often as it occurs."""
        empty = np.diff(offsets) == 0
        words = self.method.sketch(values, offsets, np.zeros(len(empty), np.uint64)).keys[:, 0]
        turns = (self.prefix_bits * np.arange(self.n_keys)).astype(np.uint64)
        keys = (words[:, None] << turns) | ((words[:, None] >> np.uint64(1)) >> (np.uint64(63) - turns))
        return Sketches(keys, words[:, None].view(np.uint16), empty, self)

    def estimate(self, score: Int64Array) -> tuple[Float64Array, Float64Array]:
        """Return (estimated cosine, standard error) of scores."""
        estimated, error = self._estimates
        return estimated[-score], error[-score]

    @cached_property
    def _estimates(self) -> tuple[Float64Array, Float64Array]:
        """The same for every distance there is."""
        estimated = np.asarray(simhash.cosine(np.arange(65), 64), np.float64)
        return estimated, np.asarray(simhash.cosine_error(np.arange(65), 64), np.float64)

    def measure(self, a: UInt64Array, b: UInt64Array) -> float:
        """Return the exact cosine of two documents given by their features."""
        counted = [count_repeats(x, np.array([0, len(x)])) for x in (a, b)]
        if not len(a) or not len(b):
            return 0.0
        (left, m, _), (right, n, _) = counted
        _, i, j = np.intersect1d(left, right, assume_unique=True, return_indices=True)
        dot = float(m[i].astype(np.float64) @ n[j].astype(np.float64))
        return min(1.0, dot / float(np.linalg.norm(m) * np.linalg.norm(n)))


KINDS: dict[str, type[MinHashKind | SimHashKind]] = {"minhash": MinHashKind, "simhash": SimHashKind}


def make_kind(kind: str, **parameters: Any) -> MinHashKind | SimHashKind:
    """Return the kind of a name.

    Raises
    ------
    ParameterError
        If there is none, or a parameter is unknown or out of its range.
    """
    if kind not in tuple(KINDS):
        raise ParameterError(f"kind must be one of {', '.join(KINDS)}; got {kind!r}")
    known = {field.name: field.default for field in fields(KINDS[kind])}
    if stranger := sorted(set(parameters) - set(known)):
        raise ParameterError(f"an index of kind {kind} has no parameter {stranger[0]!r}; it has {', '.join(sorted(known))}")
    for name, value in parameters.items():
        wanted = _TYPES[name]
        if value is None and known[name] is None:
            continue
        if not isinstance(value, wanted) or (isinstance(value, bool) and bool not in wanted):
            raise ParameterError(f"{name} must be of type {wanted[0].__name__}; got {value!r:.60}")
    return KINDS[kind](**parameters)


def read_kind(parameters: dict[str, Any], place: object) -> tuple[MinHashKind | SimHashKind, int]:
    """Return the kind that an index was made with, and the number of the rules by which its texts became shingles.

    Raises
    ------
    IndexFormatError
        If no index has such parameters, or this version makes other shingles of a text than the one that made the index.
    """
    given = dict(parameters)
    shingling = given.pop("shingling", None)
    try:
        kind = make_kind(given.pop("kind", None), **given)
    except ParameterError as error:
        raise IndexFormatError(f"{place}: damaged: {error}") from None
    if set(kind.to_dict()) != set(parameters) or None in parameters.values() or not isinstance(shingling, dict):
        raise IndexFormatError(f"{place}: damaged: its parameters are {sorted(parameters)}, not {sorted(kind.to_dict())}")
    known = kind.shingling.to_dict()
    rules, newest = shingling.get("rules", 1), known.get("rules", 1)
    if type(rules) is not int or not 1 <= rules <= newest or known | {"rules": 0} != shingling | {"rules": 0}:
        raise IndexFormatError(
            f"{place}: its shingles are {shingling}, those of this version {known}: "
            "use the version that made it, or make it anew from the texts"
        )
    return kind, rules
