"""The command ``lookalike warmup``."""

from __future__ import annotations

import click

from .messages import say_all


@click.command()
def warmup() -> None:
    """Compile what is not compiled yet, so that no later job does.

    An installed wheel brings compiled code, and there is nothing to do. Where there is none for the platform, the extra jit
    compiles it on first use, which takes 10 to 20 seconds in a first job, and one to three minutes for all of it: run this once
    when an image for containers or for the workers of a cluster is built, as the user who will run the jobs, or with
    NUMBA_CACHE_DIR set to a folder that they can write to.
    """
    from ..kernels.compiler import warm_up

    say_all(warm_up())
