"""Tables of databases that are a file each: the rows of the only table, or of a query."""

from __future__ import annotations

import os
import signal
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import msgspec

from ..errors import InputDataError, ParameterError
from ..files.names import show_path
from ..files.processes import start
from .database_process import END, FAILED, HEAD, ROWS, Asked, encode
from .format import Format
from .rows import NumberedRows, Unread
from .split import Record, Split

MEMORY = 4 << 30  # bytes of a process that reads a database at most, beside its own
OWN_MEMORY = 256 << 20
SECONDS, BYTES_PER_SECOND = 5, 200_000  # of its processor time, a hundred times what plain rows take
COPIES = 4  # of a row, until its text is taken out of it
decode = msgspec.msgpack.Decoder(list[dict[str, Any] | str]).decode


class Database(Format):
    """A database. Rows are numbered from 1 in the order in which the query gives them; outputs are Parquet files, or others."""

    output_format = "parquet"
    compressible = False
    query = ""
    row_bytes, text_share = 1000, 2.0
    beside: tuple[str, ...] = ()
    """How names of files end that belong to a database, after its own."""

    def queried(self, query: str) -> Self:
        """Return the same format with a query, which its name then says, so that rows are read again alike."""
        found = type(self)()
        found.name, found.query = f"{self.name.partition(':')[0]}:{query}", query
        return found

    def rows(self, split: Split, encoding_errors: str) -> NumberedRows:
        path = split.place.path
        if not isinstance(path, Path):
            raise InputDataError("a database can only be read from a local disk; copy it there", split.name)
        _check_beside(path, split.name, self.beside)
        most = max(split.limit.most, split.limit.room // COPIES)
        memory = OWN_MEMORY + min(split.limit.room, MEMORY)
        seconds = SECONDS + split.place.size // BYTES_PER_SECOND
        asked = Asked(
            self.name,
            bytes(path.absolute()),
            split.name,
            encoding_errors,
            min(most, MEMORY),
            memory,
            seconds,
            split.limit.faults,
        )
        number = 0
        for rows in _answered(asked):
            if not number:
                split.note_rows(1, 1)
            for row in rows:
                number += 1
                yield number, Unread(InputDataError(row, asked.name, number)) if isinstance(row, str) else row

    def selected(self, asked: Asked) -> Iterator[Record | str]:
        """Yield the rows that the query gives; of one that cannot be read, why."""
        raise NotImplementedError

    def statement(self, asked: Asked, tables: Sequence[Any]) -> str:
        """Return the query, or one for all of the only table."""
        if self.query:
            return self.query
        names = sorted(name for (name,) in tables)
        if len(names) != 1:
            found = f"{len(names)} tables: {', '.join(names[:8])}{', ...' if len(names) > 8 else ''}" if names else "no table"
            raise InputDataError(
                f" has {found}; say which rows with --query (query=), such as 'select id, text from ...'", asked.name
            )
        return 'select * from "{}"'.format(names[0].replace('"', '""'))


def _check_beside(path: Path, name: str, ends: Sequence[str]) -> None:
    """Refuse links, pipes and devices where the library looks for changes that are not in the file yet."""
    for beside in (path.with_name(path.name + end) for end in ends):
        if os.path.lexists(beside) and not stat.S_ISREG(beside.lstat().st_mode):
            raise InputDataError(f"{show_path(beside)} next to it, which belongs to the database, is not a regular file", name)


def _answered(asked: Asked) -> Iterator[list[Record | str]]:
    """Yield what a process reads of a database, some rows at a time."""
    process = start("formats.database_process")
    assert process.stdin is not None and process.stdout is not None
    number, query = 0, f" (query: {asked.form.partition(':')[2]!r:.200})" if ":" in asked.form else ""
    try:
        process.stdin.write(encode(asked))
        process.stdin.close()
        while len(head := process.stdout.read(HEAD.size)) == HEAD.size:
            what, size = HEAD.unpack(head)
            if what == ROWS:
                rows: list[Record | str] = decode(process.stdout.read(size))
                number += len(rows)
                yield rows
                del rows  # not held while the next are read
                continue
            if what == END:
                return
            if what == FAILED:
                reason, row, column = msgspec.msgpack.decode(process.stdout.read(size), type=tuple[str, int | None, str | None])
                raise InputDataError(reason + query, asked.name, row, column=column)
            break
        if process.wait() == -signal.SIGXCPU:
            why = f"takes more than the {asked.seconds} seconds of processor time that a file of its size may take"
        else:
            most, memory = (f"{n_bytes / 1e6:,.0f} MB" for n_bytes in (asked.most, asked.memory))
            why = (
                f"takes more than the {most} for a row, or {memory} in all, that the memory limit leaves: raise --memory "
                "(memory=), or choose fewer columns with --query (query=)"
            )
        raise InputDataError(f"reading it {why}{query}", asked.name, number + 1)
    finally:
        process.kill()
        process.stdout.close()
        process.wait()


def queried(splits: Iterable[Split], query: str) -> list[Split]:
    """Return inputs of which databases give the rows of a query."""
    return [replace(split, form=split.form.queried(query)) for split in splits]


def refuse_unused(query: str, splits: Sequence[Split]) -> None:
    """Refuse a query where nothing is a database."""
    if not any(isinstance(split.form, Database) for split in splits):
        raise ParameterError(
            f"query is for databases (.sqlite, .duckdb); there is none among the inputs; got {query!r:.80}", "query", query
        )
