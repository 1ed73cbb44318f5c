"""Tables of databases that are a file each: the rows of the only table, or of a query."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from ..errors import InputDataError, ParameterError
from .format import EXPANSION, Format
from .split import Record, Split


class Database(Format):
    """A database. Rows are numbered from 1 in the order in which the query gives them; outputs are Parquet files, or others."""

    written_as = "parquet"
    compressible = False
    query = ""

    def queried(self, query: str) -> Self:
        """Return the same format with a query, which its name then says, so that rows are read again alike."""
        found = type(self)()
        found.name, found.suffixes, found.query = f"{self.name.partition(':')[0]}:{query}", (), query
        return found

    def expected(self, split: Split, texts: Sequence[str]) -> tuple[int, int]:
        """Judge (rows, bytes of text) by the size of the file."""
        return max(1, split.place.size // 1000), split.place.size * EXPANSION // 2

    def rows(self, split: Split, encoding_errors: str) -> Iterator[tuple[int, Record]]:
        path = split.place.path
        if not isinstance(path, Path):
            raise InputDataError(f"{split.name}: a database can be read from a disk only; copy it there")
        try:
            for number, row in enumerate(self.selected(path, split, encoding_errors), 1):
                if split.noted is not None and number == 1:
                    split.noted(split.place.size)
                yield number, row
        except self.failures() as error:
            query = f" (query: {self.query!r:.200})" if self.query else ""
            raise InputDataError(f"{split.name}: {error}{query}") from None

    def selected(self, path: Path, split: Split, encoding_errors: str) -> Iterator[Record]:
        """Yield the rows that the query gives."""
        raise NotImplementedError

    def failures(self) -> tuple[type[Exception], ...]:
        """Return what the library raises where a file or a query is not as it should be."""
        raise NotImplementedError

    def statement(self, split: Split, tables: Sequence[Any]) -> str:
        """Return the query, or one for all of the only table."""
        if self.query:
            return self.query
        names = sorted(name for (name,) in tables)
        if len(names) != 1:
            found = f"{len(names)} tables: {', '.join(names[:8])}{', ...' if len(names) > 8 else ''}" if names else "no table"
            raise InputDataError(f"{split.name} has {found}; say which rows with --query 'select id, text from ...' (query=)")
        return 'select * from "{}"'.format(names[0].replace('"', '""'))


def queried(splits: Iterable[Split], query: str) -> list[Split]:
    """Return inputs of which databases give the rows of a query."""
    return [replace(split, form=split.form.queried(query)) for split in splits]


def refuse_unused(query: str, splits: Sequence[Split]) -> None:
    """Refuse a query where nothing is a database."""
    if not any(isinstance(split.form, Database) for split in splits):
        raise ParameterError(f"query is for databases (.sqlite, .duckdb); there is none among the inputs; got {query!r:.80}")
