"""The program ``semblance`` and its commands."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from .. import __version__
from ..errors import ParameterError, SemblanceError
from .compare import compare
from .dedup import dedup
from .index import index
from .overlap import overlap
from .pairs import pairs
from .plan import plan
from .tune import tune


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="semblance")
def program() -> None:
    """Find near-duplicate documents.

    Two knobs: --threshold, the resemblance from which two documents count as near-duplicates, and --recall, the share
    of such pairs to be found. Nothing is removed without a kept document and a measured resemblance.
    """


for command in (dedup, pairs, overlap, index, compare, plan, tune):
    program.add_command(command)


def _fail(message: str, code: int) -> None:
    click.echo(f"error: {message}", err=True)
    sys.exit(code)


def main(arguments: list[str] | None = None, **extra: Any) -> None:
    """Run the program: exit 0 when done, 1 on a known failure, 2 on wrong usage, 130 on Ctrl-C."""
    try:
        code = program.main(arguments, standalone_mode=False, prog_name="semblance", **extra)
        sys.exit(code if isinstance(code, int) else 0)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        sys.exit(2)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("\ninterrupted; nothing was written (a job with --work goes on with --resume)", err=True)
        sys.exit(130)
    except ParameterError as error:
        _fail(str(error), 2)
    except SemblanceError as error:
        _fail(str(error), 1)
    except MemoryError:
        _fail("out of memory: cap it with --memory, or give the job fewer documents", 1)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
