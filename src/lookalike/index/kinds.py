"""The two kinds of index: MinHash bands and SimHash fingerprints, in one form.

A kind says how documents are sketched. From sketches come a few 64-bit keys, of which one must match for a document to be
looked at, and codes of up to 16 bits, by which it is scored.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from ..errors import IndexFormatError, ParameterError
from .minhash_kind import PLANNED, MinHashKind, plan_codes
from .simhash_kind import SimHashKind

__all__ = ["KINDS", "AnyKind", "MinHashKind", "SimHashKind", "make_kind", "plan_kind", "read_kind"]

AnyKind = MinHashKind | SimHashKind
_TYPES: dict[str, tuple[type, ...]] = {
    "threshold": (float, int), "recall": (float, int), "unit": (str,), "width": (int,), "normalization": (str,),
    "fold_case": (bool,), "seed": (int,), "bands": (int,), "rows": (int,), "bits": (int,), "slots": (int,), "radius": (int,),
    "probes": (int,),
}  # fmt: skip


KINDS: dict[str, type[AnyKind]] = {"minhash": MinHashKind, "simhash": SimHashKind}


def make_kind(kind: str, **parameters: Any) -> AnyKind:
    """Return the kind of a name."""
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


def plan_kind(kind: str, **given: Any) -> AnyKind:
    """Return the kind of a name, with all that is left to defaults and to the planner written out."""
    if kind == MinHashKind.name:
        make_kind(kind, **{name: value for name, value in given.items() if name not in PLANNED})  # what is wrong is named first
        given = plan_codes(given)
    return make_kind(kind, **given).resolved()


def read_kind(parameters: dict[str, Any], place: object) -> tuple[AnyKind, int]:
    """Return the kind that an index was made with, and the number of the rules by which its texts became shingles."""
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
