"""Settings that need no option: keys of ``lookalike.toml``, ``--set``, presets and records of jobs."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

import click

from ..errors import ParameterError
from ..wording import QUOTES, meant
from .messages import echo

FILE = "lookalike.toml"
PRESETS: dict[str, dict[str, Any]] = {
    "web": {"unit": "word", "width": 5, "threshold": 0.8}, "prose": {"unit": "word", "width": 5, "threshold": 0.7},
    "code": {"unit": "char", "width": 5, "threshold": 0.8}, "records": {"unit": "char", "width": 3, "threshold": 0.6},
}  # fmt: skip
"""What suits a kind of text; files of settings have sections such as [preset.contracts], too."""
_OF_A_RUN = {"config", "set", "print_config", "force", "quiet", "as_json"}
_PLACES = {"against", "output", "removed", "report", "save", "save_sketches", "matches", "listed", "preset"}
_MIXED = {"memory", "max_document", "seed", "fail_if_removed"}  # numbers, or words
_TYPES = {"boolean": bool, "integer": int, "number": (int, float)}


def options_of(command: click.Command) -> dict[str, click.Option]:
    """Return the options and keys of a command that a file can set."""
    found = {str(one.name): one for one in command.params if isinstance(one, click.Option) and hasattr(one, "group")}
    return {name: one for name, one in found.items() if name not in _OF_A_RUN}


def commands_of(command: click.Command) -> Iterator[click.Command]:
    """Yield a command, or all commands of a group."""
    for one in command.commands.values() if isinstance(command, click.Group) else ():
        yield from commands_of(one)
    yield command


def configured(ctx: click.Context, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what holds where no option is given: what --set says, before the file, before the preset."""
    options, named = options_of(ctx.command), given.get("config")
    file = named or (FILE if os.path.lexists(FILE) else None)
    held = {} if file is None else _read(file)
    presets = PRESETS | (held.pop("preset") if isinstance(held.get("preset"), dict) else {})
    used = [name for name in held if name in options]
    if used and named is None and not given.get("quiet"):
        echo(f"from {FILE}: {', '.join(used)}", err=True)
    values = {name: (str(file), value) for name, value in held.items()} | _of_line(given.get("set") or (), options)
    where, preset = values.pop("preset", ("", None))
    where, preset = ("--preset", given["preset"]) if given.get("preset") else (where, preset)
    if preset is not None and "preset" in options:
        if not isinstance(presets.get(str(preset)), dict):
            raise ParameterError(
                f"{where}: preset must be one of {', '.join(presets)}; got {preset!r}{meant(str(preset), presets)}",
                "preset",
                preset,
            )
        values = {name: (f"[preset.{preset}]", value) for name, value in presets[preset].items()} | values
    known = {name for command in commands_of(ctx.find_root().command) for name in options_of(command)} - {"preset"}
    for name, (where, value) in values.items():
        if name not in known:
            raise ParameterError(f"{where}: {_unknown(name, known)}", name)
        if name in options and name not in given:
            _check(ctx, options[name], where, value)
    found = {name: value for name, (_, value) in values.items() if name in options}
    return {name: as_list(value) if options[name].multiple else value for name, value in found.items()}


def _read(file: str) -> dict[str, Any]:
    """Return the settings in a file; of the record of a job (JSON), those with which it can be repeated."""
    try:
        with open(file, encoding="utf-8") as stream:
            text = stream.read()
        return dict(json.loads(text)["config"]) if file.endswith(".json") else tomllib.loads(text)
    except OSError as error:
        raise ParameterError(f"{file}: settings cannot be read: {error.strerror}") from None
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise ParameterError(f"{file}: neither TOML nor the record of a job (JSON): {error}") from None


def _unknown(name: str, known: Iterable[str]) -> str:
    return f"{name!r} is not a key{meant(name, known) or '; --print-config lists the keys'}"


def _of_line(given: Iterable[str], options: Mapping[str, click.Option]) -> dict[str, tuple[str, Any]]:
    """Return what ``--set`` says; a key of several values can be set several times."""
    values: dict[str, tuple[str, Any]] = {}
    for one in given:
        name, equals, text = one.partition("=")
        if not equals or name not in options:
            what = _unknown(name, options) if equals else f"it takes KEY=VALUE; got {one!r}"
            raise ParameterError(f"--set: {what}")
        if name in values and not options[name].multiple:
            raise ParameterError(f"--set: {name} is given twice, but takes one value")
        value: Any = text
        with suppress(tomllib.TOMLDecodeError):
            value = tomllib.loads(f"value = {text}")["value"] if text[:1] in QUOTES[: 2 + options[name].multiple] else text
        values[name] = ("--set", [*as_list(values[name][1]), *as_list(value)] if name in values else value)
    return values


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _check(ctx: click.Context, option: click.Option, where: str, value: Any) -> None:
    """Refuse a value of a wrong type, or that is no choice; words of the command line have no type yet."""
    types: Any = (int, float, str) if option.name in _MIXED else _TYPES.get(option.type.name, str)
    several = as_list(value) if option.multiple else [value]
    if where != "--set" and not all(isinstance(one, types) and isinstance(one, bool) == option.is_flag for one in several):
        kind = option.type.name + " or a list of these" * option.multiple
        raise ParameterError(f"{where}: {option.name} must be of the type {kind}; got {value!r:.60}", option.name, value)
    try:
        option.type_cast_value(ctx, several if option.multiple else value)
    except click.BadParameter as error:
        raise ParameterError(f"{where}: {option.name}: {error.message}") from None


def in_force(ctx: click.Context, given: Mapping[str, Any]) -> str:
    """Return what is in force, but for inputs and outputs, as a file that says the same."""
    lines = []
    for name, option in options_of(ctx.command).items():
        if name not in _PLACES:
            raw, _ = option.consume_value(ctx, given)
            value = option.process_value(ctx, raw)
            value = raw if name in _MIXED else as_list(value) if option.multiple and isinstance(value, str) else value
            said = json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")  # which TOML is, too
            lines += [f"# {option.help}", f"{name} = {said}\n" if value not in (None, ()) else f"# {name} =\n"]
    return "\n".join(lines)
