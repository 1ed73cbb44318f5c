"""``lookalike info``."""

from __future__ import annotations

import click

from .messages import say


@click.command(short_help="List formats and extras, and say whether kernels are compiled.")
@click.option("--compile", is_flag=True, help="Compile the kernels that are not compiled yet; takes one to three minutes.")
def info(compile: bool) -> None:
    """List what this installation has: its version and kernels, the formats that it reads, and its extras.

    An installed wheel brings compiled kernels. Where there are none for the platform, the extra jit compiles each on its first
    use. To compile all at once, such as in an image for containers or the workers of a cluster, run 'lookalike info --compile'
    as the user who will run the jobs, or with NUMBA_CACHE_DIR set to a folder that they can write to.
    """
    from .. import __version__
    from ..files.names import ARCHIVES, PACKED
    from ..formats.registry import format_named, known_suffixes
    from ..kernels.compiler import described
    from ..packages import extras

    say(f"lookalike {__version__}", f"kernels: {described(compile)}")
    say("", "formats")
    for name, suffixes in known_suffixes().items():
        form = format_named(name)
        plain = [suffix for suffix in suffixes if not suffix.endswith(PACKED)]
        packed = f" (also {', '.join(PACKED)})" if len(plain) < len(suffixes) else ""
        say(f"  {name:8} {' '.join(plain) or form.sign}{packed}" + (f"; needs: {form.lacks}" if form.lacks else ""))
    say(f"  archives {' '.join(ARCHIVES)}: the files inside")
    say("", "extras")
    for name, installed in extras().items():
        say(f"  {name:8} " + ("installed" if installed else f"missing: pip install 'lookalike[{name}]'"))
