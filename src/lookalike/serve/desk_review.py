"""What a reviewer says of removals: a log that grows, and the overrides that follow from it."""

from __future__ import annotations

import errno
import json
import os
import stat
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from io import FileIO
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import InputDataError, OutputError, ParameterError
from ..files.atomic import atomic_file, lock_at_once, reporting, sync_folder

LOG, OVERRIDES = "review.jsonl", "overrides.jsonl"
JUDGEMENTS = ("duplicate", "keep", "unsure")
MOST_NOTE = 2_000  # characters


@dataclass(frozen=True, slots=True)
class Judgement:
    """What was said of one removal."""

    judgement: str | None = None  # "keep": both documents should be kept; None: nothing yet, or it was taken back
    note: str = ""

    def __post_init__(self) -> None:
        """Check the values, which come from files and from the network."""
        if self.judgement is not None and self.judgement not in JUDGEMENTS:
            raise ParameterError(f"must be one of {', '.join(JUDGEMENTS)}, or null", "judgement", self.judgement)
        if not isinstance(self.note, str) or len(self.note) > MOST_NOTE:
            raise ParameterError(f"note must be a text of at most {MOST_NOTE:,} characters")


class Removed(NamedTuple):
    """Who was removed for whom, as a line of the log names them."""

    id: Any
    duplicate_of: Any


def _bytes_of(path: Path) -> bytes:
    """Return what a file of the folder holds: not a link, which could lead to any file of whoever reviews, nor a pipe."""
    if not stat.S_ISREG(path.lstat().st_mode):
        raise OSError(errno.EINVAL, "a link, a pipe or a device in the place of a file")
    return path.read_bytes()


class Review:
    """The judgements of a job's folder, by row in decisions; they survive a restart, and one process at a time adds to them.

    ``removed`` gives the ids of a removal by its row, or raises ParameterError if there was none; ``source_of`` gives ``input``
    and ``sha256`` of its file.
    """

    def __init__(
        self, folder: Path, removed: Callable[[int], Removed], source_of: Callable[[int], Mapping[str, Any]]
    ) -> None:  # fmt: skip
        self._path, self._overrides = folder / LOG, folder / OVERRIDES
        self._removed, self._source_of = removed, source_of
        self._turn = threading.Lock()
        self._log: FileIO | None = None
        self._behind = False  # the overrides have not followed yet
        self._clear()
        try:
            log = _bytes_of(self._path)
        except FileNotFoundError:
            return
        except OSError as error:
            raise InputDataError(f"cannot be read: {error.strerror}", self._path) from None
        with suppress(OutputError):  # another process reviews, or the folder cannot be written: this one can still show
            self._begin()
            self._write_overrides()
        if self._log is None:
            self._read(log)

    def _clear(self) -> None:
        """Know nothing."""
        self.judged: dict[int, Judgement] = {}
        self._earlier: list[list[tuple[int, Judgement]]] = []  # what each action that was not taken back replaced
        self._sources: dict[int, Mapping[str, Any]] = {}  # by row of a document that was to be kept at some time
        self._touched: set[str] = set()  # ids, as JSON, that were ever judged: their lines in overrides are ours

    def _read(self, log: bytes) -> int:
        """Read all lines; return where the last whole action ends. What a crash cut off does not count."""
        self._clear()
        at, end, action = 0, 0, list[tuple[int, Judgement]]()
        for number, line in enumerate(log.split(b"\n")[:-1], 1):
            try:
                said = json.loads(line)
                row, judgement = int(said["row"]), Judgement(said["judgement"], said["note"])
                theirs, source = Removed(said["id"], said["duplicate_of"]), said.get("source")
                if judgement.judgement == "keep" or source is not None:
                    self._sources[row] = {name: source[name] for name in ("input", "sha256")}
            except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
                raise InputDataError(
                    "damaged; repair or remove the line, or move the file away", self._path, line=number
                ) from None
            if not self._is(row, theirs):
                raise InputDataError(
                    "refers to a removal that is not in this result; the file probably belongs to another result: move it away",
                    self._path,
                    line=number,
                )
            action.append((row, judgement))
            at += len(line) + 1
            if not said.get("more"):
                self._take(action, bool(said.get("undo")))
                end, action = at, []
        return end

    def _is(self, row: int, theirs: Removed) -> bool:
        """Tell whether a removal is the one that a line names."""
        try:
            return self._removed(row) == theirs
        except ParameterError:
            return False

    def _take(self, action: list[tuple[int, Judgement]], undo: bool) -> None:
        """Take an action into account."""
        if not undo:
            self._earlier.append([(row, self.judged.get(row, Judgement())) for row, _ in action])
        elif self._earlier:
            self._earlier.pop()
        for row, judgement in action:
            self._touched.add(json.dumps(self._removed(row).id))
            if judgement == Judgement():
                self.judged.pop(row, None)
            else:
                self.judged[row] = judgement

    def judge(self, rows: Sequence[int], judgement: Judgement) -> None:
        """Note what was said of removals, by one action; it is on the disk, with all overrides, when this returns."""
        for row in rows:
            self._removed(row)
        with self._turn:
            self._begin()
            for row in rows:
                if judgement.judgement == "keep" and row not in self._sources:
                    self._sources[row] = self._source_of(row)  # before anything is written: the input may be gone
            changed = [(row, judgement) for row in rows if judgement != self.judged.get(row, Judgement())]
            if changed:
                self._add(changed, False)
            if self._behind:
                self._write_overrides()

    def undo(self) -> list[int]:
        """Take back the last action, a judgement or a note, that was not taken back; return its rows, or none."""
        with self._turn:
            self._begin()
            if not self._earlier:
                return []
            before = self._earlier[-1]
            self._add(before, True)
            if self._behind:
                self._write_overrides()
            return list(dict(before))

    def _begin(self) -> FileIO:
        """Open the log for adding to it, and read what others may have added meanwhile."""
        if self._log is not None:
            return self._log
        with reporting(self._path):
            log = FileIO(self._path, "a+", opener=lambda path, flags: os.open(path, flags | os.O_NOFOLLOW, 0o666))
            try:
                if not lock_at_once(log.fileno()):
                    raise OutputError("another process reviews this result; end it, or work there", self._path)
                log.seek(0)
                log.truncate(self._read(log.read()))
                sync_folder(self._path.parent)
            except BaseException:
                log.close()
                raise
        self._log, self._close = log, weakref.finalize(self, log.close)
        return log

    def _add(self, changed: list[tuple[int, Judgement]], undo: bool) -> None:
        """Add the lines of an action to the log."""
        log, lines = self._begin(), list[str]()
        for n, (row, judgement) in enumerate(changed, 1):
            line = {"row": row, **self._removed(row)._asdict(), **asdict(judgement)}
            if judgement.judgement == "keep":
                line["source"] = self._sources[row]
            lines.append(json.dumps(line | {"undo": undo, "more": n < len(changed)}))
        with reporting(self._path):
            end = log.seek(0, os.SEEK_END)
            try:
                content = ("\n".join(lines) + "\n").encode()
                if log.write(content) != len(content):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                os.fsync(log.fileno())
            except OSError:
                with suppress(OSError):
                    log.truncate(end)
                raise
        before = self._rows_to_keep()
        self._take(changed, undo)
        self._behind |= before != self._rows_to_keep()

    def _rows_to_keep(self) -> list[int]:
        return sorted(row for row, said in self.judged.items() if said.judgement == "keep")

    def _write_overrides(self) -> None:
        """Write the documents to keep, after the lines that others wrote, if that is not what is there."""
        try:
            there = _bytes_of(self._overrides)
        except FileNotFoundError:
            there = b""
        except OSError as error:
            raise OutputError(f"cannot be read: {error.strerror}", self._overrides) from None
        lines = [line for line in there.split(b"\n") if line and not self._is_ours(line)]
        for row in self._rows_to_keep():
            said = {"id": self._removed(row).id, "action": "keep", **self._sources[row]}
            lines.append(json.dumps(said, ensure_ascii=False).encode())
        wanted = b"".join(line + b"\n" for line in lines)
        if wanted != there:
            with atomic_file(self._overrides, compress=False) as stream:
                stream.write(wanted)
        self._behind = False

    def _is_ours(self, line: bytes) -> bool:
        """Tell whether a line of overrides is about a document that was judged here."""
        try:
            return json.dumps(json.loads(line)["id"]) in self._touched
        except (ValueError, KeyError, TypeError, RecursionError):
            return False

    def close(self) -> None:
        """Let others review this result."""
        with self._turn:
            if self._log is not None:
                self._close()
                self._log = None
