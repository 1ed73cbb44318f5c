"""Methods by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..choices import Measure, Verify, check_choice
from ..choices import Method as MethodName
from ..errors import ParameterError
from ..planner import plan
from ..theory.containment import plan_sample
from .method import Method

if TYPE_CHECKING:
    from .all_pairs import AllPairsMethod
    from .containment import ContainmentMethod
    from .minhash import MinHashMethod
    from .simhash import SimHashMethod


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodSettings:
    """What users choose about a method, as the options of a job of these names say; each method uses what it needs and refuses
    what it cannot follow. ``seed`` is the only source of randomness."""

    threshold: float = 0.8
    recall: float = 0.99
    verify: Verify = "exact"
    permutations: int | None = None
    bands: int | None = None
    rows: int | None = None
    radius: int = 3
    seed: int = 1
    measure: Measure = "resemblance"
    floor: float = 0.0
    either: bool = False  # whether it does not matter which of two documents is in the other


def _minhash(settings: MethodSettings) -> MinHashMethod | ContainmentMethod | AllPairsMethod:
    """Plan bands and rows. Codes tell the candidates of large buckets apart; nothing is told apart if nothing is verified."""
    if settings.measure == "containment":
        return _containment(settings)
    if settings.recall == 1:
        return _all_pairs(settings)
    from .minhash import MinHashMethod  # here, for each job needs one method only

    chosen = plan(
        threshold=settings.threshold,
        recall=settings.recall,
        permutations=settings.permutations,
        bands=settings.bands,
        rows=settings.rows,
        verify=settings.verify,
    )
    return MinHashMethod(plan=chosen, seed=settings.seed, exact=settings.verify == "exact", coded=settings.verify != "none")


def _all_pairs(settings: MethodSettings) -> AllPairsMethod:
    """Take the threshold: no pair is left to chance."""
    from .all_pairs import AllPairsMethod

    if settings.verify != "exact":
        raise ParameterError(
            f"with recall 1 texts are compared: verify must be exact; got {settings.verify!r}", "verify", settings.verify
        )
    if not settings.permutations is settings.bands is settings.rows is None:
        raise ParameterError("permutations, bands and rows are for a recall below 1: with 1, no pair is left to chance")
    return AllPairsMethod(threshold=settings.threshold)


def _containment(settings: MethodSettings) -> ContainmentMethod:
    """Plan the sample."""
    from .containment import ContainmentMethod

    if settings.verify != "exact":
        raise ParameterError(
            "containment is measured on the texts, not on sketches: "
            f"--verify (verify) must be exact; got {settings.verify!r}: leave it out, or ask for measure resemblance",
            "verify",
            settings.verify,
        )
    if not settings.permutations is settings.bands is settings.rows is None:
        raise ParameterError("permutations, bands and rows are for resemblance; recall determines the sample of containment")
    sample, least = plan_sample(settings.threshold, settings.recall)
    return ContainmentMethod(
        threshold=settings.threshold, sample=sample, least=least, seed=settings.seed, floor=settings.floor,
        either=settings.either,
    )  # fmt: skip


def _simhash(settings: MethodSettings) -> SimHashMethod:
    """Take the radius as it is."""
    from .simhash import SimHashMethod

    if not settings.permutations is settings.bands is settings.rows is None:
        raise ParameterError("permutations, bands and rows are for minhash; simhash has radius")
    return SimHashMethod(radius=settings.radius, seed=settings.seed, verify=settings.verify)


METHODS: dict[str, Callable[[MethodSettings], Method]] = {"minhash": _minhash, "simhash": _simhash}


def make_method(name: str, settings: MethodSettings) -> Method:
    """Return the method of a name."""
    if settings.recall == 1 and (name != "minhash" or settings.measure != "resemblance"):
        raise ParameterError(
            f"recall 1 is for resemblance, by the method minhash; got {name} and {settings.measure}: take less, such as 0.999",
            "recall",
            settings.recall,
        )
    if settings.measure != "resemblance" and name != "minhash":
        raise ParameterError(f"{settings.measure} is measured by the method minhash; got {name!r}", "method", name)
    check_choice("method", name, MethodName)
    return METHODS[name](settings)
