"""``lookalike serve``: an index, or the review of a saved result, over HTTP; or questions of the Model Context Protocol."""

from __future__ import annotations

from typing import Any

import click

from ..errors import ParameterError, needed_for
from ..settings.options import OPENING
from . import options
from .messages import echo

_HTTP, _MCP = "Over HTTP", "With --mcp, for documents in files and pairs of texts"


@click.command(cls=options.Plain, short_help="Serve an index or the review of a saved result, over HTTP or MCP.")
@click.argument("paths", nargs=-1, metavar="PATH...")
@click.option("--mcp", is_flag=True,
              help="Answer the Model Context Protocol on standard input and output, for assistants and editors.")  # fmt: skip
@options.under(
    _HTTP,
    click.option("--host", default="127.0.0.1", show_default=True,
                 help="Address to listen on; any address that other machines can reach requires --keys."),
    click.option("--port", type=options.Whole(0, 65535), default=8077, show_default=True,
                 help="Port to listen on; 0 picks a free one and prints it."),
    click.option("--keys", default=None, metavar="FILE",
                 help="TOML file with the lists 'read' and 'write' of keys; its mode must be 600. Requests then need a key "
                 "(Authorization: Bearer KEY).  [default: no keys, and this machine only]"),
    click.option("--allow-host", "hosts", multiple=True, metavar="NAME",
                 help="Another host name to accept requests for, such as a proxy's. Can be repeated."),
    click.option("--max-body", default="16MiB", show_default=True, metavar="SIZE", help="Size limit for a request's body."),
    click.option("--max-text", default="1MiB", show_default=True, metavar="SIZE", help="Size limit for a text."),
    click.option("--max-batch", type=options.Whole(1, 100_000), default=1000, show_default=True,
                 help="Maximum number of documents, texts or ids in a request."),
    click.option("--max-waiting", type=options.Whole(1), default=1000, show_default=True,
                 help="Maximum number of waiting queries, and of waiting changes; further requests get 429."),
    click.option("--max-connections", type=options.Whole(1), default=20_000, show_default=True,
                 help="Maximum number of open connections; further requests get 503."),
    click.option("--seconds", type=options.Range(0.1, 3600), default=30.0, show_default=True,
                 help="Time limit for a request body to arrive, and for a request to wait in the queue."),
    click.option("--threads", type=options.Whole(1), default=None,
                 help="Threads for long queries.  [default: all processors]"),
    click.option("--quiet", is_flag=True, help="Log failures only, not each request."),
)  # fmt: skip
@options.under(
    _MCP,
    options.preset,
    options.of_jobs("threshold", help="Minimum resemblance of near-duplicates."),
    options.of_jobs("recall", help="Probability of finding a document exactly at the threshold."),
    options.of_jobs("unit", "width", "text", "id", *OPENING, "encoding_errors"),
)
@options.trust
def serve(
    paths: tuple[str, ...], mcp: bool, host: str, port: int, keys: str | None, hosts: tuple[str, ...], max_body: str,
    max_text: str, max_batch: int, max_waiting: int, max_connections: int, seconds: float, trust: tuple[str, ...],
    threads: int | None, quiet: bool, **given: Any,
) -> None:  # fmt: skip
    """Serve an index over HTTP until it is interrupted: add documents, look them up, remove them.

    PATH is an index, or a result that 'lookalike dedup --save' wrote. For a saved result, the page lets you review every
    removal. A change is acknowledged once it is on disk. /openapi.json describes all requests; logs are JSON on standard
    error, without texts.

    With --mcp, any number of files, folders, indexes and saved results: a program that speaks the Model Context Protocol can
    compare two texts, find near-duplicates of a text, and ask what a saved result decided about a document. While it
    runs, documents of files are held in a temporary index. Nothing is written, and only PATHs are read.

    Examples:

    \b
        lookalike serve archive.index --port 8077
        lookalike serve --mcp corpus/ judged/ --preset web
    """
    if mcp:
        options.refuse("does not go with --mcp", _HTTP)
        _answer(paths, trust, given)
        return
    options.refuse("needs --mcp", _MCP)
    if len(paths) != 1:
        raise ParameterError(f"serve takes one folder, an index or a saved result, unless --mcp is given; got {len(paths)}")
    from pathlib import Path

    from ..engines.memory import parse_bytes
    from ..settings.settings import available_threads

    with needed_for("serve"):
        from ..serve.bodies import Limits
        from ..serve.guard import read_keys
        from ..serve.server import ServerOptions, check_keys
        from ..serve.server import serve as run
    known = read_keys(keys) if keys is not None else None
    check_keys(host, port, known)
    limits = Limits(
        body=parse_bytes(max_body, "--max-body"), text=parse_bytes(max_text, "--max-text"), batch=max_batch, seconds=seconds,
        waiting=max_waiting, connections=max_connections,
    )  # fmt: skip
    run(
        ServerOptions(
            folder=Path(paths[0]), host=host, port=port, keys=known, hosts=hosts, limits=limits,
            threads=threads or available_threads(), log_requests=not quiet, trust=trust,
        ),
        echo,
    )  # fmt: skip


def _answer(paths: tuple[str, ...], trust: tuple[str, ...], given: dict[str, Any]) -> None:
    """Answer questions of the Model Context Protocol until the input ends."""
    with needed_for("mcp"):
        from ..serve.mcp import Resources
    from ..formats.split import Columns

    columns = Columns(given["text"], given["id"], encoding_errors=given["encoding_errors"])
    finding = {name: given[name] for name in ("threshold", "recall", "unit", "width")}
    shelf = Resources(paths, {name: given[name] for name in OPENING}, columns, finding, trust)
    echo(f"answering on standard input and output: {', '.join([*shelf.indexes, *shelf.results]) or 'two texts'}", err=True)
    shelf.server().run()
