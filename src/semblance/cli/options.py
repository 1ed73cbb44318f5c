"""Options that several commands share; names and defaults are those of ``semblance.Settings``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


class _FormatName(click.ParamType):  # type: ignore[type-arg]  # generic from 8.3 on only
    """One of the formats that there are, which are looked up when it is needed: other packages may add some."""

    name = "format"

    @property
    def _choice(self) -> click.Choice[str]:
        from ..formats._registry import names

        return click.Choice(names())

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Refuse a format that is not known."""
        return self._choice.convert(value, param, ctx)

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str | None:
        """Return the names, as help shows them."""
        return self._choice.get_metavar(param, ctx)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Complete a name."""
        return self._choice.shell_complete(ctx, param, incomplete)


FORMAT = _FormatName()


def apply(*decorators: Any) -> Decorator:
    """Combine options, shown in the order given."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


targets = apply(
    click.option("-t", "--threshold", type=float, default=0.8, show_default=True,
                 help="Resemblance from which two documents are near-duplicates."),
    click.option("--recall", type=float, default=0.99, show_default=True,
                 help="Probability with which a pair at the threshold is found."),
)  # fmt: skip

method = apply(
    click.option("--method", type=click.Choice(["minhash", "simhash"]), default="minhash", show_default=True,
                 help="Resemblance of shingle sets, or cosine of feature counts."),
    click.option("--radius", type=int, default=3, show_default=True, help="For simhash: bits of 64 that may differ."),
)  # fmt: skip

shingling = apply(
    click.option("--unit", type=click.Choice(["word", "char", "byte", "line"]), default="word", show_default=True,
                 help="What shingles are made of."),
    click.option("--width", type=int, default=None,
                 help="Units in a shingle.  [default: 5 words, 5 characters, 8 bytes, 1 line]"),
    click.option("--normalization", type=click.Choice(["NFC", "NFKC", "none"]), default="NFC", show_default=True,
                 help="Unicode normal form."),
    click.option("--fold-case/--keep-case", default=True, show_default=True,
                 help="Whether letters that differ in case only are the same."),
)  # fmt: skip

planning = apply(
    click.option("--permutations", type=int, default=None, help="Slots of a signature, in place of the planner's."),
    click.option("--bands", type=int, default=None, help="With --rows: in place of the planner's choice."),
    click.option("--rows", type=int, default=None, help="With --bands: in place of the planner's choice."),
)

seed = click.option("--seed", type=int, default=1, show_default=True, help="The only source of randomness.")
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
encoding = click.option("--encoding-errors", type=click.Choice(["strict", "replace"]), default="strict",
                        show_default=True, help="Whether invalid UTF-8 is an error, or separates words.")  # fmt: skip

reading = apply(
    click.option("--text", default="text", show_default=True, help="Column or field that holds the text."),
    click.option("--html", is_flag=True, help="The texts are web pages: compare their main text."),
    click.option("--id", "id", default=None, help="Column or field that holds a unique id.  [default: file:row]"),
    click.option("--within", default=None, metavar="COLUMN", help="Compare only documents with equal values there."),
    click.option("--against", multiple=True, metavar="PATH", help="Reference documents: never removed, never written. "
                 "May be repeated."),
    click.option("--glob", default=None, metavar="PATTERN", help="Which files of a folder are read."),
    click.option("--format", "format", type=FORMAT, default=None,
                 help="In place of what the suffix says; needed for standard input ('-')."),
    encoding,
)  # fmt: skip

running = apply(
    seed,
    click.option("--threads", type=click.IntRange(1), default=None,
                 help="The result does not depend on it.  [default: all processors]"),
    click.option("--memory", default=None, metavar="SIZE",
                 help="Most that the whole process may use, such as 4GB. The result does not depend on it.  "
                 "[default: 60 % of what is free]"),
    click.option("--quiet", is_flag=True, help="Print nothing but errors; with --json, the JSON."),
    as_json,
)  # fmt: skip

pausing = apply(
    click.option("--work", default=None, metavar="DIR",
                 help="Folder for what a long job knows, so that it can go on after a crash; emptied in the end.  "
                 "[default: a temporary one, where the memory does not suffice]"),
    click.option("--resume", is_flag=True, help="Go on with the job that --work holds."),
)  # fmt: skip

writing = apply(
    click.option("-o", "--output", default=None, metavar="PATH",
                 help="A name ending in .jsonl, .jsonl.gz, .jsonl.zst, .parquet or .csv is one file."),
    click.option("--force", is_flag=True, help="Replace an existing output."),
)  # fmt: skip
