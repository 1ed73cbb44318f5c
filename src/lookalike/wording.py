"""How numbers, and names that others chose, are said to a person."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

MOST_SHOWN = 300  # characters of a fact in a notebook
_BOTH = re.compile(r"(?<!\w)(--?[a-z][a-z-]*(?: (?!--)(?:'[^']*'|[^\s();,:]+))?) \(([a-z_]+(?:=[^()]*)?)\)")
QUOTES = ('"', "'", "[")  # with which values of ``--set`` begin that are more than a word
_on_command_line = False
_keys: Collection[str] = ()


@contextmanager
def for_command_line() -> Iterator[None]:
    """Speak of options while a command runs, not of keywords of Python."""
    global _on_command_line, _keys
    before, _on_command_line, _keys = _on_command_line, True, ()
    try:
        yield
    finally:
        _on_command_line = before


def speak_of_keys(names: Collection[str]) -> None:
    """Name settings as --set does that the command which runs takes as keys, not as options."""
    global _keys
    _keys = names


def _by_set(found: re.Match[str]) -> str:
    (_, _, value), (name, _, _) = found[1].partition(" "), found[2].partition("=")
    return f"--set {name}={value or '...'}" if name in _keys else found[1]


def spoken(text: str) -> str:
    """Return a message as its reader knows options: "--force (force=True)" is ``--force`` in a shell, ``force=True`` in Python.

    Messages name an option by both, the keyword in brackets, or they name it in words.
    """
    return _BOTH.sub(_by_set if _on_command_line else r"\2", text)


def plural(n: int, thing: str, things: str = "") -> str:
    """Return "1 document", "2,000 documents"."""
    return f"{n:,} {thing if n == 1 else things or thing + 's'}"


def band_counts(bands: int, rows: int) -> str:
    """Return "37 bands of 6 rows"."""
    return f"{plural(bands, 'band')} of {plural(rows, 'row')}"


def called(identity: Mapping[str, Any]) -> str:
    """Return the name of an input, by what its record says; one of several text files is named by the first."""
    name, files = str(identity["name"]), identity.get("files", 1)
    return f"{name} and {plural(files - 1, 'more file')}" if isinstance(files, int) and files > 1 else name


def text_size(n_bytes: int) -> str:
    """Return "12 bytes of text", "270.4 MB of text"."""
    return f"{n_bytes / 1e6:,.1f} MB of text" if n_bytes >= 100_000 else f"{plural(n_bytes, 'byte')} of text"


def printable(text: str) -> str:
    r"""Return a text as one line that cannot steer a terminal: what is not printable becomes an escape such as ``\x1b``.

    These are control characters, ends of lines, bidirectional and other invisible marks, lone surrogates, unassigned
    characters and those for private use. Letters of all scripts stay, and so do escapes: doing it twice changes nothing.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def show_path(path: str | os.PathLike[str]) -> str:
    """Return a path as text that can be printed and stored: bytes that are not UTF-8 become escapes such as ``\\xe9``."""
    name = os.fspath(path)
    try:
        return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:  # no name that a file can have
        return name.encode("utf-8", "backslashreplace").decode("utf-8")


def meant(name: str, known: Iterable[str]) -> str:
    """Return "; did you mean 'first'?", if one of some words is like another; else nothing."""
    from difflib import get_close_matches  # here, for what is not needed to start

    words = {word.lower(): word for word in known}
    found = get_close_matches(name.lower(), words, 1)
    return f"; did you mean {words[found[0]]!r}?" if found else ""


def check_spelling(function: str, named: Iterable[str], known: Collection[str]) -> None:
    """Refuse a parameter that a function does not have, and name the one that was probably meant."""
    for name in named:
        if name not in known:
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}{meant(name, known)}")


def json_fault(error: Exception) -> str:
    """Return what is wrong with a line of JSON, and in which column."""
    return str(error).replace("line 1 ", "").partition(" (char ")[0]


def html_table(caption: str, facts: Mapping[str, str], rows: Iterable[tuple[str, str]] = ()) -> str:
    """Return a small table for notebooks: a row for each fact, then rows, the first of headings; nothing is taken for HTML."""
    from html import escape  # here, for what is not needed to start

    def cell(text: str) -> str:
        return escape(printable(text)[:MOST_SHOWN])

    head = "<th style='text-align:left'>{}</th>"
    shown = [f"{head.format(cell(name))}<td>{cell(text)}</td>" for name, text in facts.items()]
    for number, row in enumerate(rows):
        shown.append("".join(("<td>{}</td>" if number else head).format(cell(text)) for text in row))
    return f"<table><caption>{cell(caption)}</caption>{''.join(f'<tr>{cells}</tr>' for cells in shown)}</table>"


class Brief:
    """Shows itself by a few facts, however large it is: in one line, and as a small table in notebooks."""

    __slots__ = ()

    def _facts(self) -> dict[str, str]:
        """Return what is said of it, by name; what speaks for itself in one line comes first."""
        raise NotImplementedError

    def __repr__(self) -> str:
        """Name the facts."""
        return f"<{type(self).__name__}: {printable(', '.join(self._facts().values()))}>"

    def _repr_html_(self) -> str:
        """Return the facts as a small table, for notebooks."""
        return html_table(type(self).__name__, self._facts())
