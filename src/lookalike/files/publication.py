"""Several outputs that appear together: a journal says which, and the next process finishes what a killed one began.

The journal is in a folder whose lock the process holds. What ``recover`` does depends on what it finds there:

1. No journal: nothing of a job can be seen, or all of it.
2. A journal of what is being *written*, each output beside its place under a hidden name, which was in the journal before it
   was on the disk: the job is undone. The hidden files and folders are removed, then the journal.
3. A journal of what is *whole*: all that it names is on the disk. From here on the job is finished, never undone: each output
   that still has its hidden name gets its own, in the order of the journal; what they replace is removed, then the journal.

Renames stay within a folder, and every step can be done twice. So a process can be killed, or the power lost, at any of them.
An output that has neither name was published, and has been removed since.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from types import TracebackType
from typing import Annotated

from msgspec import Meta, Struct, to_builtins

from .. import __version__
from ..errors import InputDataError, LookalikeError, OutputError
from . import disk
from .atomic import atomic_file, remove_leftovers, reporting, sync_folder
from .descriptions import Description, FileName, damaged, encoded, is_trusted, read_description
from .disk import SIDECAR, remove_recorded, replace_folder
from .names import GivenPath, show_path
from .urls import AnyPath

JOURNAL = ".lookalike_journal.json"
FORMAT = 1
_LONGEST, _END = 150, 40  # bytes of a name that is whole in the hidden one; characters of a longer one, its suffix with them
_HIDDEN = re.compile(r"\.[0-9a-f]{8}-(.+)", re.DOTALL)


class _Output(Struct):
    """An output, and the name that it has until it is published."""

    place: FileName
    hidden: FileName
    replace: bool


class _Journal(Struct):
    """What is written, or to be published."""

    whole: bool
    outputs: list[_Output]
    removed: list[Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._=-]*\Z")]]  # folders beside the journal


class Publication:
    """Outputs that are written under hidden names, and appear together; without ``publish`` they are removed."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._journal = folder, _Journal(whole=False, outputs=[], removed=[])

    def __enter__(self) -> Publication:
        """Begin to write."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Undo what is not whole; what is, the next process finishes if this one could not. Errors name no hidden files."""
        if isinstance(error, OutputError):
            for one in self._journal.outputs:
                for name in ("path", "reason"):
                    setattr(
                        error,
                        name,
                        (getattr(error, name) or "").replace(show_path(one.hidden), show_path(one.place)) or None,
                    )
        if not self._journal.whole:
            with suppress(OutputError) if error is not None else nullcontext():  # the next process does what this one could not
                _undo(self._folder, self._journal)

    def place(self, path: GivenPath, replace: bool = False) -> str:
        """Return where to write an output that is to appear at a path: beside it, with the same suffix."""
        place = Path(os.path.realpath(path))
        end = place.name if len(os.fsencode(place.name)) <= _LONGEST else place.name[-_END:]
        hidden = place.with_name(f".{os.urandom(4).hex()}-{end}")
        self._journal.outputs.append(_Output(str(place), str(hidden), replace))
        _write(self._folder, self._journal)
        return f"{hidden}{'/' if os.fspath(path).endswith('/') else ''}"

    def publish(self, removed: Sequence[str] = ()) -> None:
        """Let all outputs that were written appear, the last one last, and remove folders beside the journal."""
        outputs = []
        for one in self._journal.outputs:
            for some in (one, _Output(one.place + SIDECAR, one.hidden + SIDECAR, True)):
                if os.path.lexists(some.hidden):
                    outputs.append(some)
                    _check_free(some)
        whole = _Journal(whole=True, outputs=outputs, removed=list(removed))
        try:
            _write(self._folder, whole)
        except BaseException:  # it may be there all the same, and must not while its outputs are removed
            with suppress(OSError, LookalikeError):
                if _read(self._folder).typed.whole:
                    (self._folder / JOURNAL).unlink()
            raise
        self._journal = whole
        _finish(self._folder, whole)


def recover(folder: Path, trusted: Sequence[AnyPath]) -> bool | None:
    """Finish, or undo, what a process left that was killed; return whether it was finished, None if there was nothing."""
    path = folder / JOURNAL
    with reporting(path):
        remove_leftovers(path)
        try:
            found = _read(folder)
        except (FileNotFoundError, NotADirectoryError):
            return None
        journal = found.typed
        if not all(map(_is_hidden, journal.outputs)):
            raise damaged(path, "it names files that no job writes")
        strange = [] if found.own else [one.place for one in journal.outputs if not is_trusted(one.place, trusted)]
        if strange:
            raise InputDataError(
                f"another user, or you on another machine, ran a job here that was killed; finish it there or, if you "
                f"know the places of its outputs, such as {show_path(strange[0])}, trust them: "
                "--trust PATH (trust=)",
                path,
            )
        (_finish if journal.whole else _undo)(folder, journal)
    return journal.whole


def _is_hidden(one: _Output) -> bool:
    place, hidden = Path(one.place), Path(one.hidden)
    name = _HIDDEN.fullmatch(hidden.name)
    return place.is_absolute() and hidden.parent == place.parent and name is not None and place.name.endswith(name[1])


def _read(folder: Path) -> Description[_Journal]:
    return read_description(folder / JOURNAL, _Journal, FORMAT, "an unfinished job")


def _write(folder: Path, journal: _Journal) -> None:
    said = {"lookalike": __version__, "format": FORMAT, **to_builtins(journal)}
    with atomic_file(folder / JOURNAL) as stream:
        stream.write(encoded(said))


def _check_free(one: _Output) -> None:
    if os.path.lexists(one.place) and not one.replace:
        raise OutputError(
            " was written by another process meanwhile, and was left unchanged: move it, and run again", one.place
        )


def _finish(folder: Path, journal: _Journal) -> None:
    """Give outputs their names, and remove what they replace."""
    try:
        _rename(journal)
        for name in journal.removed:
            if (folder / name).is_dir():
                remove_recorded(folder / name)
        _close(folder)
    except OSError as error:
        raise OutputError(
            f"cannot be written: {error.strerror or error}; everything is on the disk, and the next run with "
            f"{show_path(folder)} continues from here",
            error.filename or folder,
        ) from None


def _rename(journal: _Journal) -> None:
    for one in journal.outputs:
        hidden, place = Path(one.hidden), Path(one.place)
        if os.path.lexists(hidden):
            _check_free(one)
            if hidden.is_dir():
                replace_folder(hidden, place, one.replace)
            else:
                os.replace(hidden, place)
    for parent in dict.fromkeys(Path(one.place).parent for one in journal.outputs):
        if parent.is_dir():
            sync_folder(parent)
    for one in journal.outputs:
        disk.recover(Path(one.place))  # removes the folder that it replaced, if a killed process did not


def _undo(folder: Path, journal: _Journal) -> None:
    """Remove what was written."""
    import shutil  # here, for what is not needed to start

    with reporting(folder / JOURNAL):
        for one in journal.outputs:
            for hidden in (Path(one.hidden), Path(one.hidden + SIDECAR)):
                remove_leftovers(hidden)
                with suppress(FileNotFoundError):
                    shutil.rmtree(hidden) if hidden.is_dir() else hidden.unlink()
        if journal.outputs:
            _close(folder)


def _close(folder: Path) -> None:
    (folder / JOURNAL).unlink(missing_ok=True)
    sync_folder(folder)
