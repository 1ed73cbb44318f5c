"""The two kinds of index there are: bands of MinHash signatures, and SimHash fingerprints."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np

from .. import core
from ..choices import check_choice
from ..errors import IncompatibleSketchError, IndexFormatError, ParameterError
from ..methods.minhash import MinHashMethod
from ..methods.simhash import SimHashMethod
from ..planner import Plan, choose_sketch, plan
from ..search.weak_bits import MAX_PREFIX, WeakBits
from ..sketches.minhash import FastSimilarity
from ..sketches.packed import BBit
from ..sketches.simhash import SimHash
from ..theory import banding, bbit, shares, simhash
from ..theory.weak_bits import probed_share
from ..values import Float64Array, Int64Array, UInt32Array, UInt64Array
from ..values.arrays import MAX_PERMUTATIONS, plain, whole
from .kind import NO_PREFIXES, Sketches, SketchScheme

SLOTS, WORD = 256, 16  # of a document; bits of a stored word
LANES = (1, 2, 4, 8, 16)  # what divides a stored word
PLANNED = ("standard_error", "sketch_bytes")
BITS, MOST_PROBES = 64, 20_000
NO_DENSITY = np.zeros(())  # of sets of hashes


@dataclass(frozen=True, kw_only=True)
class MinHashKind(SketchScheme):
    """Bands of a MinHash signature as keys, the lowest bits of more slots, side by side in words of 16, as codes."""

    bands: int | None = None  # these two in place of the planner's choice
    rows: int | None = None
    bits: int = WORD  # of a slot: the 16 are those of its value, fewer are of the value mixed with its place
    slots: int = SLOTS
    name = "minhash"
    prefix_bits = 32

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        whole("slots", self.slots, 1, MAX_PERMUTATIONS)
        if whole("bits", self.bits, 1) not in LANES:
            raise ParameterError(f"must be one of {', '.join(map(str, LANES))}", "bits", self.bits)
        FastSimilarity(permutations=self.plan.permutations, seed=self.seed)

    @cached_property
    def plan(self) -> Plan:
        """Bands and rows, and the slots set aside for estimates. Bands and estimates each find the root of the recall."""
        chosen = plan(threshold=self.threshold, recall=self.recall**0.5, bands=self.bands, rows=self.rows)
        permutations = chosen.bands * chosen.rows + self.slots
        return replace(chosen, recall=self.recall, permutations=permutations, estimation_slots=self.slots)

    @cached_property
    def method(self) -> MinHashMethod:
        return MinHashMethod(plan=self.plan, seed=self.seed, exact=False, coded=False)

    def resolved(self) -> Self:
        return replace(super().resolved(), bands=self.plan.bands, rows=self.plan.rows)

    @property
    def left_out(self) -> frozenset[str]:
        return frozenset(("bits", "slots")) if (self.bits, self.slots) == (WORD, SLOTS) else frozenset()

    @property
    def n_keys(self) -> int:
        return self.plan.bands

    @property
    def lane(self) -> int:
        return self.bits

    @property
    def n_codes(self) -> int:
        return -(-self.slots * self.bits // WORD)

    @property
    def lowest(self) -> int:
        """Whole codes are counted if they are equal, packed ones if they differ."""
        return 0 if self.bits == WORD else -self.slots

    @cached_property
    def least(self) -> int:
        return self._enough + self.lowest

    @cached_property
    def _enough(self) -> int:
        """Least number of equal codes of a match.

        With so many an estimate reaches the threshold, or misses it no further than those of documents at the threshold may, of
        which bands and estimates together are to find the recall.
        """
        wanted = min(self.recall**0.5, self.recall / self.candidate_recall)
        enough = int(np.ceil(self.slots * self._equal - 1e-9))
        return bisect_left(range(enough), True, key=lambda some: self._reaching(some + 1) < wanted)

    @cached_property
    def _equal(self) -> float:
        """The probability that a code of a document at the threshold is equal."""
        return float(bbit.match_probability(self.threshold, self.bits))

    def _reaching(self, enough: int) -> float:
        """Return the probability that a document at the threshold has so many equal codes."""
        return shares.upper_tail_of_sum(enough, [self.slots], [self._equal])

    @cached_property
    def candidate_recall(self) -> float:
        return float(banding.candidate_probability(self.threshold, self.plan.bands, self.plan.rows))

    @property
    def recall_at_threshold(self) -> float:
        return self.candidate_recall * self._reaching(self._enough)

    @property
    def error_at_threshold(self) -> float:
        return float(bbit.variance(self.threshold, self.bits, self.slots) ** 0.5)

    @cached_property
    def estimates(self) -> tuple[Float64Array, Float64Array]:
        found, error = BBit(bits=self.bits).estimate(np.arange(self.slots + 1)[:, None], self.slots, NO_DENSITY, NO_DENSITY)
        return np.clip(found, 0, 1), np.asarray(error, np.float64)

    def sketch(self, values: UInt64Array, offsets: Int64Array, asking: bool = True) -> Sketches:
        made = self.method.sketch(values, offsets, np.zeros(len(offsets) - 1, np.uint64))
        whole = self.bits == WORD
        codes = made.estimates.astype(np.uint16) if whole else core.pack_lanes(made.estimates, self.bits)
        return Sketches(made.keys, codes, offsets[1:] == offsets[:-1], self)


@dataclass(frozen=True, kw_only=True)
class SimHashKind(SketchScheme):
    """64-bit fingerprints, turned by one of ``radius + 1`` blocks each, as keys, and plain, in four pieces, as codes. With
    ``probes`` there is one key, the plain fingerprint (thesis on probabilistic SimHash matching, chapters IV and V)."""

    radius: int = 3  # bits in which fingerprints of near-duplicates may differ
    # runs that a query looks at: its own, and those that it would be in if its weakest bits were others
    probes: int | None = None
    name = "simhash"
    lane, n_codes, lowest = 1, BITS // WORD, -BITS

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        SimHash(bits=BITS, seed=self.seed)
        if not 0 <= self.radius <= 7:
            raise ParameterError("must be in 0..7 for an index", "radius", self.radius)
        if self.probes is not None and not 1 <= self.probes <= MOST_PROBES:
            raise ParameterError(f"must be in 1..{MOST_PROBES:,}", "probes", self.probes)

    @cached_property
    def method(self) -> SimHashMethod:
        return SimHashMethod(radius=self.radius, seed=self.seed, verify="sketch")

    @property
    def left_out(self) -> frozenset[str]:
        return frozenset(("probes",) if self.probes is None else ())

    @property
    def n_keys(self) -> int:
        """Of radius + 1 blocks one is free of differences. What is probed needs one table."""
        return self.radius + 1 if self.probes is None else 1

    @property
    def prefix_bits(self) -> int:
        """Those of a block; at most those of the longest prefix that is probed."""
        return BITS // self.n_keys if self.probes is None else MAX_PREFIX

    @cached_property
    def least(self) -> int:
        distances = np.arange(self.radius + 1)
        enough = distances[simhash.cosine(distances, BITS) >= self.threshold - 1e-12]
        return -int(enough.max(initial=-1)) if len(enough) else 1

    @property
    def _farthest(self) -> int:
        """Most bits in which a match differs."""
        return max(0, -self.least)

    @property
    def recall_at_threshold(self) -> float:
        return float(simhash.within_radius(self.threshold, -self.least, BITS)) if self.least <= 0 else 0.0

    @property
    def error_at_threshold(self) -> float:
        return float(simhash.cosine_variance(self.threshold, BITS) ** 0.5)

    @cached_property
    def estimates(self) -> tuple[Float64Array, Float64Array]:
        distance = np.arange(BITS, -1, -1)
        return np.asarray(simhash.cosine(distance, BITS), np.float64), np.asarray(
            simhash.cosine_error(distance, BITS), np.float64
        )

    def share_probed(self, tables: Sequence[tuple[int, int]]) -> float:
        """Say it by a model: sums of bits are normal and independent, as those of many features of like weights are."""
        if self.probes is None:
            return 1.0
        sizes = [(bits, n) for bits, n in tables if n] or [(self.prefix_bits, 1)]
        found = (n * probed_share(self.threshold, bits, self.probes, self._farthest, BITS) for bits, n in sizes)
        return sum(found) / sum(n for _, n in sizes)

    def prefixes(self, sketches: Sketches, prefix_bits: int) -> UInt32Array:
        if self.probes is None:
            return NO_PREFIXES
        weak = WeakBits.within(BITS, prefix_bits, self._farthest, self.probes)
        return weak.prefixes(sketches.keys, sketches.margins, 0, len(sketches))

    def sketch(self, values: UInt64Array, offsets: Int64Array, asking: bool = True) -> Sketches:
        """Fingerprint documents; a feature weighs as often as it occurs. Margins come along where probes will ask for them."""
        made = self.method.fingerprints(values, offsets, margins=asking and self.probes is not None)
        words = made.words[:, 0]
        margins = None if made.margins is None else made.margins.astype(np.float32, copy=False)
        turns = (BITS // self.n_keys * np.arange(self.n_keys)).astype(np.uint64)
        keys = (words[:, None] << turns) | ((words[:, None] >> np.uint64(1)) >> (np.uint64(63) - turns))
        return Sketches(keys, words[:, None].view(np.uint16), np.diff(offsets) == 0, self, margins)


KINDS: dict[str, type[MinHashKind | SimHashKind]] = {"minhash": MinHashKind, "simhash": SimHashKind}
_TYPES: dict[str, tuple[type, ...]] = {"float": (float, int), "int": (int,), "bool": (bool,)}


def make_kind(kind: str, **parameters: Any) -> SketchScheme:
    """Return the kind of a name."""
    check_choice("kind", kind, KINDS)
    known = {field.name: field for field in fields(KINDS[kind])}
    if stranger := sorted(set(parameters) - set(known)):
        able = [other for other, made in KINDS.items() if stranger[0] in made.__init__.__annotations__]
        has = f"one of kind {able[0]} has it" if able else f"it has {', '.join(sorted(known))}"
        raise ParameterError(f"an index of kind {kind} has no parameter {stranger[0]!r}; {has}")
    parameters = {name: plain(value) for name, value in parameters.items()}
    for name, value in parameters.items():
        if value is None and known[name].default is None:
            continue
        wanted = _TYPES.get(str(known[name].type).removesuffix(" | None"), (str,))
        if not isinstance(value, wanted) or (isinstance(value, bool) and bool not in wanted):
            raise ParameterError(f"must be of type {wanted[0].__name__}", name, value)
    return KINDS[kind](**parameters)


def plan_kind(kind: str, **given: Any) -> SketchScheme:
    """Return the kind of a name, with all that is left to defaults and to the planner written out."""
    if kind == MinHashKind.name:
        make_kind(kind, **{name: value for name, value in given.items() if name not in PLANNED})  # what is wrong is named first
        given = _planned_codes(given)
    return make_kind(kind, **given).resolved()


def _planned_codes(given: dict[str, Any]) -> dict[str, Any]:
    """Return parameters with ``standard_error`` or ``sketch_bytes`` replaced by the planner's choice of bits and slots."""
    rest = dict(given)
    error, size = (rest.pop(name, None) for name in PLANNED)
    if error is None and size is None:
        return rest
    if "slots" in rest:
        raise ParameterError("slots fix the standard error and the bytes: give slots, a standard error or a number of bytes")
    if size is not None:
        size = whole("sketch_bytes", size, 2, 2 * MAX_PERMUTATIONS) // 2 * 2  # codes fill words of 16 bits
    kinds = (rest["bits"],) if rest.get("bits") else LANES
    chosen = choose_sketch(rest["threshold"], error, size, bits=kinds, combined=())
    if chosen.permutations > MAX_PERMUTATIONS:
        wanted = f"a standard error of {error}" if size is None else f"filling {size:,} bytes"
        raise ParameterError(f"{wanted} takes {chosen.permutations:,} slots; an index has at most {MAX_PERMUTATIONS:,}")
    return {"bits": int(chosen.bits), "slots": chosen.permutations} | rest


def read_kind(parameters: dict[str, Any], place: str | os.PathLike[str]) -> tuple[SketchScheme, int]:
    """Return the kind that an index was made with, and the number of the rules by which its texts became shingles."""
    given = dict(parameters)
    shingling = given.pop("shingling", None)
    try:
        kind = make_kind(given.pop("kind", None), **given)
    except ParameterError as error:
        raise IndexFormatError(f"damaged: {error}", place) from None
    if set(kind.to_dict()) != set(parameters) or None in parameters.values() or not isinstance(shingling, dict):
        raise IndexFormatError(f"damaged: its parameters are {sorted(parameters)}, not {sorted(kind.to_dict())}", place)
    known = kind.shingling.to_dict()
    rules, newest = shingling.get("rules", 1), known.get("rules", 1)
    if type(rules) is not int or not 1 <= rules <= newest or known | {"rules": 0} != shingling | {"rules": 0}:
        raise IndexFormatError(
            f"its shingles are {shingling}, those of this version {known}: "
            "use the version that made it, or build it again from the texts",
            place,
        )
    return kind, rules


def check_rules(path: Path, kind: SketchScheme, rules: int, keep_text: bool) -> None:
    """Check that the shingles of an index are made by the rules that this version follows."""
    newest = kind.shingling.to_dict().get("rules", 1)
    if rules == newest:
        return
    again = "make a new one with the same options (lookalike index create NEW)"
    if keep_text:
        way = (
            f"export its texts (lookalike index export {path} -o texts.parquet), {again}, "
            "and add them (lookalike index add NEW texts.parquet --id id)"
        )
    else:
        way = f"{again}, and add the documents to it (lookalike index add NEW FILES)"
    raise IncompatibleSketchError(
        f"{path}: an older version of lookalike made this index, by rules {rules} for shingles; this version follows rules "
        f"{newest}, under which some texts have other shingles, and would not be found. To add or look up documents, {way}; "
        f"lookalike index info {path} shows the options"
    )
