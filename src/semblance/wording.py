"""How numbers, and names that others chose, are said to a person."""

from __future__ import annotations


def counted(n: int, thing: str, things: str = "") -> str:
    """Return "1 document", "2,000 documents"."""
    return f"{n:,} {thing if n == 1 else things or thing + 's'}"


def text_size(n_bytes: int) -> str:
    """Return "12 bytes of text", "270.4 MB of text"."""
    return f"{n_bytes / 1e6:,.1f} MB of text" if n_bytes >= 100_000 else f"{counted(n_bytes, 'byte')} of text"


def printable(text: str) -> str:
    r"""Return a text as one line that cannot steer a terminal: what is not printable becomes an escape such as ``\x1b``.

    These are control characters, ends of lines, bidirectional and other invisible marks, lone surrogates, unassigned
    characters and those for private use. Letters of all scripts stay, and so do escapes: doing it twice changes nothing.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
