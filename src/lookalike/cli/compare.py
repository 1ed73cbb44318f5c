"""``lookalike compare``."""

from __future__ import annotations

import json
import os
from typing import Any

import click

from . import options
from .messages import echo

FEW = 5  # shingles, of which one that differs is a fifth of the resemblance or more


@click.command(cls=options.Plain, short_help="Compare two documents, each in its own file.")
@click.argument("left", type=click.Path())
@click.argument("right", type=click.Path())
@click.option("--permutations", type=int, default=1024, show_default=True, help="Number of slots per signature.")
@options.shingling
@options.encoding
@options.of_jobs("html", "boilerplate")
@click.option("--seed", type=int, default=1, show_default=True, help="The only source of randomness.")
@click.option("--diff", is_flag=True, help="Show which words differ, in colors on a terminal, side by side if it is wide.")
@options.as_json
def compare(left: str, right: str, diff: bool, as_json: bool, html: bool, boilerplate: bool, **given: Any) -> None:
    """Compare two documents, each in its own file: exact and estimated resemblance, containment, Hamming distance.

    Files are read as dedup reads them: web pages, PDF, DOCX and others by their text. A file without a known suffix is text.
    """

    from ..errors import ParameterError
    from ..recipes.compare import compare_texts
    from ..text.shingle import Shingling
    from ..wording import plural

    if left == right == "-":
        raise ParameterError("standard input ('-') can be one of the two files, not both")
    if diff and as_json:
        raise ParameterError("--diff is for people; leave out --json, or --diff")
    pages = ("all" if boilerplate else "main") if html else ""
    texts = [
        _text_of(path, f"lookalike pairs {left} --against {right}", given["encoding_errors"], pages, boilerplate)
        for path in (left, right)
    ]
    compared = compare_texts(*texts, **given)
    if as_json:
        click.echo(json.dumps({"left": left, "right": right} | compared))
        return
    estimate, distance = compared["estimated_resemblance"], compared["estimated_hamming_distance"]
    rows = (
        ("shingles", f"{compared['shingles_left']:,} and {compared['shingles_right']:,}"),
        ("resemblance", _exact(compared["resemblance"])),
        ("  estimated", "undefined" if estimate is None else
         f"{estimate:.4f} ± {compared['standard_error']:.4f} ({given['permutations']} permutations)"),
        ("containment of left in right", _exact(compared["containment_left"])),
        ("containment of right in left", _exact(compared["containment_right"])),
        ("Hamming distance of the sets", f"{compared['hamming_distance']:,}"),
        ("  estimated", "undefined" if distance is None else f"{distance:,.1f}"),
    )  # fmt: skip
    for name, value in rows:
        echo(f"{name:<30}{value}")
    how = Shingling(**{name: given[name] for name in ("unit", "width", "normalization", "fold_case")})
    for path, n in ((left, compared["shingles_left"]), (right, compared["shingles_right"])):
        if 0 < n < FEW:
            tokens = plural(how.width or 1, {"char": "character"}.get(how.unit, how.unit))
            echo(
                f"{path} has only {plural(n, 'shingle')} of {tokens}; use a smaller --width, or --unit char, for a finer score",
                err=True,
            )
    if diff:
        from .word_diff import say_diff

        echo("")
        say_diff(texts[0], texts[1], (left, right), how)


def _text_of(path: str, instead: str, encoding_errors: str, pages: str, boilerplate: bool) -> bytes:
    """Read a file as a job reads it that finds near-duplicates."""
    from dataclasses import replace

    from ..errors import InputDataError, ParameterError
    from ..files.names import ARCHIVES, suffix_of, way_to_text
    from ..formats.registry import format_named, names_by_suffix
    from ..formats.sources import open_sources
    from ..formats.split import Columns
    from ..inputs.read import read_batches

    known = names_by_suffix()
    suffix = suffix_of(path, known)
    if suffix is not None and not format_named(known[suffix]).rows_are_files:
        raise ParameterError(
            f"{path} holds documents, as {suffix} files do: compare takes two texts, each in its own file. To compare "
            f"the documents with each other, run: lookalike pairs {path}; to compare it as one text, copy it to a .txt file"
        )
    last = os.path.splitext(path)[1].lower()
    named = suffix is not None or suffix_of(path, ARCHIVES) is not None or way_to_text([last]) is not None
    found = [] if os.path.isdir(path) else open_sources([path], format=None if named else "txt")
    if len(found) != 1 or len(found[0].places) != 1 or not found[0].form.rows_are_files:
        raise ParameterError(
            f"{path} is {'several files' if found else 'a folder'}: compare takes two files with one document each; to compare "
            f"each document of a folder with each of another, run: {instead}"
        )
    split = replace(found[0], form=found[0].form.with_boilerplate()) if boilerplate else found[0]
    (batch,) = read_batches(split, Columns(encoding_errors=encoding_errors), pages)
    for why in batch.unreadable.values():
        raise InputDataError(why, path)
    return batch.texts.row(0)


def _exact(value: float | None) -> str:
    return "undefined: a text without tokens" if value is None else f"{value:.4f}"
