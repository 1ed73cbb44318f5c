"""Files of a document each that need a parser: web pages, PDF, DOCX, ODT, EPUB, e-mail. A kept file is copied as it is."""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import InputDataError, ParameterError
from ..extraction import UnreadableError
from ..extraction.parsers import texts_of
from ..files.streams import BLOCK
from ..text.texts import from_strings
from .split import Batch, Columns, Record, Split, marked, numbers_from
from .txt import BATCH_FILES, TextFiles, content_of


class ParsedFiles(TextFiles):
    """A document in each file, parsed in a process of its own; the default id is the file's path."""

    parsed = True

    def __init__(self, name: str, *suffixes: str, extra: str = "", package: str = "") -> None:
        self.name, self.suffixes, self.extra, self.package = name, suffixes, extra, package

    def sniff(self, head: bytes) -> bool:
        """Let the parser tell."""
        return True

    def read(self, split: Split, columns: Columns) -> Iterator[Batch]:
        """Read the files; what cannot be parsed is left out, or an error."""
        if columns.id is not None or columns.others:
            names = [*([columns.id] if columns.id else []), *columns.others]
            raise ParameterError(
                f"{self.name} files have no columns; {', '.join(names)} was asked for: leave out {split.name} and others with "
                "--glob (glob=), or do without the column"
            )
        size = 0
        texts: list[str | None] = []
        unreadable: dict[int, str] = {}
        for number, text in self._texts(split):
            if isinstance(text, UnreadableError):
                if not split.limit.leave:
                    raise InputDataError(
                        f"{split.place_of(number).name}: {text}; repair or remove the file, or leave it out: "
                        "--on-error skip (on_error='skip')"
                    )
                unreadable[len(texts)] = str(text)
            texts.append(text if isinstance(text, str) else None)
            size += len(texts[-1] or "")
            if len(texts) == BATCH_FILES or size > BLOCK or split.place_of(number) is split.places[-1]:
                skipped = marked(len(texts), [i for i, text in enumerate(texts) if text is None])
                numbers = numbers_from(number + 1 - len(texts), len(texts))
                yield Batch(from_strings(texts), numbers, skipped=skipped, unreadable=unreadable)
                size, texts, unreadable = 0, [], {}

    def rows(self, split: Split, encoding_errors: str) -> Iterator[tuple[int, Record]]:
        """Read all files as dictionaries of id and text, each with its number; what was left out has none."""
        for number, text in self._texts(split):
            yield number, {"id": split.place_of(number).name, "text": text if isinstance(text, str) else None}

    def _texts(self, split: Split) -> Iterator[tuple[int, str | UnreadableError | None]]:
        """Yield the number of each file and its text, why it has none, or None if the file is too large and left out."""
        contents = ((number, content_of(place, split)) for number, place in split.numbered)
        yield from texts_of(contents, self.name, split.limit.most, split.threads, self.extra)
