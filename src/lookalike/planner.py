"""From a wanted threshold and recall to permutations, bands and rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from . import theory
from .choices import Verify, check_choice
from .errors import ParameterError, from_caller
from .theory import banding, minhash, shares
from .values.arrays import MAX_PERMUTATIONS, number, whole
from .wording import band_counts, html_table

if TYPE_CHECKING:
    from .sketches.packed import BBit, Fractional, XorBits

CURVE = (0.5, 0.6, 0.7, 0.8, 0.9)
ESTIMATION_SLOTS = 256
FREE_PERMUTATIONS = 2048

# The cost model behind a free number of permutations: nanoseconds on a 2.6 GHz core for a text of 500 shingles, and a
# corpus in which each document has RELATED others with resemblances spread evenly below the threshold. A candidate
# costs its share of shingling the texts once more; unrelated documents are taken to resemble each other by BACKGROUND.
SHINGLES, NS_PER_SLOT, NS_PER_BAND, NS_PER_CANDIDATE, RELATED, BACKGROUND = 500, 12.0, 60.0, 4000.0, 2.0, 0.03
NOMINAL_DOCUMENTS = 1e6
MAX_DOCUMENTS = 10**15
LEAST_ERROR = 1e-4
MAX_SKETCH_BYTES = 4 * MAX_PERMUTATIONS


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The plan for a threshold and a recall.

    Parameters
    ----------
    threshold : float in (0, 1]
        Minimum resemblance of near-duplicates.
    recall : float in (0, 1)
        Wanted probability that a pair at the threshold becomes a candidate; unless ``verify`` is "sketch", that it is found.
    permutations : int >= 1
        Slots of a signature: ``bands * rows``, and those set aside for estimates or left over.
    bands, rows : int >= 1
        Documents that agree in all slots of a band share a bucket.
    estimation_slots : int >= 0
        Slots beyond the bands, for estimates that the choice of candidates does not bias.
    verify : {"exact", "sketch", "none"}
        How near-duplicates are distinguished among candidates.
    documents : int >= 0, optional
        Size of the corpus that false candidates are stated for.
    sketch : lookalike.theory.choose.Choice, optional
        Bits to keep per document for estimates, if a standard error or a budget was given.
    """

    threshold: float
    recall: float
    permutations: int
    bands: int
    rows: int
    estimation_slots: int = 0
    verify: Verify = "exact"
    documents: int | None = None
    sketch: theory.choose.Choice | None = None

    def __repr__(self) -> str:
        """Name what was chosen, and what differs from the default."""
        some = [field.name for field in fields(self) if getattr(self, field.name) != field.default]
        return f"Plan({', '.join(f'{name}={getattr(self, name)!r}' for name in some)})"

    def _repr_html_(self) -> str:
        """Return the plan as a small table, for notebooks."""
        facts = {name: f"{getattr(self, name)}" for name in ("threshold", "permutations", "bands", "rows", "verify")}
        return html_table("Plan", facts | {"recall at the threshold": f"{self.recall_at_threshold:.4f}"})

    @property
    def packing(self) -> BBit | XorBits | Fractional | None:
        """What packs signatures of ``sketch.permutations`` slots into the sketch; None if no sketch was asked for."""
        from .sketches.packed import packing_of

        return None if self.sketch is None else packing_of(self.sketch.shares)

    @property
    def recall_at_threshold(self) -> float:
        """Probability that a pair whose resemblance is the threshold is found.

        That is the probability that it becomes a candidate; with ``verify="sketch"`` times the probability, about a half,
        that its estimate reaches the threshold too.
        """
        return self.recall_at(self.threshold)

    def recall_at(self, threshold: float) -> float:
        """Return the same for another threshold that pairs must reach.

        The slots for estimates are not those of the bands. Both probabilities are those of independent slots; on texts of
        few shingles the slots of ``FastSimilarity`` vary less.

        Parameters
        ----------
        threshold : float in (0, 1]

        Returns
        -------
        float
        """
        found = float(banding.candidate_probability(threshold, self.bands, self.rows))
        if self.estimation_slots:
            found *= shares.reach_probability(threshold, threshold, self.estimation_slots)
        return found

    @property
    def curve(self) -> dict[float, float]:
        """Probability of becoming a candidate at resemblances 0.5, 0.6, 0.7, 0.8 and 0.9."""
        return {r: float(banding.candidate_probability(r, self.bands, self.rows)) for r in CURVE}

    @property
    def bytes_per_document(self) -> int:
        """Bytes stored per document besides its text: band keys, codes, slots for estimates, and 64 for the rest.

        They are held in memory only if all of them fit: see ``lookalike.foresee``.
        """
        return 8 * self.bands + 2 * self.bands * self.rows + 4 * self.estimation_slots + 64

    @property
    def false_candidates(self) -> float | None:
        """Expected candidate pairs among unrelated documents, taken to resemble each other by 0.03."""
        if self.documents is None:
            return None
        chance = float(banding.candidate_probability(BACKGROUND, self.bands, self.rows))
        return self.documents * (self.documents - 1) / 2 * chance

    @property
    def standard_error(self) -> float | None:
        """Standard error of an estimate at the threshold, where there are estimation slots."""
        return float(minhash.standard_error(self.threshold, self.estimation_slots)) if self.estimation_slots else None

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return asdict(self) | {
            "recall_at_threshold": self.recall_at_threshold,
            "candidate_probability": {str(r): p for r, p in self.curve.items()},
            "bytes_per_document": self.bytes_per_document,
            "false_candidates": self.false_candidates,
            "standard_error": self.standard_error,
        }


def _of_percent(given: float, certain: bool = True) -> str:
    return f"; for {given:g}% write {given / 100:g}" if 1 < given < 100 or (certain and given == 100) else ""


def check_targets(threshold: float, recall: float, certain: bool = False) -> None:
    """Raise ParameterError unless threshold and recall are ones that can be planned for; ``certain``: a recall of 1, too."""
    if not 0.0 < number("threshold", threshold, "a number in (0, 1]") <= 1.0:
        raise ParameterError(
            f"must be in (0, 1]: it is the minimum resemblance of near-duplicates{_of_percent(threshold)}",
            "threshold",
            threshold,
        )
    most = "1]" if certain else "1)"
    if not 0.0 < number("recall", recall, f"a number in (0, {most}") < 1.0 and not (certain and recall == 1.0):
        more = "" if certain else (
            ", and no sketch finds all for certain (0.999 costs about half as much again as 0.99, and dedup and pairs take 1)"
        )  # fmt: skip
        raise ParameterError(
            f"must be in (0, {most}: it is the probability of finding a pair at the threshold{more}"
            f"{_of_percent(recall, certain)}", "recall", recall,
        )  # fmt: skip


def _fitting(threshold: float, recall: float, permutations: int) -> list[tuple[int, int]]:
    """All (bands, rows) that reach the recall within a number of permutations, with as few bands as do."""
    rows = np.arange(1, permutations + 1)
    bands = banding.bands_for_recall(threshold, recall, rows)
    return [(int(b), int(r)) for b, r in zip(bands, rows, strict=True) if b <= permutations // r]


def _cost(threshold: float, bands: int, rows: int, documents: float) -> float:
    """Modelled nanoseconds a document for sketching, band keys and verification of false candidates."""
    slots = bands * rows
    sketch = NS_PER_SLOT * slots * max(0.1, min(1.0, np.log(slots) * slots / SHINGLES))
    related = RELATED * banding.mean_candidate_probability(threshold, bands, rows)
    unrelated = documents * float(banding.candidate_probability(BACKGROUND, bands, rows))
    return float(sketch + NS_PER_BAND * bands + NS_PER_CANDIDATE * (related + unrelated))


@lru_cache(64)  # a job asks more than once
def _shape(threshold: float, recall: float, permutations: int | None, documents: float) -> tuple[int, int]:
    """Return the bands and rows of least work, or for a given number of permutations those of fewest candidates."""
    fitting = _fitting(threshold, recall, permutations or FREE_PERMUTATIONS)
    if not fitting:
        needed = float(banding.bands_for_recall(threshold, recall, 1))
        raise ParameterError(
            f"{permutations or FREE_PERMUTATIONS} permutations cannot reach recall {recall} at threshold "
            f"{threshold}: at least {f'{needed:.0f}' if needed < 10**9 else f'{needed:.1e}'} are needed; "
            "raise the permutations or the threshold, or lower the recall"
        )
    if permutations is None:
        return min(fitting, key=lambda s: (_cost(threshold, s[0], s[1], documents), s[0]))
    return min(fitting, key=lambda s: (banding.mean_candidate_probability(threshold, *s), s[0]))


def choose_sketch(
    threshold: float, standard_error: float | None, sketch_bytes: int | None, density: float = 0.0,
    permutations: int | None = None, bits: Sequence[int] | None = None, combined: Sequence[int] | None = None,
) -> theory.choose.Choice:  # fmt: skip
    """Choose a sketch of a standard error at the threshold, or of a number of bytes, among ``bits`` and ``combined``."""
    if standard_error is not None and sketch_bytes is not None:
        raise ParameterError("a standard error and a number of bytes both fix the sketch: give one of them")
    at = min(threshold, 0.999)  # at 1 every sketch is free of error
    bits = theory.choose.BITS if bits is None else bits
    combined = theory.choose.COMBINED if combined is None else combined
    if standard_error is None:
        size = 8 * whole("sketch_bytes", sketch_bytes, 1, MAX_SKETCH_BYTES)
        return theory.choose.for_memory(at, size, density, permutations=permutations, bits=bits, combined=combined)
    if not LEAST_ERROR <= number("standard_error", standard_error) < 1.0:
        raise ParameterError(f"the standard error must be in [{LEAST_ERROR}, 1); got {standard_error}")
    return theory.choose.for_error(at, standard_error, density, bits=bits, combined=combined)


@from_caller
def plan(
    *,
    threshold: float = 0.8,
    recall: float = 0.99,
    permutations: int | None = None,
    bands: int | None = None,
    rows: int | None = None,
    documents: float | None = None,
    verify: Verify = "exact",
    standard_error: float | None = None,
    sketch_bytes: int | None = None,
    density: float = 0.0,
) -> Plan:
    """Choose permutations, bands and rows for a threshold and a recall.

    Among the (bands, rows) with P(candidate | R = threshold) >= recall the one is taken that makes the fewest candidates
    below the threshold (for a given number of permutations), or the least work by a cost model (if that is free too).

    Parameters
    ----------
    threshold : float in (0, 1], default 0.8
    recall : float in (0, 1), default 0.99
        Probability that a pair at the threshold becomes a candidate. With "sketch" it is then found with about half of it:
        ``Plan.recall_at_threshold`` states the product.
    permutations : int >= 1, optional
        Number of slots that bands can use.
    bands, rows : int >= 1, optional
        Both together override the choice; the recall is then the one that they give.
    documents : whole number in 0..1e15, optional
        Size of the corpus that false candidates are stated for. It also weighs in the choice of bands and rows, unless
        ``permutations`` is given. ``dedup`` and ``pairs`` plan for a million documents, whatever the corpus.
    verify : {"exact", "sketch", "none"}, default "exact"
        With "sketch" 256 more slots are set aside for estimates.
    standard_error : float in [0.0001, 1), optional
        Also choose the smallest archive sketch with at most this standard error at the threshold.
    sketch_bytes : int in 1..262144, optional
        Instead: the sketch of at most this many bytes with the smallest error there; of ``permutations`` slots, if those are
        given, which is then perhaps a mixture of numbers of bits.
    density : float in [0, 1], default 0
        Of the sets in the universe, where signatures come from true permutations of one; of hashes it is 0.

    Returns
    -------
    Plan

    Raises
    ------
    ParameterError
        If a target is out of range or cannot be reached with the permutations given.

    Examples
    --------
    >>> import lookalike as la
    >>> chosen = la.plan(threshold=0.8, recall=0.99, permutations=256)
    >>> chosen.bands, chosen.rows
    (26, 8)
    >>> kept = la.plan(threshold=0.8, permutations=256, sketch_bytes=48)
    >>> kept.packing
    Fractional(shares=((1, 0.5), (2, 0.5)))
    """
    check_targets(threshold, recall)
    threshold, recall = float(threshold), float(recall)
    check_choice("verify", verify, Verify)
    if documents is not None:
        documents = number("documents", documents, "a number >= 0")
        if not (0 <= documents <= MAX_DOCUMENTS and documents == int(documents)):
            raise ParameterError(f"must be a whole number in 0..{MAX_DOCUMENTS:.0e}", "documents", documents)
    if permutations is not None:
        permutations = whole("permutations", permutations, 1, MAX_PERMUTATIONS)
    if (bands is None) != (rows is None):
        raise ParameterError("bands and rows override the planner together: give both or neither")
    if bands is not None and rows is not None:
        bands, rows = whole("bands", bands, 1), whole("rows", rows, 1)
        if bands * rows > (permutations or MAX_PERMUTATIONS):
            raise ParameterError(
                f"the product of bands and rows must be at most {permutations or MAX_PERMUTATIONS}; "
                f"got {band_counts(bands, rows)}"
            )
        shape = (bands, rows)
    else:
        shape = _shape(threshold, recall, permutations, NOMINAL_DOCUMENTS if documents is None else float(documents))
    if not 0.0 <= number("density", density) <= 1.0:
        raise ParameterError("must be in [0, 1]", "density", density)
    wanted = standard_error is not None or sketch_bytes is not None
    sketch = choose_sketch(threshold, standard_error, sketch_bytes, density, permutations) if wanted else None
    used = shape[0] * shape[1]
    estimation_slots = ESTIMATION_SLOTS if verify == "sketch" else 0
    return Plan(
        threshold=float(threshold),
        recall=float(recall),
        permutations=int(max(used, permutations or 0)) + estimation_slots,
        bands=int(shape[0]),
        rows=int(shape[1]),
        estimation_slots=estimation_slots,
        verify=verify,
        documents=None if documents is None else int(documents),
        sketch=sketch,
    )
