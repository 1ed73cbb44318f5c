"""The options about groups of near-duplicates: which of them stay, and what is counted."""

from dataclasses import dataclass
from typing import Annotated

from .option import WRITE, Flag, MaybeWhole, MaybeWord, Option, Words


@dataclass(frozen=True, kw_only=True)
class GroupOptions:
    """What deduplication takes about groups, and about the values of columns."""

    at_most: Annotated[MaybeWhole, Option(
        doc="How many documents of each group stay: the kept one and the next in keep order, whose reason is ``spared``; "
        "default: the kept one alone.", least=1, recorded="given",
    )] = None  # fmt: skip
    source: Annotated[MaybeWord, Option(
        doc="Column or field that says where a document comes from, for ``counts`` and the report; null is a "
        "source like others. Default: the input file.", recorded="given",
    )] = None  # fmt: skip
    counts: Annotated[Flag, Option(
        doc="Add to each kept row that is written ``n_duplicates`` (the documents removed for it), ``n_exact`` (its "
        "copies among "
        "these) and ``n_sources`` (the sources of it and of those removed by text); with ``annotate`` to all rows. "
        "What is counted is saved with sketches, for ``History.counts``.",
        group=WRITE, recorded="given",
    )] = False  # fmt: skip
    slices: Annotated[Words, Option(
        doc="Columns or fields, whose values divide the documents: what is removed is counted for each value, and a value is "
        "named that loses far more than others.",
        group=WRITE, repeated=True, recorded="given",
    )] = None  # fmt: skip
