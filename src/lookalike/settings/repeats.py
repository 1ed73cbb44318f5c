"""The options of a job that looks for repeated text."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from ..choices import RepeatsUnit
from ..errors import ParameterError
from .option import LINE, MaybeFlag, MaybeWhole, Option
from .options import InputOptions

LINES: dict[str, Any] = {"min_words": 5, "drop_over": None}
PASSAGES: dict[str, Any] = {"length": 50, "normalization": "NFC", "fold_case": True}
"""What is for lines and paragraphs only, or for passages only, with the usual values."""


@dataclass(frozen=True, kw_only=True)
class RepeatsOptions(InputOptions):
    """What the search for repeated text takes."""

    unit: Annotated[RepeatsUnit, Option(
        doc='"line": what ends with a line feed. "paragraph": lines in a row that are not blank. "passage": at least '
        "``length`` words in a row.",
        help="Remove repeated lines, paragraphs (blocks separated by blank lines) or passages of --length words or more.",
        recorded="always", place=LINE,
    )] = "line"  # fmt: skip
    min_words: Annotated[MaybeWhole, Option(
        doc="Lines and paragraphs of fewer words are kept; default: 5. Words are those of ``Shingling``.",
        least=1, recorded="given", metavar="N", place=LINE,
    )] = None  # fmt: skip
    drop_over: Annotated[MaybeWhole, Option(
        doc="Remove only lines and paragraphs that occur more often than this, the first occurrence included; default: all but "
        "the first occurrence of each, in input order, also in one document.",
        least=1, recorded="always", metavar="N", place=LINE,
    )] = None  # fmt: skip
    length: Annotated[MaybeWhole, Option(
        doc="Minimum length of a passage in words; default: 50.",
        least=1, most=1 << 20, recorded="given", metavar="N", place=LINE,
    )] = None  # fmt: skip
    normalization: Annotated[Literal["NFC", "none"] | None, Option(
        doc="Unicode normal form in which passages are compared; default: NFC.",
        recorded="given",
    )] = None  # fmt: skip
    fold_case: Annotated[MaybeFlag, Option(
        doc="Ignore letter case in passages; default: True.",
        recorded="given",
    )] = None  # fmt: skip


def check_unit(unit: str, given: dict[str, Any]) -> None:
    """Refuse what was given for other units."""
    for name, value in given.items():
        if value is not None and (name in LINES) == (unit == "passage"):
            units = [f'--unit {one} (unit="{one}")' for one in (("line", "paragraph") if name in LINES else ("passage",))]
            raise ParameterError(
                f'--{name.replace("_", "-")} ({name}) is for {" and ".join(units)}, not for --unit {unit} (unit="{unit}")'
            )
