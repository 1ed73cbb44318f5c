"""DuckDB databases."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from .database import Database
from .rows import plain_rows
from .split import Record, Split

_ROWS = 2048
_TABLES = "select table_name from information_schema.tables order by 1"


class DuckDB(Database):
    """A database of DuckDB, opened for reading only."""

    name = "duckdb"
    kinds = ("duckdb",)
    suffixes = (".duckdb", ".ddb")
    extra, package = "duckdb", "duckdb"

    def failures(self) -> tuple[type[Exception], ...]:
        import duckdb

        return (duckdb.Error,)

    def selected(self, path: Path, split: Split, encoding_errors: str) -> Iterator[Record]:
        """Yield the rows that the query gives."""
        import duckdb

        # A table can be a view, which must not read other files of this machine; a query of the user's may.
        config: dict[str, str | bool | int | float | list[str]] = {} if self.query else {"enable_external_access": "false"}
        with closing(duckdb.connect(str(path), read_only=True, config=config)) as opened:
            tables = opened.execute(_TABLES).fetchall()
            found, number = opened.sql(self.statement(split, tables)), 1
            for batch in () if found is None else _batches(found):
                for _, row in plain_rows(batch, split.name, number):
                    yield row
                number += len(batch)


def _batches(found: Any) -> Any:
    """Return what reads rows in batches; its name came with version 2."""
    return found.to_arrow_reader(_ROWS) if hasattr(found, "to_arrow_reader") else found.fetch_arrow_reader(_ROWS)


FORMAT = DuckDB()
