"""The program ``lookalike`` and its commands."""

from __future__ import annotations

import errno
import os
import re
import signal
import sys
import threading
from io import StringIO
from time import perf_counter, process_time
from typing import Any

import click

from .. import __version__
from ..errors import LookalikeError, ParameterError
from ..wording import for_command_line, printable
from .compare import compare
from .config import commands_of
from .decontaminate import decontaminate
from .dedup import dedup
from .history import history
from .index import index
from .info import info
from .messages import echo, say_all
from .pairs import pairs
from .plan import plan
from .repeats import repeats
from .serve import serve
from .show import show


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="lookalike")
def program() -> None:
    """Find near-duplicate documents.

    Two parameters matter: --threshold, the minimum resemblance of near-duplicates, and --recall, the probability of finding a
    pair exactly at the threshold. Each removed document names a kept document and their resemblance, exact unless you choose
    --set verify=sketch.

    Start with: lookalike dedup FILE, which prints a summary and writes nothing. Each command has its own --help.
    """


for command in (
    dedup, show, pairs, decontaminate, repeats, history, index, serve, compare, plan, info,
):  # fmt: skip
    program.add_command(command)


_REFUSALS = ("can't start new thread", "can't allocate lock", "Cannot allocate memory", "failed to map segment")


def _of_option(message: str) -> str:
    """Name the option where a message begins with the keyword: "threshold must be" says ``--threshold`` here."""
    word = re.match("([a-z_]+) must ", message)
    known = {param.name for one in commands_of(program) for param in one.params if not getattr(param, "hidden", True)}
    return message if word is None or word[1] not in known else f"--{word[1].replace('_', '-')}{message[word.end(1) :]}"


def _fail(message: str, code: int) -> None:
    echo(f"error: {message}", err=True)
    sys.exit(code)


def _fill_closed_streams() -> None:
    """Open what the caller closed of standard input, output and error, or a file of ours would get its number."""
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDONLY if name == "stdin" else os.O_WRONLY)  # it gets the lowest number, which is this one
        if getattr(sys, name) is None and name != "stdin":
            setattr(sys, name, open(os.devnull, "w"))


def _out_of_memory(error: BaseException) -> bool:
    """Tell whether the system has refused memory, or a thread, whose stack is memory too."""
    return (
        isinstance(error, MemoryError)
        or (isinstance(error, OSError) and error.errno == errno.ENOMEM)
        or (isinstance(error, (RuntimeError, ImportError)) and any(said in str(error) for said in _REFUSALS))
    )


def _came_from_printing(error: BaseException) -> bool:
    import traceback  # here, for what is not needed to start

    return any(frame.f_globals.get("__name__") == "click.utils" for frame, _ in traceback.walk_tb(error.__traceback__))


def _end(error: BaseException) -> None:
    """End the program after a failure: what is known in one line, anything else with its place."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        click.echo(error.format_message())
        sys.exit(2)
    if isinstance(error, click.ClickException):
        shown = StringIO()
        error.show(shown)
        said = shown.getvalue().replace(error.message, printable(error.message))
        say_all(re.sub("^Error:", "error:", said, flags=re.MULTILINE), err=True)
        sys.exit(error.exit_code)
    if isinstance(error, click.Abort) and error.__cause__ is not None:
        error = error.__cause__
    if isinstance(error, (click.Abort, KeyboardInterrupt)):
        echo("; ".join(["interrupted", *getattr(error, "__notes__", [])]), err=True)
        sys.exit(130)
    if isinstance(error, ParameterError):
        _fail(_of_option(str(error)), 2)
    if isinstance(error, LookalikeError):
        _fail(str(error), 1)
    if _out_of_memory(error):
        _fail("out of memory: pass a smaller --memory or fewer --threads, or raise the limits of the process (ulimit)", 1)
    if isinstance(error, BrokenPipeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    if isinstance(error, OSError) and _came_from_printing(error):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left in its buffer has nowhere to go
        _fail(f"standard output or error cannot be written: {error.strerror}", 1)
    import traceback

    say_all("".join(traceback.format_exception(error)), err=True)
    echo(f"error: this is a bug in lookalike {__version__}: report it, with the lines above and the command", err=True)
    sys.exit(70)


def _stopping() -> dict[int, Any]:
    """Let signals that ask to stop end the program as Ctrl-C does, with nothing left behind; return what they did before."""

    def stop(number: int, frame: object) -> None:
        raise SystemExit(128 + number)

    if threading.current_thread() is not threading.main_thread():
        return {}
    numbers = [signal.SIGTERM, signal.SIGHUP]
    return {number: signal.signal(number, stop) for number in numbers if signal.getsignal(number) is signal.SIG_DFL}


def main(arguments: list[str] | None = None, **extra: Any) -> None:
    """Run the program: exit 0 when done, 1 on a known failure, 2 on wrong usage, 70 on a bug, 128 + n on a signal n."""
    began = perf_counter() - (process_time() if arguments is None else 0.0)  # of a process it has all to itself
    _fill_closed_streams()
    before = _stopping()
    with for_command_line():
        try:
            code = program.main(arguments, standalone_mode=False, prog_name="lookalike", obj=began, **extra)
        except (Exception, KeyboardInterrupt) as error:
            _end(error)
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
    sys.exit(code if isinstance(code, int) else 0)
