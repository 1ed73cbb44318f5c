"""``lookalike serve``: an index, or the review of a saved job, over HTTP."""

from __future__ import annotations

import click

from ..errors import MissingExtraError
from . import options
from .messages import say


@click.command(cls=options.Plain, short_help="An index, or the review of a saved result, over HTTP.")
@click.argument("folder", metavar="DIR")
@click.option("--host", default="127.0.0.1", show_default=True,
              help="Address to listen on; any address that other machines can reach requires --keys.")  # fmt: skip
@click.option("--port", type=click.IntRange(0, 65535), default=8077, show_default=True,
              help="Port; 0: a free one, which is printed.")  # fmt: skip
@click.option("--keys", default=None, metavar="FILE",
              help="TOML file with the lists 'read' and 'write' of keys; its mode must be 600. Requests then need a key "
              "(Authorization: Bearer KEY).  [default: no keys, and this machine only]")  # fmt: skip
@click.option("--allow-host", "hosts", multiple=True, metavar="NAME",
              help="Another host name to accept requests for, such as a proxy's. Can be repeated.")  # fmt: skip
@click.option("--max-body", default="16MiB", show_default=True, metavar="SIZE", help="Size limit for the body of a request.")
@click.option("--max-text", default="1MiB", show_default=True, metavar="SIZE", help="Size limit for a text.")
@click.option("--max-batch", type=click.IntRange(1, 100_000), default=1000, show_default=True,
              help="Maximum number of documents, texts or ids in a request.")  # fmt: skip
@click.option("--max-waiting", type=click.IntRange(1), default=1000, show_default=True,
              help="Maximum number of waiting queries, and of waiting changes; further requests get 429.")  # fmt: skip
@click.option(
    "--max-connections",
    type=click.IntRange(1),
    default=20_000,
    show_default=True,
    help="Maximum number of open connections; further requests get 503.",
)
@click.option("--seconds", type=click.FloatRange(0.1, 3600), default=30.0, show_default=True,
              help="Time limit for a body to arrive, and for a request to wait for its turn.")  # fmt: skip
@options.trust
@click.option("--threads", type=click.IntRange(1), default=None, help="Threads for long queries.  [default: all processors]")
@click.option("--quiet", is_flag=True, help="Log failures only, not each request.")
def serve(
    folder: str, host: str, port: int, keys: str | None, hosts: tuple[str, ...], max_body: str, max_text: str, max_batch: int,
    max_waiting: int, max_connections: int, seconds: float, trust: tuple[str, ...], threads: int | None, quiet: bool,
) -> None:  # fmt: skip
    """Serve an index over HTTP until it is interrupted: add documents, look them up, remove them.

    DIR is an index, or a result that `lookalike dedup --save` wrote. For a saved result, the page lets you review every
    removal.

    A change is acknowledged once it is on disk. /openapi.json describes all requests; logs are JSON on standard error,
    without texts.
    """
    from pathlib import Path

    from ..engines.memory import parse_bytes
    from ..settings.settings import available_threads

    try:
        from ..serve.bodies import Limits
        from ..serve.guard import read_keys
        from ..serve.server import Serving, check_keys
        from ..serve.server import serve as run
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"{error.name} is not installed: pip install 'lookalike[serve]'") from None
    known = read_keys(keys) if keys is not None else None
    check_keys(host, port, known)
    limits = Limits(
        body=parse_bytes(max_body, "--max-body"), text=parse_bytes(max_text, "--max-text"), batch=max_batch, seconds=seconds,
        waiting=max_waiting, connections=max_connections,
    )  # fmt: skip
    run(
        Serving(
            folder=Path(folder), host=host, port=port, keys=known, hosts=hosts, limits=limits,
            threads=threads or available_threads(), log_requests=not quiet, trust=trust,
        ),
        say,
    )  # fmt: skip
