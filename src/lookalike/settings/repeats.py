"""The options of jobs that look for repeated text."""

from dataclasses import dataclass
from typing import Annotated

from .option import LINE, Flag, MaybeWhole, Option, Whole, Word
from .options import InputOptions


@dataclass(frozen=True, kw_only=True)
class LinesOptions(InputOptions):
    """What the search for repeated lines takes."""

    unit: Annotated[Word, Option(
        doc="What is compared: lines, which end with a line feed, or paragraphs, which are lines in a row that are not blank.",
        choices=("line", "paragraph"), recorded="always", place=LINE,
    )] = "line"  # fmt: skip
    min_words: Annotated[Whole, Option(
        doc="Leave alone lines, or paragraphs, of fewer words: neither compared nor removed. Words are those of ``Shingling``.",
        place=LINE, least=1, recorded="always", metavar="N",
    )] = 5  # fmt: skip
    drop_over: Annotated[MaybeWhole, Option(
        doc="Remove all occurrences of what occurs more often than this, and keep all of the rest. Default: of each line keep "
        "the first occurrence in input order, and remove later ones, in the same document too.",
        least=1, recorded="always", metavar="N", place=LINE,
    )] = None  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class PassagesOptions(InputOptions):
    """What the search for repeated passages takes."""

    length: Annotated[Whole, Option(
        doc="Words of the shortest passage that is removed. Words are those of ``Shingling``.",
        place=LINE, least=1, most=1 << 20, recorded="always", metavar="N",
    )] = 50  # fmt: skip
    normalization: Annotated[Word, Option(
        doc="Unicode normal form of words before they are compared.", choices=("NFC", "none"), recorded="always",
    )] = "NFC"  # fmt: skip
    fold_case: Annotated[Flag, Option(
        doc="Whether letter case is ignored.", recorded="always",
    )] = True  # fmt: skip
