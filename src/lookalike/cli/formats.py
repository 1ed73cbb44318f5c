"""The command ``lookalike formats``."""

from __future__ import annotations

import click

from .messages import say


@click.command(short_help="List the formats that are read, and their suffixes.")
def formats() -> None:
    """List the formats that are read, their suffixes, and what those need that are not installed."""
    from ..files.names import ARCHIVES, PACKED
    from ..formats.registry import format_named, known_suffixes

    for name, suffixes in known_suffixes().items():
        form = format_named(name)
        plain = [suffix for suffix in suffixes if not suffix.endswith(PACKED)]
        packed = f" (also {', '.join(PACKED)})" if len(plain) < len(suffixes) else ""
        say(f"{name:8} {' '.join(plain) or form.sign}{packed}" + (f"; needs: {form.lacks}" if form.lacks else ""))
    say(f"archives {' '.join(ARCHIVES)}: the files inside")
