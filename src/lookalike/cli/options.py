"""Options of the command line: those of jobs, made of their definitions in ``settings``, and those of commands only."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from typing import TYPE_CHECKING, Any, get_args

import click

from ..choices import Measure, ReportTexts
from ..errors import ParameterError
from ..settings.option import FIND, GROUPS, KEY, LINE, PYTHON, RUN, WRITE, OptionField, entries
from ..settings.options import OPENING, DedupOptions, SearchOptions
from ..wording import meant, speak_of_keys
from .config import PRESETS, commands_of, configured, in_force

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


class _FormatName(click.types.StringParamType):
    """The name of a format, of which there are those that other packages add; a colon, and a detail, may follow it."""

    name = "name"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Complete a name."""
        from ..formats.registry import names

        return Choice(names()).shell_complete(ctx, param, incomplete)


class _Seed(click.ParamType):  # type: ignore[type-arg]
    """A number, or the word for one that the system draws."""

    name = "integer|random"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return a number as int."""
        return value if value == "random" else click.INT.convert(value, param, ctx)


class Whole(click.IntRange):
    """An integer within limits."""

    name = "integer"


class Number(click.types.FloatParamType):
    """A number; of a percentage, the message names the share."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Say how a percentage is written."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            text = str(value).removesuffix("%")
            if text != value and re.fullmatch(r"\d+(\.\d*)?", text):
                self.fail(f"{value!r} is not a number: write {float(text) / 100:g}", param, ctx)
            raise error


class Range(Number, click.FloatRange):
    """A number within limits."""


class Choice(click.Choice[str]):
    """One of some words."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Say which word was probably meant."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            self.fail(f"{error.message.removesuffix('.')}{meant(value, self.choices)}", param, ctx)


FIRST = "Common options"
COMMON_OPTIONS = ("threshold", "recall", "output", "text", "id", "keep", "against", "within", "report", "memory")
_PATHS = ("PATH", "DIR", "FILE", "FILE.jsonl", "PAGE.html")  # what help calls files and folders
_CONFIG: tuple[tuple[str, dict[str, Any], str], ...] = (
    (
        "--config",
        {"metavar": "FILE"},
        "Read settings from a file, or from the record of a job to repeat it.  [default: lookalike.toml]",
    ),
    ("--set", {"metavar": "KEY=VALUE", "multiple": True}, "Set one of the settings below. Can be repeated."),
    ("--print-config", {"is_flag": True}, "Print the settings in force, and what they mean, as a file for --config."),
)
_TYPES = {"format": _FormatName(), "seed": _Seed()}


class Grouped(click.Option):
    """An option that help shows in a group, or a key, which only files and --set have."""

    def __init__(self, *names: Any, group: str = RUN, **more: Any) -> None:
        super().__init__(*names, **more)
        self.group = group

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Add it, unless it is a key."""
        if not self.hidden:
            super().add_to_parser(parser, ctx)


class Plain(click.Command):
    """A command whose options can be given once, but for those of several values; some settings can be keys."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.keys = [str(one.name) for one in self.params if isinstance(one, Grouped) and one.hidden]
        for name, how, said in _CONFIG if self.keys else ():
            self.params.append(Grouped([name], expose_value=False, help=said, **how))

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Name the settings that are keys, and say where more is."""
        if self.keys:
            with formatter.section("Other settings, for lookalike.toml and --set"):
                formatter.write_text(f"{', '.join(sorted(self.keys))}.")
            with formatter.indentation():
                formatter.write_text("--print-config describes them; more in docs/reference/config.md.")

    headings: tuple[str, ...] = ()
    first: tuple[str, ...] = ()

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuse an option that is given twice, or as both of what it can be: the last would count, and the first be lost.

        And an empty path, as an unset variable of the shell makes it: it does not mean the current folder.
        """
        everywhere = {name for one in commands_of(ctx.find_root().command) for name in getattr(one, "keys", ())}
        own = {one.name for one in self.params} - set(self.keys)
        speak_of_keys(everywhere - own)
        try:
            values, _, order = self.make_parser(ctx).parse_args(args=list(args))
        except click.NoSuchOption as error:
            name = error.option_name.lstrip("-").replace("-", "_")
            if name not in self.keys:
                raise
            raise click.UsageError(f"{error.option_name} is not an option, but a key: --set {name}=VALUE", ctx) from None
        if self.keys and not ctx.resilient_parsing:
            ctx.meta["set"] = {one.partition("=")[0] for one in values.get("set") or ()}
            ctx.default_map = configured(ctx, values)
            if values.get("print_config"):
                click.echo(in_force(ctx, values))
                ctx.exit()
        for option in order:
            given = values.get(option.name)
            is_path = isinstance(option, click.Argument) or option.metavar in _PATHS
            if is_path and "" in (given if isinstance(given, list | tuple) else [given]) and not ctx.resilient_parsing:
                name = option.opts[-1] if isinstance(option, click.Option) else option.human_readable_name.rstrip(".")
                raise click.UsageError(f"{name} is empty: give it a value", ctx)
            if not isinstance(option, click.Option) or option.multiple or (option.is_flag and not option.secondary_opts):
                continue
            if order.count(option) > 1 and not ctx.resilient_parsing:
                names = " / ".join([*option.opts, *option.secondary_opts])
                raise click.UsageError(f"{names} is given {order.count(option)} times, but takes one value", ctx)
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options under their headings, those that matter most first."""
        found: dict[str, list[tuple[str, str]]] = {heading: [] for heading in self.headings}
        own = {option.name: option for option in self.get_params(ctx) if isinstance(option, click.Option)}
        for name in dict.fromkeys([*(name for name in self.first if name in own), *own]):
            record = own[name].get_help_record(ctx)
            if record is not None:
                found.setdefault(FIRST if name in self.first else getattr(own[name], "group", RUN), []).append(record)
        if not self.headings:
            found["Options"] = found.pop(RUN)
        for heading, records in found.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records, col_max=24)


def was_given(name: str) -> bool:
    """Tell whether an option, or a key, was given on the command line."""
    context = click.get_current_context()
    return name in context.meta.get("set", ()) or context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE


def refuse(reason: str, *which: str) -> None:
    """Refuse an option, or a key, that was given on the command line, by its name or its group."""
    for option in click.get_current_context().command.params:
        name = str(option.name)
        if {name, getattr(option, "group", RUN)} & {*which} and was_given(name):
            raise ParameterError(f"{option.opts[-1]} ({name}) {reason}")


class Group(click.Group):
    """A group of such commands."""

    command_class = Plain


class Command(Plain):
    """A command of a job: help shows its options in groups."""

    headings, first = (FIRST, *GROUPS), COMMON_OPTIONS

    def invoke(self, ctx: click.Context) -> Any:
        """Run it, unless a size was given in two words, of which the second is not the name of an input."""
        number = str(ctx.params.get("memory"))
        for unit in ctx.params.get("inputs", ()) if number[-1:].isdigit() else ():
            if re.fullmatch("[KMGT]i?B?|B", unit, re.IGNORECASE) and not os.path.exists(unit):
                raise click.UsageError(f"--memory {number} {unit}: a size is one word: --memory {number}{unit}", ctx)
        return super().invoke(ctx)


def own(*names: str, group: str = WRITE, **more: Any) -> Decorator:
    """Return an option that only commands have."""
    return click.option(*names, cls=Grouped, group=group, **more)


def of_index_query(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of containment; the command takes ``inside``, the least containment, None for the sketches."""

    @wraps(command)
    def checked(*, measure: str, threshold: float | None, **given: Any) -> Any:
        if measure == "resemblance":
            refuse("is for --measure containment; the index fixes the minimum resemblance", "threshold")
        else:
            refuse("is for a search by sketches; containment searches all texts: use --top 1", "first")
        inside = None if measure == "resemblance" else 0.9 if threshold is None else threshold
        return command(inside=inside, **given)

    return apply(
        click.option("--measure", type=Choice(get_args(Measure)), default="resemblance", show_default=True,
                     help="Containment: stored documents that contain most of a query's shingles. Scans all stored "
                          "texts; exact."),
        click.option("-t", "--threshold", type=Number(), default=None, help="Minimum containment.  [default: 0.9]"),
    )(checked)  # fmt: skip


def apply(*decorators: Any) -> Decorator:
    """Combine options, shown in the order given."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


def under(group: str, *decorators: Any) -> Decorator:
    """Combine options that help shows under one heading."""

    def decorate(function: Any) -> Any:
        before = len(getattr(function, "__click_params__", ()))
        made: Any = apply(*decorators)(function)
        for option in made.__click_params__[before:]:
            option.group = group
        return made

    return decorate


def _option(entry: OptionField, place: str, help: str | None = None) -> Decorator:
    """Return an option of the command line, or a key, as an option of a job says it is."""
    option, name = entry.option, entry.name
    flags = option.spelled or (f"--{name.replace('_', '-')}",)
    more: dict[str, Any] = {"help": help or option.help_text, "default": entry.default, "cls": Grouped, "group": option.group,
                            "hidden": place == KEY}  # fmt: skip
    if option.metavar is not None:
        more["metavar"] = option.metavar
    words = entry.words
    if option.repeated:
        more |= {"multiple": True, "default": None, "callback": lambda context, of, given: given or entry.default}
    elif entry.type in (bool, bool | None):
        more |= {"is_flag": True, "show_default": len(option.spelled) > 0 and entry.default is not None}
    else:
        least, integers = option.least, entry.type in (int, int | None)
        kind: Any = Number() if entry.type in (float, float | None) else str
        kind = (Whole(least, option.most) if least is not None else click.INT) if integers else kind
        more |= {
            "type": _TYPES.get(name) or (Choice(words) if words else kind),
            "show_default": entry.default is not None,
        }
    return click.option(*flags, name, **more)


def of_jobs(*names: str, help: str | None = None, place: str | None = None) -> Decorator:
    """Return options of jobs by their names; ``help`` and ``place`` say something else of them."""
    known = entries(DedupOptions) | entries(SearchOptions)
    return apply(*(_option(known[name], place or (LINE if help else known[name].option.place), help) for name in names))


def of_job(options: type, *without: str) -> Decorator:
    """Return the options and keys of a class, but for some."""
    found = [entry for entry in entries(options).values() if entry.option.place != PYTHON and entry.name not in without]
    return apply(*(_option(entry, entry.option.place) for entry in found))


index_targets = apply(
    of_jobs("threshold", help="Minimum resemblance of a match; with simhash, minimum estimated cosine."),
    of_jobs("recall", help="Probability of finding a document exactly at the threshold; to reach it, estimates "
                           "somewhat below the threshold match too. With simhash it follows from --radius; 'index "
                           "info' states it."),
)  # fmt: skip
shingling = of_jobs("unit", "width", "normalization", "fold_case")
choosing = (of_jobs(*OPENING),)
encoding = of_jobs("encoding_errors")
limit_options = of_jobs("max_document")
seed, memory = of_jobs("seed"), of_jobs("memory")
trust = of_jobs("trust", help="File, folder or URL to read texts from, for folders that others saved. Can be repeated.")


preset = own(
    "--preset", group=FIND, metavar="NAME", expose_value=False,
    help=f"Settings for a kind of text: {', '.join(PRESETS)}, or a section [preset.NAME] of lookalike.toml.",
)  # fmt: skip
as_json = own("--json", "as_json", group=RUN, is_flag=True, help="Print JSON.")
as_json_lines = own("--json", "as_json", group=RUN, is_flag=True, help="Print JSON, one object per line.")
quiet = own("--quiet", group=RUN, is_flag=True, help="Print only errors and requested data (--json, -o -).")
writing = apply(
    own("-o", "--output", default=None, metavar="PATH",
        help="Output: a file, such as clean.parquet or clean.jsonl.gz; a folder if it ends in / or has no suffix; - for JSON "
        "lines on standard output."),
    own("--force", is_flag=True, help="Replace an existing output."),
)  # fmt: skip
reporting = apply(
    own("--report", default=None, metavar="PAGE.html",
        help="Write a page that shows what was found and why (needs the report extra)."),
    own("--report-texts", hidden=True, type=Choice(get_args(ReportTexts)), default="full", show_default=True,
        help="Show texts on the page or not; hash: a keyed hash instead of each word."),
)  # fmt: skip
on_a_cluster = apply(
    own("--master", hidden=True, group=RUN, default=None, metavar="URL",
        help="For spark: its master, such as spark://HOST:7077 or local[4].  [default: Spark's own configuration]"),
    own("--conf", hidden=True, group=RUN, multiple=True, metavar="NAME=VALUE",
        help="For spark: one of its settings, such as spark.executor.memory=4g. Can be repeated."),
)  # fmt: skip


def engine_of(
    engine: str | None, master: str | None, conf: tuple[str, ...], threads: int | None
) -> AbstractContextManager[Any]:
    """Give the engine of a job: a name, or what starts a session of Spark, which ends with the job."""
    if engine == "spark":
        from .spark import check_options, running

        return running(master, check_options(threads, conf))
    if master is not None or conf:
        raise ParameterError("master and conf are for --engine spark")
    return nullcontext(engine)


def check_apart(output: str | None, other: str | None, option: str) -> None:
    """Refuse one file as both outputs of a job."""
    if output is not None and other is not None and os.path.realpath(output) == os.path.realpath(other):
        raise ParameterError(f"-o and {option} name the same file, {output}: give each its own")


def as_files(given: dict[str, Any]) -> tuple[str, ...]:
    """Let options that take data name files, and return references as they are named."""
    from ..formats.sources import Files

    against = given.get("against") or ()
    for name in {"against", "ignore"} & given.keys():
        given[name] = Files(given[name]) if given[name] else None
    return against


def repeated(
    job: str, config: Mapping[str, Any], *, against: Sequence[str], inputs: Sequence[str], more: Sequence[str] = ()
) -> str:
    """Return the command that repeats a job, with inputs as they were named (folders, globs, "-") and more options."""
    import shlex

    from ..files.names import show_path
    from ..report.inputs import command_of

    command = command_of(job, config, [{"name": show_path(name)} for name in (*against, *inputs)], len(against))
    before, comment, rest = command.partition("  # and ")
    return " ".join([before, *map(shlex.quote, more)]) + comment + rest
