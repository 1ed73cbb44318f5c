"""SQLite databases."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote_from_bytes

from ..errors import InputDataError
from .database import Database
from .database_process import Asked
from .rows import refuse_twice
from .split import Record

_TABLES = "select name from sqlite_schema where type in ('table', 'view') and name not like 'sqlite\\_%' escape '\\'"


class SQLite(Database):
    """A database of SQLite, opened so that nothing in it can be changed."""

    name = "sqlite"
    kinds = ("sqlite",)
    suffixes = (".sqlite", ".sqlite3", ".db")
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
            tables = [(name.decode("utf-8", "replace"),) for (name,) in opened.execute(_TABLES)]
            try:
                yield from self._rows(opened.execute(self.statement(asked, tables)), asked)
            except sqlite3.Error as error:
                if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_TOOBIG:
                    raise MemoryError from None
                raise

    @staticmethod
    def _rows(cursor: sqlite3.Cursor, asked: Asked) -> Iterator[Record | str]:
        names = [column[0] for column in cursor.description or ()]
        refuse_twice(asked.name, "query", names)
        for number, row in enumerate(cursor, 1):
            try:
                yield {name: _text(v, asked, number, name) for name, v in zip(names, row, strict=True)}
            except InputDataError as error:
                if not asked.faults:
                    raise
                yield str(error)


def _check_whole(path: Path, name: str) -> None:
    """Refuse a file that lacks its end, which SQLite would take for zeros.

    Its header has the size of pages and, if the last version that wrote it is the one that wrote that, their number. A
    journal can hold pages that the file lacks.
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
            f"{name}: the database is cut short: it has {size:,} bytes, and needs {pages * page:,} ({pages:,} pages of "
            f"{page:,}); copy it again, or get out what there is with sqlite3's .recover"
        )


def _text(value: object, asked: Asked, number: int, name: str) -> object:
    """Return a value, bytes as text."""
    if not isinstance(value, bytes):
        return value
    try:
        return value.decode("utf-8", asked.encoding_errors)
    except UnicodeDecodeError as error:
        raise InputDataError(
            f"{asked.name}, row {number}, column {name!r}: invalid UTF-8 at byte {error.start}; leave the column out: "
            "--query (query=), or pass --encoding-errors replace (encoding_errors='replace') to continue"
        ) from None


FORMAT = SQLite()
