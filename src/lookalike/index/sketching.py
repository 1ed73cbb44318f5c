"""From texts to the sketches of an index, and whether this version makes the same of a text as the one that made the index."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..errors import IncompatibleSketchError, ParameterError
from ..kernels._threads import in_order
from ..text.texts import PIECE_BYTES, Texts, as_texts, from_strings
from .kind import Sketches
from .kinds import AnyKind


def sketch_texts(kind: AnyKind, given: Any, threads: int, asking: bool) -> tuple[Sketches, list[Texts] | None]:
    """Return the sketches of texts, and the texts, which are gone through once; sketches are returned as they are.

    ``asking``: they are to be looked up, too.
    """
    if threads < 1:
        raise ParameterError(f"threads must be at least 1; got {threads}")
    if isinstance(given, Sketches):
        if given.kind != kind:
            raise IncompatibleSketchError(f"this index was made with {kind}; the sketches with {given.kind}")
        return given, None

    def work(piece: Texts) -> Sketches:
        return kind.sketch(*kind.shingling.hashes(piece), asking)

    texts = as_texts(given)
    if len(texts) == 1 and texts[0].n_bytes <= PIECE_BYTES:
        return work(texts[0]), texts
    pieces = (some.slice(*bounds) for some in texts for bounds in some.cut())
    parts = list(in_order(work, pieces, threads)) or [work(from_strings([]))]
    keys, codes, empty = (np.concatenate([getattr(p, name) for p in parts]) for name in ("keys", "codes", "empty"))
    margins = [part.margins for part in parts if part.margins is not None]
    return Sketches(keys, codes, empty, kind, np.concatenate(margins) if margins else None), texts


def check_rules(path: Path, kind: AnyKind, rules: int, keep_text: bool) -> None:
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
        f"{newest}, by which some texts have other shingles, and would not be found. To add or look up documents, {way}; "
        f"lookalike index info {path} shows the options"
    )
