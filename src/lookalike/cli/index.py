"""``lookalike index``: a persistent index."""

from __future__ import annotations

import json
import re
import sys
from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, get_args

import click

from ..choices import Method, Mode, Normalization, Unit
from ..errors import InputDataError, LookalikeError, ParameterError
from . import options
from .messages import echo

if TYPE_CHECKING:
    from ..formats.split import Names
    from ..index.index import Index

wait = click.option("--wait", is_flag=True, help="Wait while another process holds the write lock.")
threads = options.of_jobs("threads")
salvage = click.option("--salvage", is_flag=True, help="Leave damaged segments out.")
reading = options.apply(
    options.of_jobs("text", "id"),
    *options.choosing,
    options.encoding,
)  # fmt: skip
path = click.argument("path", metavar="INDEX")
inputs = click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")


@click.group(cls=options.Group, short_help="A persistent index: add, look up, remove documents.")
def index() -> None:
    """A persistent index: add documents, look them up, remove them. Acknowledged changes survive a crash."""


@index.command(short_help="Make an empty index in a new folder.")
@path
@options.index_targets
@click.option("--kind", type=options.Choice(get_args(Method)), default="minhash", show_default=True,
              help="Resemblance of shingle sets, or cosine of feature counts by fingerprints.")  # fmt: skip
@click.option("--radius", type=int, default=None, help="For simhash: how many of the 64 bits can differ.  [default: 3]")
@click.option("--probes", type=int, default=None,
              help="For simhash: keep one table and probe it this many times per query, by its weakest bits. Takes "
                   "less disk space, but misses some matches ('index info' states the share found).  "
              "[default: radius + 1 tables, and all matches]")  # fmt: skip
@click.option("--bits", type=int, default=None,
              help="For minhash: bits of each slot for estimates, 1, 2, 4, 8 or 16.  [default: 16]")  # fmt: skip
@click.option("--slots", type=int, default=None, help="For minhash: slots for estimates.  [default: 256]")
@click.option("--standard-error", type=options.Number(), default=None,
              help="For minhash: choose the smallest sketch with at most this standard error at the threshold.")  # fmt: skip
@click.option("--sketch-bytes", type=int, default=None,
              help="For minhash: choose the most accurate sketch of at most this many bytes per document.")  # fmt: skip
@click.option("--keep-text", is_flag=True,
              help="Keep the texts, so that matches have their exact resemblance and texts can be exported.")  # fmt: skip
@options.shingling
@options.seed
def create(
    path: str, threshold: float, recall: float, kind: Method, radius: int | None, probes: int | None,
    bits: int | None, slots: int | None, standard_error: float | None, sketch_bytes: int | None, keep_text: bool, unit: Unit,
    width: int | None, normalization: Normalization, fold_case: bool, seed: int | Literal["random"],
) -> None:  # fmt: skip
    """Make an empty index in a new folder. To fill it, use: index add."""
    from ..index.index import Index

    with Index.create(
        path, threshold=threshold, recall=recall, kind=kind, radius=radius, probes=probes, bits=bits,
        slots=slots, standard_error=standard_error, sketch_bytes=sketch_bytes, keep_text=keep_text, unit=unit, width=width,
        normalization=normalization, fold_case=fold_case, seed=seed,
    ) as made:  # fmt: skip
        info = made.info
        found = f"{info['recall_at_threshold']:.4f}, higher above it"
        if kind == "minhash":
            found += (
                f" ({info['recall_of_candidates']:.4f} are compared; estimates of at least {info['least_estimate']:.3f} match)"
            )
        else:
            found += "; it follows from --radius and --threshold"
        echo(repr(made).strip("<>"), f"recall at the threshold: {found}", f"to fill it: lookalike index add {path} FILES")


def _open(path: str, mode: Mode = "append", **how: bool) -> Index:
    from ..index.index import Index  # here, for what is not needed to start

    return Index.open(path, mode, **how)


def _documents(
    given: tuple[str, ...], columns: tuple[Names, str | None, str], how: dict[str, Any], output: str | None = None,
    limits: tuple[Any, int] | None = None,
) -> Iterator[tuple[list[Any], Any]]:  # fmt: skip
    """Yield (ids, texts) of many documents at a time.

    ``columns``: text, id, and what invalid UTF-8 is; ``how``: what ``open_sources`` is told; ``limits``: how large a
    document may be, and the bytes of a batch.
    """
    from ..formats.sources import open_sources
    from ..formats.split import Columns, Limit, note_skipped, skipped_in
    from ..formats.writers import check_before
    from ..inputs.read import BATCH_BYTES, ROW_BYTES, read_with_ids
    from .progress import print_notes

    sources = open_sources(given, **how)
    print_notes(None)
    note_skipped(skipped_in(sources))
    if output is not None:
        check_before(output, sources)
    text, id, encoding_errors = columns
    limit, n_bytes = limits or (Limit(leave=how["on_error"] != "stop", faults=how["on_error"] == "skip"), BATCH_BYTES)
    return read_with_ids(sources, Columns(text, id, (), (), encoding_errors), n_bytes, n_bytes // ROW_BYTES, limit=limit)


def _threads(wanted: int | None) -> int:
    from ..settings.settings import available_threads

    return wanted or available_threads()


@index.command(short_help="Add documents.")
@path
@inputs
@reading
@click.option("--replace", is_flag=True, help="Replace documents with the same ids.")
@options.limit_options
@wait
@threads
@options.memory
def add(
    path: str, inputs: tuple[str, ...], text: Names, id: str | None, encoding_errors: str, replace: bool,
    max_document: str | None, on_error: str | None, wait: bool, threads: int | None, memory: str | None, **how: Any,
) -> None:  # fmt: skip
    """Add the documents of files, folders, globs or standard input ("-").

    Each batch of up to 100,000 documents (fewer under a small --memory) is on disk, and survives a crash, before
    the next is read.
    """
    from ..engines.memory import BYTES_PER_ENTRY, Memory, limit_of
    from ..files.urls import is_url
    from ..inputs.read import BATCH_BYTES
    from ..wording import plural

    cap = Memory.wanted(memory)
    with _open(path, wait=wait) as opened:
        before, read = len(opened), 0
        limits = limit_of(max_document, on_error, cap), cap.reading(any(map(is_url, inputs))).batch(BATCH_BYTES)
        how["on_error"] = on_error
        try:
            for ids, texts in _documents(inputs, (text, id, encoding_errors), how, limits=limits):
                if memory is not None:
                    cap.check_documents(len(opened) + len(ids), BYTES_PER_ENTRY)
                opened.add(ids, texts, replace=replace, threads=_threads(threads))
                read += len(ids)
        except LookalikeError:
            if read:
                echo(
                    f"the first {plural(read, 'document')} of the input were added before the error below: fix it, "
                    f"and add all again with --replace",
                    err=True,
                )
            raise
        added = len(opened) - before
        replaced = f", {read - added:,} replaced" if read > added else ""
        echo(f"{plural(added, 'document')} added{replaced}, {len(opened):,} in all")


@index.command(short_help="Look up documents; the best matches first.")
@path
@inputs
@reading
@click.option(
    "--top",
    type=options.Whole(1),
    default=10,
    show_default=True,
    help="Maximum number of matches per document. The highest estimates tend to be somewhat too high.",
)
@click.option("--first", is_flag=True, help="Return at most one match, not necessarily the best.")
@options.of_index_query
@click.option("-o", "--output", default=None, metavar="PATH",
              help="parquet, JSON lines or CSV.  [default: JSON lines to stdout]")  # fmt: skip
@click.option("--force", is_flag=True, help="Replace an existing output.")
@salvage
@threads
def query(
    path: str, inputs: tuple[str, ...], text: Names, id: str | None, encoding_errors: str, top: int, first: bool,
    output: str | None, force: bool, salvage: bool, threads: int | None, inside: float | None, **how: Any,
) -> None:  # fmt: skip
    """Look up documents: query, id, estimated_resemblance, standard_error, resemblance; the best matches first. With
    --measure containment: query, id, containment of the documents that have enough of a document's shingles."""
    import pyarrow as pa

    from ..formats.frames import ScannedTable
    from ..formats.writers import check_table, is_stdout, write_table
    from ..results.rows import spill_to_parquet
    from ..wording import plural

    if output is not None:
        check_table(output, force)
    with _open(path, "read", salvage=salvage) as opened:
        _warn(opened.damaged)
        use = _threads(threads)
        integers, asked, matches = True, 0, 0

        def look_up(texts: Any) -> pa.Table:
            if inside is not None:
                return opened.containing(texts, threshold=inside, top=top, threads=use)
            return opened.first(texts, threads=use) if first else opened.query(texts, top=top, threads=use)

        def answers() -> Iterator[pa.RecordBatch]:
            """Yield what is found, a batch of documents after the other, with their ids, and where in the input each is."""
            nonlocal integers, asked, matches
            for ids, texts in _documents(inputs, (text, id, encoding_errors), how, output):
                found = look_up(texts)
                labels = pa.array([str(ids[i]) for i in found["query"].to_pylist()], pa.string())
                places = pa.array([asked + i for i in found["query"].to_pylist()], pa.int64())
                integers = integers and all(isinstance(id, int) for id in ids)
                asked, matches = asked + len(texts), matches + len(found)
                if output is None:
                    for label, row in zip(found["query"].to_pylist(), found.to_pylist(), strict=True):
                        click.echo(json.dumps(row | {"query": ids[label]}))
                else:
                    yield from found.set_column(0, "query", labels).append_column("place", places).to_batches()

        schema = look_up([]).schema.set(0, pa.field("query", pa.string())).append(pa.field("place", pa.int64()))
        if output is None:
            deque(answers(), 0)
        else:
            rows = spill_to_parquet(answers(), schema, "place")
            kind = pa.int64() if integers and asked else pa.string()
            schema = schema.remove(len(schema) - 1).set(0, pa.field("query", kind))

            def cast_ids(_: object) -> Iterator[pa.RecordBatch]:
                for batch in rows.select(schema.names).batches():
                    yield batch.set_column(0, schema[0], batch.column(0).cast(kind))

            write_table(output, ScannedTable(schema, rows.n_rows, cast_ids), {"index": opened.info}, force=force)
            if not is_stdout(output):
                echo(f"written: {output}")
    echo(f"{plural(asked, 'document')} looked up, {plural(matches, 'match', 'matches')}", err=True)


@index.command()
@path
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--from", "source", default=None, metavar="FILE", help="A file with an id on each line, '-' for standard input.")
@wait
def remove(path: str, ids: tuple[str, ...], source: str | None, wait: bool) -> None:
    """Remove documents by their ids."""
    from ..wording import plural

    wanted = [(f"{i!r}", i) for i in ids] + ([] if source is None else _ids_in(source))
    if not wanted:
        raise ParameterError("no ids: give some, or a file of ids with --from")
    with _open(path, wait=wait) as opened:
        n = opened.remove(_typed(wanted, opened.id_type))
        echo(f"{n:,} removed, {len(opened):,} left")
        if n < len(wanted):
            echo(f"{plural(len(wanted) - n, 'id')} not in the index", err=True)


def _ids_in(source: str) -> list[tuple[str, str]]:
    """Return the ids in a file, one on a line that ends with LF or CRLF, each with what a message calls it."""
    from pathlib import Path  # here, for what is not needed to start

    from ..files.urls import check_on_disk

    try:
        data = sys.stdin.buffer.read() if source == "-" else Path(source).read_bytes()
    except OSError as error:
        check_on_disk(source, "and ids are read from this machine: copy the file")
        raise InputDataError(f"cannot be read: {error.strerror}", source) from None
    found = []
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        try:
            text = line.removesuffix(b"\r").decode()
        except UnicodeDecodeError as error:
            raise InputDataError(f"invalid UTF-8 at byte {error.start}", source, line=number) from None
        if text:
            found.append((f"{text!r:.60} in line {number} of {source}", text))
    return found


def _typed(ids: list[tuple[str, str]], kind: str | None) -> list[Any]:
    """Return ids as the index has them; a number must be written as Python and JSON write it."""
    if kind != "int":
        return [text for _, text in ids]
    for name, text in ids:
        if not re.fullmatch("0|-?[1-9][0-9]{0,18}", text, re.ASCII):
            raise ParameterError(f"the ids of this index are integers of 64 bits; {name} is not one")
    return [int(text) for _, text in ids]


@index.command()
@path
@wait
def compact(path: str, wait: bool) -> None:
    """Merge all segments into one; removed documents leave no trace."""
    with _open(path, wait=wait) as opened:
        opened.compact()
        echo(repr(opened).strip("<>"))


@index.command()
@path
@options.as_json
def info(path: str, as_json: bool) -> None:
    """Show what is in an index and how it was made."""
    with _open(path, "read") as opened:
        said = opened.info
    if as_json:
        click.echo(json.dumps(said))
        return
    parameters = {name: value for name, value in said.pop("parameters").items() if name != "shingling"}
    width = max(map(len, said | parameters))
    for name, value in (said | parameters).items():
        echo(f"{name.replace('_', ' '):<{width}} {value if name == 'seed' else _written(value)}")


def _written(value: Any) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case float():
            return f"{value:,.0f}" if value > 10 else f"{value:.4g}"
        case list():
            return ", ".join(map(str, value)) or "none"
    return str(value)


@index.command()
@path
def check(path: str) -> None:
    """Read every byte; exit 1 and name the files that are damaged."""
    from ..wording import plural

    with _open(path, "read", salvage=True) as opened:
        _warn(opened.damaged)
        if opened.damaged:
            sys.exit(1)
        inside = f"{plural(len(opened), 'document')} in {plural(opened.info['segments'], 'segment')}"
        echo(f"{path}: no damage found: {inside}")


def _warn(damaged: list[str]) -> None:
    echo(*damaged, err=True)


@index.command(short_help="Write all ids, and the texts if they are kept.")
@path
@click.option("-o", "--output", required=True, metavar="PATH", help="parquet, JSON lines or CSV.")
@click.option("--force", is_flag=True, help="Replace an existing output.")
@salvage
def export(path: str, output: str, force: bool, salvage: bool) -> None:
    """Write the ids of all documents, and their texts if they are kept."""
    import pyarrow as pa

    from ..formats.frames import ScannedTable
    from ..formats.writers import check_table, is_stdout, write_table
    from ..wording import plural

    check_table(output, force)
    with _open(path, "read", salvage=salvage) as opened:
        _warn(opened.damaged)
        fields = [pa.field("id", pa.int64() if opened.id_type == "int" else pa.string())]
        fields += [pa.field("text", pa.large_string())] if opened.info["keep_text"] else []

        def documents(_: object) -> Iterator[pa.RecordBatch]:
            return (batch for table in opened.export() for batch in table.to_batches())

        write_table(output, ScannedTable(pa.schema(fields), len(opened), documents), {"index": opened.info}, force=force)
        said = f"{plural(len(opened), 'document')} written"
        echo(said if is_stdout(output) else f"{said}: {output}", err=is_stdout(output))
