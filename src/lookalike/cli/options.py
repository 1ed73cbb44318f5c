"""Options that several commands share; names and defaults are those of ``lookalike.Settings``."""

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
        from ..formats.registry import names

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


class _Seed(click.ParamType):  # type: ignore[type-arg]
    """A number, or the word for one that the system draws."""

    name = "integer|random"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return a number as int."""
        return value if value == "random" else click.INT.convert(value, param, ctx)


FORMAT = _FormatName()


def apply(*decorators: Any) -> Decorator:
    """Combine options, shown in the order given."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


def _targets(threshold: str, recall: str) -> Decorator:
    """Return the options for the threshold and the recall, with what help says of them."""
    return apply(
        click.option("-t", "--threshold", type=float, default=0.8, show_default=True, help=threshold),
        click.option("--recall", type=float, default=0.99, show_default=True, help=recall),
    )


_RECALL = "Probability of finding a pair exactly at the threshold"
targets = _targets(
    "Minimum resemblance of near-duplicates; with simhash, minimum cosine.",
    f"{_RECALL}. With --verify sketch it is about half of this, with simhash it follows from --radius; the summary states it.",
)
plan_targets = _targets("Minimum resemblance of near-duplicates.", f"{_RECALL}; with --verify sketch it is about half of this.")
index_targets = _targets(
    "Minimum estimate of a match: of the resemblance or, with simhash, the cosine.",
    "Probability of comparing a query with a document exactly at the threshold; about half of these documents are found, since "
    "matches rest on estimates ('index info' states it).",
)

method = apply(
    click.option("--method", type=click.Choice(["minhash", "simhash"]), default="minhash", show_default=True,
                 help="minhash: resemblance of shingle sets; simhash: cosine of shingle counts, quick but far from complete."),
    click.option("--radius", type=int, default=3, show_default=True, help="For simhash: how many of the 64 bits can differ."),
)  # fmt: skip

shingling = apply(
    click.option("--unit", type=click.Choice(["word", "char", "byte", "line"]), default="word", show_default=True,
                 help="What shingles are made of: a shingle is --width tokens of this kind in a row."),
    click.option("--width", type=int, default=None,
                 help="Tokens per shingle.  [default: 5 words, 5 characters, 8 bytes, 1 line]"),
    click.option("--normalization", type=click.Choice(["NFC", "NFKC", "none"]), default="NFC", show_default=True,
                 help="Unicode normal form of texts before they are compared."),
    click.option("--fold-case/--keep-case", default=True, show_default=True,
                 help="Ignore or respect letter case."),
)  # fmt: skip

planning = apply(
    click.option("--permutations", type=int, default=None, help="Slots per signature, which the plan divides into bands."),
    click.option("--bands", type=int, default=None, help="Bands per signature; with --rows, overrides the plan."),
    click.option("--rows", type=int, default=None, help="Slots per band; with --bands, overrides the plan."),
)

seed = click.option("--seed", type=_Seed(), default=1, show_default=True, metavar="NUMBER|random",
                    help="The only source of randomness: a number, or "
                    "'random' for a random one, which is recorded in the outputs.")  # fmt: skip
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
as_json_lines = click.option("--json", "as_json", is_flag=True, help="Print JSON, one line per group or document.")
encoding = click.option("--encoding-errors", type=click.Choice(["strict", "replace"]), default="strict",
                        show_default=True, help="Whether invalid UTF-8 is an error or separates words.")  # fmt: skip

choosing = (
    click.option("--glob", multiple=True, default=None, metavar="PATTERN",
                 callback=lambda context, option, given: given or None,
                 help="Read only matching files in a folder, such as '*.{md,txt}'. Can be repeated."),
    click.option("--format", "format", type=FORMAT, default=None,
                 help="How files are read, whatever their suffix; needed for standard input ('-'). json: an array of objects, "
                 "or objects one after another; txt: a file is a document."),
    click.option("--delimiter", default=None, metavar="CHARACTER",
                 help="What separates the fields of CSV and TSV, such as ';'.  [default: commas in CSV, tabs in TSV]"),
)  # fmt: skip
trust = click.option("--trust", multiple=True, metavar="PATH",
                     help="Folder, file or URL whose texts a saved result, or sketches, of somebody else can name. Can be "
                     "repeated.")  # fmt: skip

reading = apply(
    click.option("--text", default="text", show_default=True,
                 help="Column or field that holds the text; doc.text is the field text inside doc."),
    click.option("--html", is_flag=True, help="Treat texts as HTML and compare their main text (needs the html extra)."),
    click.option("--id", "id", default=None, help="Column or field that holds a unique id.  [default: file:row]"),
    click.option("--within", default=None, metavar="COLUMN", help="Compare only documents with the same value in COLUMN."),
    click.option("--against", multiple=True, metavar="PATH", help="Reference documents: documents "
                 "that resemble them are removed; they are never removed or written themselves. A folder can be one that dedup "
                 "--save-sketches saved. Can be repeated."),
    trust,
    *choosing,
    encoding,
)  # fmt: skip

saving_sketches = click.option("--save-sketches", default=None, metavar="DIR",
                      help="Save sketches of the kept documents to a new folder, for --against of later jobs.")  # fmt: skip

guarding = apply(
    click.option("--max-document", default=None, metavar="SIZE",
                 help="Size of the largest document, such as 30MB; at most, and by default, a tenth of --memory."),
    click.option("--on-error", type=click.Choice(["stop", "skip"]), default="stop", show_default=True,
                 help="What to do with a larger document: stop, or leave it out; skip needs --max-document."),
)  # fmt: skip

overriding = apply(
    click.option("--overrides", default=None, metavar="FILE.jsonl",
                 help="Documents to keep or to remove regardless of the result: lines of id and action, as a report exports."),
    click.option("--fail-if-removed", type=click.FloatRange(0, 1), default=None, metavar="SHARE",
                 help="If more than this share of the documents would be removed, or all documents of an input, exit with "
                 "status 1 and write neither documents nor sketches; --report and --save are written."),
)  # fmt: skip

memory = click.option("--memory", default=None, metavar="SIZE",
                      help="Memory limit for the whole process, such as 4GB. The result does not depend on it.  "
                      "[default: 60% of the free memory]")  # fmt: skip

quiet = click.option("--quiet", is_flag=True, help="Print errors only, and data: JSON (--json), rows (-o -).")

running = apply(
    seed,
    click.option("--threads", type=click.IntRange(1), default=None,
                 help="The result does not depend on it.  [default: all processors]"),
    memory,
    quiet,
    as_json,
)  # fmt: skip

pausing = apply(
    click.option("--work", default=None, metavar="DIR",
                 help="Folder for a long job's state, so that it can resume after a crash; emptied at the end.  "
                 "[default: a temporary one, if the memory is too small]"),
    click.option("--resume", is_flag=True, help="Resume the job in --work."),
)  # fmt: skip

reporting = apply(
    click.option("--report", default=None, metavar="PAGE.html",
                 help="Write a page that shows what was found and why: one HTML file (needs the report extra)."),
    click.option("--report-texts", type=click.Choice(["full", "none", "hash"]), default="full", show_default=True,
                 help="Whether the page shows texts; hash: a keyed hash in place of each word."),
)  # fmt: skip
saving = click.option("--save", default=None, metavar="DIR",
                      help="Save the decisions and the reasons to a folder, for groups, show and serve.")  # fmt: skip
audit = click.option("--audit", type=click.IntRange(1), default=None, metavar="N",
                     help="Compare N kept documents, drawn at random, with all others, to measure the recall.")  # fmt: skip

writing = apply(
    click.option("-o", "--output", default=None, metavar="PATH",
                 help="Output: one file if its name ends in .parquet, or in .jsonl, .json, .csv or .tsv (also .gz, .zst, .bz2, "
                 ".xz); a folder if it ends in / or has no suffix; - for JSON lines on standard output."),
    click.option("--force", is_flag=True, help="Replace an existing output."),
)  # fmt: skip

engines = apply(
    click.option("--engine", default=None, metavar="NAME",
                 help="What runs the job: local (this machine), spark (a cluster; needs the spark extra; --memory is for each "
                 "task, by default 1500MB), or an engine that another package adds. The result does not depend on it.  "
                 "[default: local]"),
    click.option("--master", default=None, metavar="URL",
                 help="For spark: where it runs, such as spark://HOST:7077 or local[4].  [default: Spark's own configuration]"),
    click.option("--conf", multiple=True, metavar="NAME=VALUE",
                 help="For spark: one of its settings, such as spark.executor.memory=4g. Can be repeated."),
    click.option("--dry-run", is_flag=True,
                 help="Read metadata and the beginnings of files only, and print the steps and what they will take."),
    click.option("--duplicates", type=click.FloatRange(0, 1), default=0.3, show_default=True,
                 help="For --dry-run: share of documents that have a near-duplicate."),
    click.option("--family", type=click.FloatRange(2), default=3.0, show_default=True,
                 help="For --dry-run: average number of documents in a group of near-duplicates."),
)  # fmt: skip
