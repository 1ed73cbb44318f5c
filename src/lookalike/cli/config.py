"""Settings that need no option: keys of ``lookalike.toml``, of ``--set`` and of presets, and those that a job recorded."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import click

from ..errors import ParameterError
from ..wording import meant
from .messages import say

FILE = "lookalike.toml"
PRESETS: dict[str, dict[str, Any]] = {
    "web": {"unit": "word", "width": 5, "threshold": 0.8}, "prose": {"unit": "word", "width": 5, "threshold": 0.7},
    "code": {"unit": "char", "width": 5, "threshold": 0.8}, "records": {"unit": "char", "width": 3, "threshold": 0.6},
}  # fmt: skip
"""What suits a kind of text, as files of settings can say it too, in sections such as [preset.contracts]."""
_OF_A_RUN = {"config", "set", "print_config", "force", "quiet", "as_json", "help"}
_PLACES = {"against", "output", "removed", "report", "save", "save_sketches", "matches", "listed"}  # inputs and outputs
_MIXED = {"memory", "max_document", "seed", "fail_if_removed"}  # numbers, or words


def options_of(command: click.Command) -> dict[str, click.Option]:
    """Return the options of a command that a file can set."""
    return {str(one.name): one for one in command.params if isinstance(one, click.Option) and one.name not in _OF_A_RUN}


def commands_of(command: click.Command) -> Iterator[click.Command]:
    """Yield a command, or all commands of a group."""
    for one in command.commands.values() if isinstance(command, click.Group) else ():
        yield from commands_of(one)
    if not isinstance(command, click.Group):
        yield command


def configured(ctx: click.Context, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what holds where no option is given: what --set says, before the file, before the preset."""
    options, found = options_of(ctx.command), given.get("config")
    file = found or (FILE if os.path.lexists(FILE) else None)
    held = {} if file is None else _read(file)
    presets = PRESETS | (held.pop("preset") if isinstance(held.get("preset"), dict) else {})
    values = {} if file is None else _of_file(ctx, file, held, options)
    if values and found is None and not given.get("quiet"):
        say(f"from {FILE}: {', '.join(values)}", err=True)
    values |= _of_line(given.get("set") or (), options)
    where, name = ("--preset", given["preset"]) if given.get("preset") else values.pop("preset", ("", None))
    if name is not None and "preset" in options:
        if name not in presets:
            raise ParameterError(f"{where}: no preset {name!r}; there are {', '.join(presets)}{meant(str(name), presets)}")
        place = f"[preset.{name}]"
        values = _known(place, presets[name], options, _everywhere(ctx)) | values
    for name, (where, value) in values.items():
        _check(ctx, options[name], where, value)
    return {name: value if not options[name].multiple else _listed(value) for name, (_, value) in values.items()}


def _read(file: str) -> dict[str, Any]:
    """Return the settings in a file; of the record of a job (JSON), those with which it can be repeated."""
    try:
        with open(file, "rb") as stream:
            text = stream.read().decode()
    except OSError as error:
        raise ParameterError(f"{file}: settings cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ParameterError(f"{file}: settings cannot be read: invalid UTF-8 at byte {error.start}") from None
    try:
        if not file.endswith(".json"):
            return tomllib.loads(text)
        config = json.loads(text)["config"]
        unnamed = [name for name, value in config.items() if value is None]
    except tomllib.TOMLDecodeError as error:
        raise ParameterError(f"{file}: no TOML: {error}") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise ParameterError(f"{file}: no record of a job that can be repeated") from None
    if unnamed:
        raise ParameterError(f"{file}: the job cannot be repeated by a command: its {unnamed[0]} was a value of Python")
    return dict(config)


def _of_file(
    ctx: click.Context, file: str, held: Mapping[str, Any], options: Mapping[str, click.Option]
) -> dict[str, tuple[str, Any]]:  # fmt: skip
    """Return what a file says for a command: its keys and, before these, those of the section of the command."""
    place, group, values, known = file, ctx.find_root().command, dict[str, tuple[str, Any]](), _everywhere(ctx)
    for word in [*ctx.command_path.split()[1:], ""]:
        sections = group.commands if isinstance(group, click.Group) else {}
        names = {name: value for name, value in held.items() if not isinstance(value, dict)}
        for name in held.keys() - names.keys() - sections.keys():
            raise ParameterError(f"{place}: no section is called {name!r}{meant(name, ['preset', *sections])}")
        values |= _known(place, names, options, known if sections else options)
        if word:
            held, group, place = held.get(word, {}), sections.get(word, group), f"{place}: [{word}]"
    return values


def _everywhere(ctx: click.Context) -> set[str]:
    return {name for command in commands_of(ctx.find_root().command) for name in options_of(command)}


def _known(
    place: str, names: Mapping[str, Any], options: Mapping[str, click.Option], known: Iterable[str]
) -> dict[str, tuple[str, Any]]:  # fmt: skip
    """Return the keys that a command has, each with its place; refuse those that none has."""
    for name in names:
        if name not in known:
            raise ParameterError(f"{place}: {name!r} is no key{meant(name, known)}")
    return {name: (place, value) for name, value in names.items() if name in options}


def _of_line(given: Iterable[str], options: Mapping[str, click.Option]) -> dict[str, tuple[str, Any]]:
    """Return what ``--set`` says; a key of several values can be set several times."""
    values: dict[str, tuple[str, Any]] = {}
    for one in given:
        name, equals, text = one.partition("=")
        name = name.strip()
        if not equals:
            raise ParameterError(f"--set takes KEY=VALUE, such as max_bucket=256; got {one!r}")
        _known("--set", {name: text}, options, options)
        option, value = options[name], _value(text)
        if not _fits(option, value) and _fits(option, text):
            value = text
        if name in values and not option.multiple:
            raise ParameterError(f"--set: {name} is given twice, and takes one value: name it once")
        values[name] = ("--set", [*_listed(values[name][1]), *_listed(value)] if name in values else value)
    return values


def _value(text: str) -> Any:
    """Return a value in the syntax of TOML, or the text."""
    try:
        held = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return text
    return held["value"] if len(held) == 1 else text


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _expected(option: click.Option) -> tuple[tuple[type, ...], str]:
    """Return the types of an option's values, and what a message calls them."""
    if option.is_flag:
        return (bool,), "true or false"
    if option.name in _MIXED:
        return (int, float, str), "a number or a string"
    if isinstance(option.type, click.types.IntParamType):
        return (int,), "an integer"
    return ((int, float), "a number") if isinstance(option.type, click.types.FloatParamType) else ((str,), "a string")


def _fits(option: click.Option, value: Any) -> bool:
    types, _ = _expected(option)
    several = _listed(value) if option.multiple else [value]
    return all(isinstance(one, types) and isinstance(one, bool) == (types == (bool,)) for one in several)


def _check(ctx: click.Context, option: click.Option, where: str, value: Any) -> None:
    """Refuse a value of a wrong type, or that is no choice, with its place."""
    if not _fits(option, value):
        several = " or a list of these" if option.multiple else ""
        raise ParameterError(f"{where}: {option.name} must be {_expected(option)[1]}{several}; got {value!r:.60}")
    try:
        option.type_cast_value(ctx, _listed(value) if option.multiple else value)
    except click.BadParameter as error:
        raise ParameterError(f"{where}: {option.name}: {error.message}") from None


def in_force(ctx: click.Context, given: Mapping[str, Any]) -> str:
    """Return what is in force, but for inputs and outputs, as a file that says the same; what has no value is described."""
    lines = []
    for name, option in options_of(ctx.command).items():
        value, _ = option.consume_value(ctx, given)
        value = option.process_value(ctx, value)
        if option.multiple and isinstance(value, str):
            value = (value,)
        if name not in _PLACES | {"preset"}:
            said = f"# {name} =" if value in (None, ()) else f"{name} = {toml(value)}"
            lines += ["", f"# {option.help or name}", said]
    return "\n".join(lines[1:])


def toml(value: Any) -> str:
    """Return a value in the syntax of TOML."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case list() | tuple():
            return f"[{', '.join(map(toml, value))}]"
    return str(value)
