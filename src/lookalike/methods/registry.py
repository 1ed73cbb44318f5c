"""Methods by name: the built-in ones, and those of other packages.

Another package adds a method by an entry point of the group ``lookalike.methods``. The name of the entry point is the name of
the method; its value is a function from ``MethodSettings`` to a ``Method``::

    [project.entry-points."lookalike.methods"]
    toy = "toy_package.method:make"
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import ParameterError
from ..packages import added
from ..planner import plan
from ..theory.containment import plan_sample
from .method import Method

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from .all_pairs import AllPairsMethod
    from .containment import ContainmentMethod
    from .minhash import MinHashMethod
    from .simhash import SimHashMethod

GROUP = "lookalike.methods"


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodSettings:
    """What users choose about a method, as the options of a job of these names say; each method uses what it needs and refuses
    what it cannot follow. ``seed`` is the only source of randomness."""

    threshold: float = 0.8
    recall: float = 0.99
    verify: str = "exact"
    permutations: int | None = None
    bands: int | None = None
    rows: int | None = None
    radius: int = 3
    seed: int = 1
    measure: str = "resemblance"
    floor: float = 0.0
    either: bool = False  # whether it does not matter which of two documents is in the other


Factory = Callable[[MethodSettings], Method]


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
        raise ParameterError(f"with recall 1 texts are compared: verify must be exact; got {settings.verify!r}")
    if not settings.permutations is settings.bands is settings.rows is None:
        raise ParameterError("permutations, bands and rows are for a recall below 1: with 1, no pair is left to chance")
    return AllPairsMethod(threshold=settings.threshold)


def _containment(settings: MethodSettings) -> ContainmentMethod:
    """Plan the sample."""
    from .containment import ContainmentMethod

    if settings.verify != "exact":
        raise ParameterError(
            "containment is measured on the texts, as no sketch of fixed size shows it: "
            f"--verify (verify) must be exact; got {settings.verify!r}: leave it out, or ask for measure resemblance"
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


_BUILT_IN: dict[str, Factory] = {"minhash": _minhash, "simhash": _simhash}


def names() -> tuple[str, ...]:
    """Return the names of all methods there are: the built-in ones first, then those of other packages, sorted."""
    others = {point.name for point in added(GROUP)}
    return (*_BUILT_IN, *sorted(others - set(_BUILT_IN)))


def make_method(name: str, settings: MethodSettings) -> Method:
    """Return the method of a name; other packages are looked through only for names that are not built in."""
    if settings.recall == 1 and (name != "minhash" or settings.measure != "resemblance"):
        raise ParameterError(
            f"recall 1 is for resemblance, by the method minhash; got {name} and {settings.measure}: take less, such as 0.999"
        )
    if settings.measure != "resemblance" and name != "minhash":
        raise ParameterError(f"{settings.measure} is measured by the method minhash; got {name!r}")
    if name in _BUILT_IN:
        return _BUILT_IN[name](settings)
    found = [point for point in added(GROUP) if point.name == name]
    if not found:
        raise ParameterError(f"method must be one of {', '.join(names())}; got {name!r}")
    if len({point.value for point in found}) > 1:
        origins = ", ".join(sorted(map(_origin, found)))
        raise ParameterError(f"method {name!r} comes from several packages ({origins}): uninstall all but one")
    return _check(name, found[0], _load(name, found[0])(settings))


def _origin(point: EntryPoint) -> str:
    """Name the package and the object behind an entry point."""
    return f"{point.dist.name if point.dist else 'an unknown package'}: {point.value}"


def _load(name: str, point: EntryPoint) -> Factory:
    """Import the function that makes a method; its own error is kept as the cause."""
    try:
        make = point.load()
    except Exception as error:  # whatever the import of another package raises
        raise ParameterError(f"method {name!r} ({_origin(point)}) cannot be loaded: {type(error).__name__}: {error}") from error
    if not callable(make):
        raise ParameterError(
            f"method {name!r} ({_origin(point)}) must be a function from settings to a method; got {make!r:.60}"
        )
    return make  # type: ignore[no-any-return]


def _check(name: str, point: EntryPoint, made: Method) -> Method:
    """Return a method of another package if it has all that a method has, and goes by its name."""
    members = [member for member in vars(Method) if not member.startswith("_")]
    if missing := [member for member in members if not hasattr(made, member)]:
        raise ParameterError(f"method {name!r} ({_origin(point)}) made {made!r:.60}, which lacks {', '.join(missing)}")
    if made.name != name:
        raise ParameterError(f"method {name!r} ({_origin(point)}) made a method named {made.name!r}; the names must be equal")
    return made
