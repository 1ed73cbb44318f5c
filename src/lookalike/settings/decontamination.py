"""The options of a decontamination, each once: see ``options``."""

from dataclasses import dataclass, field
from typing import Annotated, Any

from ..choices import ContainmentMeasure
from .option import LINE, PYTHON, READ, Kind, MaybeNumber, MaybeWhole, MaybeWord, Option, Words
from .options import TextOptions


@dataclass(frozen=True, kw_only=True)
class DecontaminationOptions(TextOptions):
    """What the search for documents that contain others takes."""

    against: Annotated[Any, Option(
        doc="The reference documents, like the data; they are held in memory as shingles, while the data are read once.",
        group=READ, range="like data", repeats=False, place=PYTHON,
    )] = field(repr=False, compare=False)  # fmt: skip
    against_text: Annotated[Words, Option(
        doc="Column or field of ``against`` that holds the text. Of several, such as ``[\"question\", \"choices\", "
        "\"answer\"]``, the first decides what matches; the others, strings or lists of strings, are looked for in the "
        "documents that match. Default: ``text``.",
        help="Column or field of the reference documents that holds the text; of several, the first decides what matches.",
        group=READ, metavar="COLUMN", repeated=True, place=LINE,
    )] = None  # fmt: skip
    against_id: Annotated[MaybeWord, Option(
        doc="Column or field of ``against`` that holds a unique id; default: the one that ``id`` names, or none if ``against`` "
        "has no columns. The empty string means none: reference documents are then named by file and row.",
        group=READ, metavar="COLUMN", place=LINE,
    )] = None  # fmt: skip
    benchmark: Annotated[MaybeWord, Option(
        doc="Column or field of ``against`` that names an item's benchmark; default: each input is one.",
        group=READ, metavar="COLUMN", place=LINE,
    )] = None  # fmt: skip
    measure: Annotated[ContainmentMeasure, Kind("str or tuple", str, "a str"), Option(
        doc='What matches: containment, resemblance, or ngram:N (N tokens in a row in common; also ``("ngram", 13)``). '
        "Containment: the "
        "share of the reference document's (or passage's) shingles that the document has, "
        "too, reaches the threshold, so that a test question inside a long page is found. Resemblance, the number of shingles "
        "in common divided by the number in the union, finds only documents of about the same length.",
        help="containment: shared shingles divided by the shingles of the reference document; resemblance: divided by the "
        "shingles in the union; ngram:N, such as ngram:13: N words in a row in common.",
        range='"containment", "resemblance" or "ngram:N"', metavar="NAME", place=LINE,
    )] = "containment"  # fmt: skip
    threshold: Annotated[MaybeNumber, Option(
        doc="Minimum of the measure, if that is containment or resemblance; default: 0.8.",
        place=LINE, range="float in (0, 1]", spelled=("-t", "--threshold"),
    )] = None  # fmt: skip
    min_tokens: Annotated[MaybeWhole, Option(
        doc="Reference documents of fewer tokens are too short to judge; default: 4 words, or ``width`` if that is less; for "
        "other units, ``width``; for resemblance, 1. Those shorter than a shingle are looked for as a whole: all their tokens "
        "in a row.", least=1, metavar="N", place=LINE,
    )] = None  # fmt: skip
    common: Annotated[MaybeWhole, Option(
        doc="A shingle that more than this many documents have, apart from longer matches, is common, and no evidence; "
        "default: 10, or a thousandth of the documents if that is more. Resemblance ignores it.",
        least=1, metavar="N", place=LINE,
    )] = None  # fmt: skip
    passage: Annotated[MaybeWhole, Option(
        doc="Cut reference documents into passages of this many shingles, each half in the next, and match these.",
        least=1, metavar="N", place=LINE,
    )] = None  # fmt: skip
