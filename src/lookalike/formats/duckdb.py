"""DuckDB databases."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from typing import Any

from .database import OWN_MEMORY, Database
from .database_process import Asked
from .rows import plain_rows
from .split import Record

_Config = dict[str, str | bool | int | float | list[str]]
CLOSED: _Config = {
    "enable_external_access": "false", "allow_persistent_secrets": "false", "python_enable_replacements": "false",
    "lock_configuration": "true",
}  # fmt: skip
"""Nothing is read but the database, whatever its views and macros, or a query, say."""
_ROWS = 2048
_CONVERTED = 64
_TABLES = "select table_name from information_schema.tables order by 1"


class DuckDB(Database):
    """A database of DuckDB, opened for reading only."""

    name = "duckdb"
    kinds = ("duckdb",)
    extra, package = "duckdb", "duckdb"
    beside = (".wal",)

    def selected(self, asked: Asked) -> Iterator[Record]:
        """Yield the rows that the query gives."""
        import duckdb

        limits: _Config = {"memory_limit": f"{asked.memory - OWN_MEMORY}B", "threads": 1}
        with closing(duckdb.connect(os.fsdecode(asked.path), read_only=True, config=CLOSED | limits)) as opened:
            try:
                tables = opened.execute(_TABLES).fetchall()
                found, number = opened.sql(self.statement(asked, tables)), 1
                for batch in () if found is None else _batches(found):
                    for some in (batch.slice(at, _CONVERTED) for at in range(0, len(batch), _CONVERTED)):
                        for _, row in plain_rows(some, asked.name, number):
                            yield row
                        number += len(some)
            except duckdb.OutOfMemoryException:
                raise MemoryError from None


def _batches(found: Any) -> Any:
    """Return what reads rows in batches; its name came with version 2."""
    return found.to_arrow_reader(_ROWS) if hasattr(found, "to_arrow_reader") else found.fetch_arrow_reader(_ROWS)


FORMAT = DuckDB()
