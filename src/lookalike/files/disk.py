"""Output files and folders on a disk: whether they may be written, and folders that are replaced as a whole."""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from ..errors import OutputError
from ..wording import plural
from .atomic import (
    create_temporary,
    leftovers,
    locked,
    make_folders,
    output_exists,
    remove_leftovers,
    reporting,
    sync,
    sync_folder,
    temporary_prefix,
)
from .names import GivenPath, first_few, show_path, suffix_of, walk
from .places import FoundFile, number_of
from .streams import compressed
from .urls import AnyPath, check_on_disk, check_writable

SIDECAR = "_lookalike.json"  # where an output says how it was made: beside it, or in its folder
_NOT_EMPTY = errno.ENOTEMPTY, errno.EEXIST


def check_output(
    path: str | Path, force: bool, *, single: bool, described: bool = False, suffixes: Collection[str] = ()
) -> Path:
    """Return the path to write to, symbolic links followed, if it may be written to."""
    check_writable(path)
    check_on_disk(
        path,
        "where only folders of documents and of sketches are written: name a folder, or write on this "
        "machine, and copy what is written",
    )
    given, path = show_path(path), Path(path)
    try:
        with suppress(FileNotFoundError):  # before links are followed: that of /dev/stdout leads to no name
            if not stat.S_ISREG(mode := path.stat().st_mode) and not stat.S_ISDIR(mode):
                raise OutputError(" is a pipe or a device; an output must be a file, a folder, or - for standard output", given)
        if path.is_symlink():
            path = Path(os.path.realpath(path))
            if suffix_of(path, suffixes) != suffix_of(given, suffixes):
                raise OutputError(f" is a link to {show_path(path)}, which has another suffix; name that file instead", given)
        if not single:
            recover(path)
        with suppress(FileNotFoundError):
            mode = path.stat().st_mode
            if not force:
                raise OutputError(" exists; pass --force (force=True) to replace it, or choose another name", given)
            if single == stat.S_ISDIR(mode):
                kind = ("one file", "directory") if single else ("a directory", "file")
                raise OutputError(f" means {kind[0]}, but a {kind[1]} of that name exists", given)
            if not single:
                check_folder(path)
        if single and described:
            check_sidecar(path)
        parent = next(p for p in path.absolute().parents if os.path.lexists(p))
        if not stat.S_ISDIR(parent.stat().st_mode):
            raise OutputError(f"cannot be written: {show_path(parent)} is not a folder", given)
        if not os.access(parent, os.W_OK | os.X_OK):
            raise OutputError(f"no permission to write into {show_path(parent)}", given)
        remove_leftovers(path)
        if single and described:
            remove_leftovers(path.with_name(path.name + SIDECAR))
    except OutputError:
        raise
    except (OSError, ValueError) as error:
        raise OutputError(f"cannot be written: {getattr(error, 'strerror', None) or error}", given) from None
    return path


def check_sidecar(path: Path) -> None:
    """Check that the file that says how an output was made takes nobody else's place."""
    sidecar = path.with_name(path.name + SIDECAR)
    with suppress(FileNotFoundError):
        sidecar.lstat()
        try:
            held = json.loads(sidecar.read_bytes())
        except (IsADirectoryError, ValueError, RecursionError):
            held = None
        if not isinstance(held, dict) or not ({"lookalike", "inputs"} <= held.keys() or "index" in held):
            raise OutputError(
                f" exists, and no earlier run wrote it: the description of {show_path(path)} "
                "would replace it; move it, or choose another name",
                sidecar,
            )


def check_apart(output: str | Path, places: Sequence[FoundFile], also: Sequence[GivenPath] = (), *, single: bool) -> None:
    """Check that outputs do not meet inputs or one another."""
    real = Path(os.path.realpath(output))
    for other in map(Path, map(os.path.realpath, also)):
        if other == real or (not single and other.is_relative_to(real)):
            raise OutputError(f" is, or is inside, the output {show_path(output)}; choose another name for one of them", other)
    written = [real, real.with_name(real.name + SIDECAR)] if single else []
    for path in written:
        known = _file_number(path)
        for place in places if known is not None else ():
            if (place.device, place.inode) == known:
                raise OutputError(
                    f" would replace the input {place.name}; choose another name"
                    + ("" if path == real else f" (its description is written to {show_path(path)})"),
                    output,
                )
    if single:
        return
    number = _file_number(real)
    above = {_file_number(p) for p in real.parents} - {None}
    for root in dict.fromkeys(place.root for place in places if isinstance(place.root, Path)):
        if _file_number(root) in above or _file_number(root) == number:
            raise OutputError(
                f" is inside the input folder {show_path(root)}, which the next run would read; name a folder outside it",
                output,
            )
    if number is None:
        return
    parents = dict.fromkeys(os.path.dirname(os.path.abspath(p)) for place in places for p in place.names())
    inside = {folder for folder in parents if any(_file_number(p) == number for p in (Path(folder), *Path(folder).parents))}
    for place in places:
        if any(os.path.dirname(os.path.abspath(p)) in inside for p in place.names()):
            raise OutputError(f" is replaced as a whole, but contains the input {place.name}; name another folder", output)


def _file_number(path: GivenPath) -> tuple[int, int] | None:
    """Return what tells a file from others whatever its name, or None where there is none."""
    with suppress(OSError, ValueError):
        return number_of(Path(path))
    return None


def files_in(listing: AnyPath) -> list[str] | None:
    """Return the files that one of our lists names; None where there is no such list."""
    try:
        files = json.loads(listing.read_bytes())["files"]
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return files if isinstance(files, list) and all(isinstance(name, str) for name in files) else None


def _recorded(folder: Path) -> list[str] | None:
    """Return the files that a run of ours wrote into a folder, or None where nothing says so."""
    files = files_in(folder / SIDECAR)
    return None if files is None else list(map(_of_locale, files))


def as_listed(names: Iterable[str]) -> list[str]:
    """Return names of files as a list of them has them, in order: their bytes as UTF-8, whatever the locale."""
    return sorted(os.fsencode(name).decode("utf-8", "surrogateescape") for name in names)


def _of_locale(name: str) -> str:
    """Return the name of a file in a list as this process has it."""
    try:
        return os.fsdecode(name.encode("utf-8", "surrogateescape"))
    except UnicodeEncodeError:  # no name that a file can have
        return name


def check_folder(path: Path) -> None:
    """Check that a folder may be replaced: all that it holds was written by an earlier run."""
    real = Path(os.path.realpath(path))
    if Path.cwd().is_relative_to(real):
        raise OutputError(" is the current folder or contains it, and cannot be replaced; name another one", path)
    if os.path.ismount(real):
        raise OutputError(" is a mount point, which cannot be replaced; name a new folder inside it", path)
    if not os.access(real.parent, os.W_OK | os.X_OK):
        raise OutputError(f"no permission to write into {show_path(real.parent)}", path)
    files = _recorded(real)
    ours = {SIDECAR, *files} if files is not None else set()
    foreign = sorted(name for name, entry in walk(real) if not entry.is_dir(follow_symlinks=False) and name not in ours)
    if foreign:
        reason = "that no earlier run wrote" if files is not None else f"but no {SIDECAR} that lists what an earlier run wrote"
        raise OutputError(
            f" contains {plural(len(foreign), 'file')} {reason} ({first_few(foreign)}); "
            "--force (force=True) replaces the whole folder: move them, or choose another name",
            path,
        )


def remove_recorded(folder: Path) -> None:
    """Remove from a folder what a run of ours wrote, the list of it last, and the folder where nothing else is in it."""
    ours = {*(_recorded(folder) or [])} - {SIDECAR}
    inside = [(name, entry.is_dir(follow_symlinks=False)) for name, entry in walk(folder)]
    try:
        for name, is_folder in inside:
            if not is_folder and name in ours:
                (folder / name).unlink()
        for name, is_folder in sorted(inside, reverse=True):
            if is_folder:
                (folder / name).rmdir()
        if os.listdir(folder) == [SIDECAR]:
            sync_folder(folder)  # a loss of power must not bring back files that nothing lists
            (folder / SIDECAR).unlink()
        folder.rmdir()
    except OSError as error:
        if error.errno not in _NOT_EMPTY:  # else something else is in it
            raise


def recover(path: Path) -> None:
    """Put back a folder that a killed run had renamed and not yet replaced; remove it where it was replaced."""
    for old, _ in leftovers(path, ".old"):
        if not path.exists():
            os.rename(old, path)
            sync_folder(path.parent)
        else:
            with suppress(OSError, OutputError):
                remove_recorded(old)


class OutputFolder:
    """A folder that is being written, and the files in it."""

    def __init__(self, path: Path, inside: str = "", target: Path | None = None) -> None:
        self.path, self.inside = path, inside  # the latter: below that of tasks
        self.files: list[str] = []
        self._folders = {path}
        self._target, self._tasks = target or path, path

    @contextmanager
    def file(self, name: str, *, compress: bool = True) -> Iterator[BinaryIO]:
        """Open a new file; compression follows its suffix, unless ``compress`` is off."""
        target = self.path / name
        try:
            self._make_parents(target)
            raw = open(target, "xb")
        except (FileExistsError, NotADirectoryError):
            raise OutputError(
                f"two inputs would be written as {show_path(name)}; rename one, or write one file such as out.jsonl"
            ) from None
        self.files.append(name)
        with raw, compressed(raw, target if compress else None) as stream:
            yield stream

    def _make_parents(self, target: Path) -> None:
        if target.parent not in self._folders:
            target.parent.mkdir(parents=True, exist_ok=True)
            self._folders.update(p for p in target.parents if p.is_relative_to(self.path))

    def apart(self, folder: str, name: str) -> str:
        """Return the name of a file: that of the folder without the sign that hides it, and its own."""
        return f"{folder.lstrip('_')}-{name}"

    @contextmanager
    def tasks(self, inside: str = "") -> Iterator[Path]:
        """Give a folder beside the output, on its file system; a killed driver's is removed by the next run."""
        import shutil  # here, for what is not needed to start

        self._tasks, lock = create_temporary(self._target.absolute(), folder=True)
        try:
            yield self._tasks
        finally:
            shutil.rmtree(self._tasks, ignore_errors=True)  # with what lost attempts left; one that is late finds it gone
            os.close(lock)

    def take(self, written: str, name: str, n_bytes: int) -> str:
        """Move a file that a task wrote into this folder; no other has its name."""
        source, target = self._tasks / written, self.path / name
        if (size := source.stat().st_size) != n_bytes:
            raise OutputError(f"{n_bytes:,} bytes were written, but {size:,} are there; write again", source)
        self._make_parents(target)
        os.rename(source, target)
        self.files.append(name)
        return name

    def sync(self) -> None:
        """Bring everything to the disk, each file and each folder once."""
        from concurrent.futures import ThreadPoolExecutor  # here, for what is not needed to start

        with ThreadPoolExecutor(8) as pool:  # the disk does several at once in the time of one
            for _ in pool.map(sync, (self.path / name for name in self.files)):
                pass
        for folder in self._folders:
            sync_folder(folder)


@contextmanager
def atomic_directory(path: Path, *, replace: bool) -> Iterator[OutputFolder]:
    """Give a folder to write into that becomes ``path`` when all is written.

    With ``replace`` it takes the place of what an earlier run wrote there, even just before: that is renamed before the new one
    gets its name, and removed after that. A run that is killed leaves one of them; where neither has the name, the next run
    puts the earlier one back.
    """
    import shutil  # here, for what is not needed to start

    with reporting(path), ExitStack() as held:
        make_folders(path.parent)
        temporary, lock = create_temporary(path, folder=True)
        held.callback(os.close, lock)
        held.callback(shutil.rmtree, temporary, ignore_errors=True)
        folder = OutputFolder(temporary, target=path)
        yield folder
        folder.sync()
        replace_folder(temporary, path, replace)


def replace_folder(temporary: Path, path: Path, replace: bool) -> None:
    """Give a folder that is whole its name; see ``atomic_directory``."""
    with ExitStack() as held:
        old: list[Path] = []
        try:
            while True:
                if os.path.lexists(path):
                    if not replace:
                        raise output_exists(path)
                    aside = path.with_name(f"{temporary_prefix(path)}{os.urandom(4).hex()}.old")
                    with suppress(FileNotFoundError):  # another job is replacing it, too
                        if (current := locked(path)) is not None:
                            held.callback(os.close, current)
                        check_folder(path)  # again: it may have changed since the start
                        os.rename(path, aside)
                        old.append(aside)
                try:
                    os.rename(temporary, path)
                    break
                except OSError as error:
                    if error.errno not in _NOT_EMPTY:  # else somebody took the name
                        raise
        except BaseException:
            if old and not path.exists():
                try:
                    os.rename(old[-1], path)
                except OSError as error:
                    raise OutputError(
                        f"cannot be replaced: {error.strerror}; the earlier folder is {show_path(old[-1])} now: "
                        "rename it, or run again, which puts it back first",
                        path,
                    ) from None
            raise
        sync_folder(path.parent)
        with suppress(OSError, OutputError):
            for earlier in old:
                remove_recorded(earlier)
