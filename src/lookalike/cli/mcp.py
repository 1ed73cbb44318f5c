"""``lookalike mcp``."""

from __future__ import annotations

import click

from ..errors import MissingExtraError
from ..settings.options import OPENING
from . import options
from .messages import say


@click.command(cls=options.Command, short_help="Answer programs that speak the Model Context Protocol.")
@click.argument("paths", nargs=-1, metavar="PATH...")
@options.preset
@options.of_jobs("threshold")
@options.of_jobs("recall", help="Probability of finding a document exactly at the threshold.")
@options.of_jobs("text", "id", *OPENING, "unit", "width", "encoding_errors")
@options.trust
def mcp(
    paths: tuple[str, ...], threshold: float, recall: float, text: str, id: str | None, glob: tuple[str, ...] | None,
    format: str | None, delimiter: str | None, query: str | None, on_error: str | None,
    unit: str, width: int | None, encoding_errors: str,
    trust: tuple[str, ...],
) -> None:  # fmt: skip
    """Answer a program that speaks the Model Context Protocol, on standard input and output: for assistants and editors.

    It can compare two texts, find near-duplicates of a text in files, folders or an index, and explain what a saved result
    decided about a document. Nothing is written, and nothing is read but each PATH: files and folders (whose documents are held
    in a temporary index meanwhile), indexes, and results that `lookalike dedup --save` wrote.

    Examples:

    \b
        lookalike mcp corpus/ --preset web
        lookalike mcp seen.index judged/
    """
    try:
        from ..serve.mcp import Shelf
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"{error.name} is not installed: pip install 'lookalike[mcp]'") from None
    from ..formats.split import Columns

    finding = {"threshold": threshold, "recall": recall, "unit": unit, "width": width}
    reading = {"glob": glob, "format": format, "delimiter": delimiter, "query": query, "on_error": on_error}
    shelf = Shelf(paths, reading, Columns(text, id, encoding_errors=encoding_errors), finding, trust)
    say(f"answering on standard input and output: {', '.join([*shelf.indexes, *shelf.results]) or 'two texts'}", err=True)
    shelf.server().run()
