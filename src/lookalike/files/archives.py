"""Archives (zip, tar): what is in them is read as the files of a folder are, from temporary copies."""

from __future__ import annotations

import re
import stat
import tarfile
import zipfile
from collections.abc import Collection, Iterator
from typing import IO, cast

from ..errors import InputDataError, OutputError
from .names import Patterns, Skipped, is_archive, left_out, show_path, suffix_of
from .places import FoundFile, Unpacked, place_at
from .signatures import BEGINS, LOOKED_AT, described, kind_of
from .streams import BLOCK, open_stream, read_blocks, why
from .tables import TITLES, tables_in

_ENCRYPTED = 1  # a bit of a zip file
_SAFE = re.compile(r"\.[a-z0-9]{1,10}")


def unpack(
    archive: FoundFile, patterns: Patterns, suffixes: Collection[str], skipped: Skipped, tables: Collection[str] = ()
) -> list[FoundFile]:  # fmt: skip
    """Return copies of the files in an archive that a folder of the same files would stand for, by name; count the others.

    Of several files of the same name the last counts, as if the archive were unpacked. ``patterns`` choose in an archive that
    the user named, not in one that they themselves chose in a folder.

    Raises
    ------
    InputDataError
        If the archive is damaged, cut short, or holds a table of one of these kinds, which is read from a folder only.
    OutputError
        If there is no room for the copies.
    """
    unpacked = Unpacked(archive.name, archive.size, archive.modified_ns)
    patterns = patterns._replace(wanted=() if archive.found else patterns.wanted).below(archive.path)
    found: dict[str, FoundFile] = {}
    kind = None
    try:
        with open_stream(archive.path) as raw:
            kind = kind_of(raw.read(LOOKED_AT))  # something may precede a zip file
        zipped = kind == "zip" or (kind not in ("tar", *BEGINS) and suffix_of(archive.path.name, (".zip",)) is not None)
        for number, (name, size, stream) in enumerate(_in_zip(archive, skipped) if zipped else _in_tar(archive, skipped)):
            parts, whole = [part for part in name.split("/") if part not in ("", ".")], f"{archive.name}/{name}"
            for table in tables_in(["/".join(parts)], tables).values() if parts else ():
                raise InputDataError(f" has a {TITLES[table]} table inside: unpack it, and name the folder", archive.name)
            if not parts or ".." in parts or "\0" in name:
                skipped.add("odd_member", whole)
            elif is_archive(parts[-1]):
                skipped.add("nested", whole)
            elif (reason := left_out(parts, patterns, suffixes)) is not None:
                skipped.add(reason, whole)
            else:
                suffix = suffix_of(parts[-1], suffixes) or "".join(_SAFE.findall(parts[-1].lower())[-1:])
                path = unpacked.copy(stream, size, f"{number}{suffix}")
                relative, label = ("/".join([name, *parts]) for name in (archive.relative, archive.name))
                if relative in found:
                    skipped.add("replaced", whole)
                copied = place_at(path, relative, show_path(label), path.stat(), archive.path, True)
                found[relative] = copied._replace(unpacked=unpacked)
    except (InputDataError, OutputError, MemoryError):
        raise
    except Exception as error:  # of decompressors and what reads headers, which damaged ones make raise many kinds
        if kind not in (None, "zip", "tar", *BEGINS):
            raise InputDataError(described(str(kind)).partition(", or pass")[0], archive.name) from None
        reason = why(error) if isinstance(error, OSError) else str(error) or type(error).__name__
        raise InputDataError(
            f"the archive is damaged, cut short or of an unknown kind ({reason}); repair or remove it, "
            "or leave it out: --exclude PATTERN (exclude=)",
            archive.name,
        ) from None
    return [found[relative] for relative in sorted(found, key=lambda one: one.split("/"))]


def _in_zip(archive: FoundFile, skipped: Skipped) -> Iterator[tuple[str, int, IO[bytes]]]:
    with open_stream(archive.path) as raw, zipfile.ZipFile(raw) as whole:
        for member in whole.infolist():
            encrypted = member.flag_bits & _ENCRYPTED
            if member.is_dir():
                continue
            if encrypted or stat.S_ISLNK(member.external_attr >> 16):
                skipped.add("encrypted" if encrypted else "linked_twice", f"{archive.name}/{member.filename}")
                continue
            with whole.open(member) as stream:
                yield member.filename, member.file_size, stream


def _in_tar(archive: FoundFile, skipped: Skipped) -> Iterator[tuple[str, int, IO[bytes]]]:
    stream = _Forwards(read_blocks(archive.path, kinds=None))
    with tarfile.open(fileobj=cast("IO[bytes]", stream), mode="r:") as whole:
        while (member := whole.next()) is not None:
            whole.members.clear()  # type: ignore[attr-defined]  # it would hold all
            content = whole.extractfile(member) if member.isreg() else None
            if content is not None:
                yield member.name, member.size, content
            elif not member.isdir():
                linked = member.islnk() or member.issym()
                skipped.add("linked_twice" if linked else "not_regular", f"{archive.name}/{member.name}")
    if stream.last.strip(b"\0") or len(stream.last) < tarfile.BLOCKSIZE:  # what tarfile, too, takes for the end
        raise InputDataError(
            f"the archive is cut short or damaged near byte {stream.tell():,} of its content; repair or remove "
            "it, or leave it out: --exclude PATTERN (exclude=)",
            archive.name,
        )
    while rest := stream.read(BLOCK):
        if rest.strip(b"\0"):
            raise InputDataError("there is more after the archive's end; unpack it with tar -xi", archive.name)


class _Forwards:
    """Bytes of blocks as a file that is read from its beginning to its end, no more than ``BLOCK`` at a time."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks, self._waiting, self._at = blocks, memoryview(b""), 0
        self.last = b""  # what was read last

    def read(self, n: int) -> bytes:
        """Return so many bytes, fewer at the end."""
        if n > BLOCK:
            raise ValueError(f"a header takes {n:,} bytes")
        parts: list[memoryview] = []
        while n:
            if not self._waiting:
                self._waiting = memoryview(next(self._blocks, b""))
                if not self._waiting:
                    break
            parts.append(self._waiting[:n])
            self._waiting = self._waiting[n:]
            n -= len(parts[-1])
            self._at += len(parts[-1])
        self.last = b"".join(parts)
        return self.last

    def tell(self) -> int:
        """Return how many bytes were read or passed over."""
        return self._at

    def seek(self, place: int) -> None:
        """Pass over bytes up to a place."""
        while place > self._at and self.read(min(BLOCK, place - self._at)):
            pass
