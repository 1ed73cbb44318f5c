"""Two texts side by side."""

from __future__ import annotations

import os
from typing import Any

from ..choices import EncodingErrors, Normalization, Unit
from ..sketches.minhash import FastSimilarity
from ..text.hashes import shingle
from ..text.shingle import Tokenizer
from ..theory import set_distance


def compare_texts(
    left: str | bytes,
    right: str | bytes,
    *,
    permutations: int = 1024,
    seed: int = 1,
    unit: Unit = "word",
    width: int | None = None,
    normalization: Normalization = "NFC",
    fold_case: bool = True,
    tokenizer: Tokenizer | None = None,
    encoding_errors: EncodingErrors = "strict",
) -> dict[str, Any]:
    """Compare two texts exactly and by their signatures.

    Notes
    -----
    Exact figures are those of hashes under a key that is drawn for the call, which nobody can write texts for; estimates are by
    the hashes that signatures are always made of.
    """
    how: dict[str, Any] = {"unit": unit, "width": width, "normalization": normalization, "fold_case": fold_case,
                           "tokenizer": tokenizer, "encoding_errors": encoding_errors}  # fmt: skip
    shingles = shingle([left, right], **how, key=os.urandom(32))
    sizes = shingles.sizes.tolist()
    both = min(sizes) > 0
    resemblance = shingles.resemblance(0, 1) if max(sizes) > 0 else None
    common = round(shingles.containment(0, 1) * sizes[0]) if sizes[0] else 0
    estimate: tuple[float | None, float | None] = (None, None)
    if both:
        signatures = FastSimilarity(permutations=permutations, seed=seed).sign(shingle([left, right], **how))
        estimate = signatures.estimated_resemblance(0, 1, with_error=True)
    return {
        "shingles_left": sizes[0],
        "shingles_right": sizes[1],
        "resemblance": resemblance,
        "estimated_resemblance": estimate[0],
        "standard_error": estimate[1],
        "containment_left": shingles.containment(0, 1) if sizes[0] else None,
        "containment_right": shingles.containment(1, 0) if sizes[1] else None,
        "hamming_distance": sizes[0] + sizes[1] - 2 * common,
        "estimated_hamming_distance": (None if estimate[0] is None else float(set_distance.distance(estimate[0], *sizes))),
    }
