"""``lookalike info``."""

from __future__ import annotations

import click

from .messages import echo

INSTRUCTIONS = {"v1": "those of every processor", "v3": "AVX2", "v4": "AVX-512"}


@click.command(short_help="List the formats and extras of this installation.")
def info() -> None:
    """List the version, the processor instructions in use, the formats that can be read, and the extras."""
    from .. import __version__
    from ..core import LEVEL
    from ..files.names import ARCHIVES, PACKED
    from ..formats.registry import format_named, known_suffixes
    from ..packages import extras

    echo(f"lookalike {__version__}", f"instructions: {INSTRUCTIONS[LEVEL]}")
    echo("", "formats")
    for name, suffixes in known_suffixes().items():
        form = format_named(name)
        plain = [suffix for suffix in suffixes if not suffix.endswith(PACKED)]
        packed = f" (also {', '.join(PACKED)})" if len(plain) < len(suffixes) else ""
        echo(
            f"  {name:8} {' '.join(plain) or form.sign}{packed}"
            + (f"; needs: {form.missing_extra}" if form.missing_extra else "")
        )
    echo(f"  archives {' '.join(ARCHIVES)}: the files inside")
    echo("", "extras")
    for name, installed in extras().items():
        echo(f"  {name:8} " + ("installed" if installed else f"missing: pip install 'lookalike[{name}]'"))
