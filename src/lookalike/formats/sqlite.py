"""SQLite databases."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote_from_bytes

from ..errors import InputDataError
from .database import Database
from .database_process import Asked
from .rows import refuse_twice
from .split import Record

_KEYS = 1 << 63  # less than this, and not less than as many below 0
_STEPS = 512  # of one key, and then of twice as many: a page of usual rows has no more
_TABLES = "select name from sqlite_schema where type in ('table', 'view') and name not like 'sqlite\\_%' escape '\\'"


class SQLite(Database):
    """A database of SQLite, opened so that nothing in it can be changed."""

    name = "sqlite"
    kinds = ("sqlite",)
    beside = ("-wal", "-shm", "-journal")

    def selected(self, asked: Asked) -> Iterator[Record | str]:
        """Yield the rows that the query gives; what is kept as bytes is text, too, if it is UTF-8."""
        path = Path(os.fsdecode(asked.path))
        _check_whole(path, asked.name)
        uri = f"file:{quote_from_bytes(asked.path)}?mode=ro"
        with closing(sqlite3.connect(uri, uri=True)) as opened:
            opened.text_factory = bytes
            opened.execute("pragma query_only = on")
            opened.execute("pragma trusted_schema = off")
            opened.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, min(asked.most, (1 << 31) - 1))
            opened.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
            number = 0
            try:
                tables = [(name.decode("utf-8", "replace"),) for (name,) in opened.execute(_TABLES)]
                for number, row in enumerate(self._rows(opened, self.statement(asked, tables), asked), 1):  # noqa: B007
                    yield row
            except sqlite3.Error as error:
                if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_TOOBIG:
                    raise MemoryError from None
                if not _is_damage(error):
                    raise
                way_out = "get out what there is with sqlite3's .recover"
                raise InputDataError(f"damaged data: {error}; {way_out}", asked.name, number + 1) from None

    def _rows(self, opened: sqlite3.Connection, statement: str, asked: Asked) -> Iterator[Record | str]:
        keyed = None if self.query or not asked.faults else _keyed(opened, statement)
        found = opened.execute(statement if keyed is None else f"{statement} limit 0")
        names = [column[0] for column in found.description or ()]
        refuse_twice(asked.name, names)
        for number, row in enumerate(found if keyed is None else _around_damage(opened, keyed), 1):
            try:
                if isinstance(row, str):
                    raise InputDataError(row, asked.name, number)
                yield {name: _text(v, asked, number, name) for name, v in zip(names, row, strict=True)}
            except InputDataError as error:
                if not asked.faults:
                    raise
                yield error.reason


def _is_damage(error: sqlite3.Error) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_IOERR)


def _keyed(opened: sqlite3.Connection, statement: str) -> str | None:
    """Return a statement for all rows of a table from a key on, which each begins with; None: they have no such key."""
    if opened.execute("select 1 from sqlite_schema where type = 'view'").fetchone():  # its keys can be null
        return None
    names = {column[0].lower() for column in opened.execute(f"{statement} limit 0").description}
    key = next((key for key in ("rowid", "_rowid_", "oid") if key not in names), None)
    keyed = f"{statement.replace('*', f'{key}, *', 1)} where {key} >= ? order by {key}"
    with suppress(sqlite3.OperationalError):
        return keyed if key is not None and opened.execute(f"{keyed} limit 0", (0,)) else None
    return None


def _around_damage(opened: sqlite3.Connection, keyed: str) -> Iterator[tuple[Any, ...] | str]:
    """Yield the rows of a table; where some cannot be read, why, and those after them, which are looked for by their keys."""
    begin, tried = -_KEYS, 0
    while begin < _KEYS:
        try:
            for key, *row in opened.execute(keyed, (begin,)):
                yield tuple(row)
                begin, tried = max(begin, key) + 1, 0
            return
        except sqlite3.Error as error:
            if not _is_damage(error):
                raise
            if not tried:
                yield f"damaged data: {error}: rows from rowid {begin} on"
            tried += 1
            begin = 1 if begin == -_KEYS else begin + (1 << tried // _STEPS)


def _check_whole(path: Path, name: str) -> None:
    """Refuse a file that lacks its end, which SQLite would take for zeros.

    Its header has the size of pages and, if its last writer set that, their number. A journal can hold missing ones.
    """
    with path.open("rb") as stream:
        head, size = stream.read(100), os.fstat(stream.fileno()).st_size
    page = {1: 1 << 16}.get(found := int.from_bytes(head[16:18]), found)
    journals = any(os.path.exists(f"{path}{end}") for end in ("-wal", "-journal"))
    if journals or page < 512 or not head.startswith(b"SQLite format 3\0"):
        return  # SQLite says it itself
    pages = int.from_bytes(head[28:32]) if head[24:28] == head[92:96] else -(-size // page)
    if size < pages * page:
        raise InputDataError(
            f"the database is cut short: it has {size:,} bytes, and needs {pages * page:,} ({pages:,} pages of "
            f"{page:,}); copy it again, or get out what there is with sqlite3's .recover",
            name,
        )


def _text(value: object, asked: Asked, number: int, name: str) -> object:
    """Return a value, bytes as text."""
    if not isinstance(value, bytes):
        return value
    try:
        return value.decode("utf-8", asked.encoding_errors)
    except UnicodeDecodeError as error:
        raise InputDataError(
            f"invalid UTF-8 at byte {error.start} of column {name!r}; leave it out: "
            "--query (query=), or pass --encoding-errors replace (encoding_errors='replace') to continue",
            asked.name,
            number,
            column=name,
        ) from None


FORMAT = SQLite()
