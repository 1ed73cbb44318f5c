"""``semblance compare``."""

from __future__ import annotations

import json
from typing import Any

import click

from . import options


@click.command(short_help="Compare two text files.")
@click.argument("left", type=click.Path())
@click.argument("right", type=click.Path())
@click.option("--permutations", type=int, default=1024, show_default=True, help="Slots of the signatures.")
@options.shingling
@options.encoding
@options.seed
@options.as_json
def compare(left: str, right: str, permutations: int, encoding_errors: str, seed: int, as_json: bool,
            **shingling: Any) -> None:  # fmt: skip
    """Compare two text files: exact and estimated resemblance, containment, Hamming distance."""
    from pathlib import Path

    from ..io.sources import Columns, open_sources
    from ..pipeline.compare import compare_texts

    texts = []
    for path in (left, right):
        (source,) = open_sources([Path(path)], format="txt")
        (batch,) = source.batches(Columns(encoding_errors=encoding_errors))
        texts.append(batch.texts.row(0))
    found = compare_texts(*texts, permutations=permutations, seed=seed, encoding_errors=encoding_errors, **shingling)
    if as_json:
        click.echo(json.dumps({"left": left, "right": right} | found))
        return
    rows = (
        ("shingles", f"{found['shingles_left']:,} and {found['shingles_right']:,}"),
        ("resemblance", _exact(found["resemblance"])),
        ("  estimated", f"{found['estimated_resemblance']:.4f} ± {found['standard_error']:.4f} "
                        f"({permutations} permutations)" if found["estimated_resemblance"] is not None else "undefined"),
        ("containment of left in right", _exact(found["containment_left"])),
        ("containment of right in left", _exact(found["containment_right"])),
        ("Hamming distance of the sets", f"{found['hamming_distance']:,}"),
        ("  estimated", f"{found['estimated_hamming_distance']:,.1f}"
         if found["estimated_hamming_distance"] is not None else "undefined"),
    )  # fmt: skip
    for name, value in rows:
        click.echo(f"{name:<30}{value}")


def _exact(value: float | None) -> str:
    return "undefined: a text without tokens" if value is None else f"{value:.4f}"
