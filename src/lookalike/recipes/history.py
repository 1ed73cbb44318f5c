"""A folder of everything that earlier jobs kept: a generation of saved sketches from each, and an account of the jobs.

The account says of each generation which job made it: a digest of its inputs, its settings, the generations before it, and a
digest of what it wrote. So a job that comes again is known: it adds nothing, and what it wrote is made again only if it is
missing. What a job writes, its generation and the new account appear together (``files.publication``), the account last; one
process at a time may write. Generations are ordered by name, and a new one must come last.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Self

import pyarrow as pa

from ..errors import InputDataError, LookalikeError, OutputError, ParameterError, all_from_caller
from ..files.atomic import lock_at_once, make_folders, reporting
from ..files.descriptions import places_named
from ..files.disk import atomic_directory
from ..files.names import show_path
from ..files.publication import Publication, recover
from ..files.urls import AnyPath, check_on_disk
from ..inputs.generations import LOCK, Account, Generation, generations_in
from ..inputs.sketch_rows import GENERATIONS
from ..inputs.sketches import Trusted, described_in, open_saved
from ..inputs.texts import SavedTexts
from ..results.result import Result
from ..settings.settings import RunSettings, Settings, settings_of
from . import counts
from .job import JobOutcome, run
from .outputs import Outputs
from .saved_sketches import merge, secret_of
from .turns import write_accounts


@all_from_caller
class History:
    """Everything that earlier jobs kept, in a folder of generations, which one process at a time can add to.

    ``add`` is what ``lookalike dedup --history`` does: it compares documents with all generations, writes those that stay, and
    adds a generation of their sketches. Both appear together or not at all, whenever the process is killed: opening the folder
    finishes, or undoes, what a killed process left. A call that is repeated adds nothing.

    Parameters
    ----------
    folder : str or path
        On a disk; it is made if it is missing. Folders that ``Result.save_sketches`` wrote into it are generations, too.
    trust : path or sequence of paths
        As for ``dedup``, and for places that an unfinished job of somebody else names.
    read : bool, default False
        Only read: the folder must be there, and another process may be adding to it.

    Attributes
    ----------
    generations : list of Generation
        By name, each with ``name``, ``documents``, ``bytes``, ``written`` (seconds since 1970), ``inputs`` (names) and
        ``counts`` (None if its job counted nothing).
    recovered : bool or None
        Whether the job that a killed process left was finished (True) or undone (False); None: there was none.

    Raises
    ------
    ParameterError
        If it is a file, or on an object store.
    OutputError
        If another process has opened the folder, or it cannot be written.
    InputDataError
        If it holds something else, or is damaged.

    Examples
    --------
    >>> import tempfile, lookalike as la
    >>> from pathlib import Path
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "monday.txt").write_text("the quick brown fox jumps over the lazy dog")
    >>> with la.History(folder / "history") as history:
    ...     print(history.add([folder / "monday.txt"], folder / "new"))
    ...     print(history.add([folder / "monday.txt"], folder / "new"))
    <Result: 1 document, 1 kept, threshold 0.8>
    None
    """

    def __init__(self, folder: str | os.PathLike[str], *, trust: Trusted = (), read: bool = False) -> None:
        check_on_disk(
            folder,
            "where files cannot be renamed, so outputs and generations cannot appear together: name a folder on this machine, "
            "or save sketches of each job, and name them with --against (against=)",
        )
        self.folder: Path = Path(folder)
        self.trusted: tuple[AnyPath, ...] = places_named(trust)
        self.recovered: bool | None = None
        self._made = not os.path.exists(self.folder)
        if not (self._made or os.path.isdir(self.folder)):
            raise ParameterError(f"{show_path(self.folder)} is a file; a history is a folder of its own")
        if read and self._made:
            raise InputDataError("not a folder of generations", self.folder)
        self._lock = self.folder / LOCK
        self._unlock = self._locked(read)
        try:
            if self._unlock is not None:
                self.recovered = recover(self.folder, self.trusted)
            if self.recovered is not None:
                import logging  # here, for what is not needed to start

                how = (
                    "completed: its outputs and its generation are there"
                    if self.recovered
                    else "rolled back: its outputs were incomplete"
                )
                logging.getLogger("lookalike").info(f"{show_path(self.folder)}: an interrupted job was {how}")
            self._look()
        except BaseException:  # whose traceback, which notebooks keep, would keep the folder locked
            if self._unlock is not None and not self._lock.stat().st_size:  # of no job
                self._lock.unlink()
            self.close()
            raise

    def _locked(self, read: bool) -> weakref.finalize[..., Any] | None:
        """Lock the folder against other processes; a reader does without while another one writes, or if none ever has."""
        path = self._lock
        if read and not (path.exists() and os.access(path, os.W_OK)):
            return None
        with reporting(path):
            make_folders(self.folder)
            lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
            unlock = weakref.finalize(self, os.close, lock)
            if lock_at_once(lock) and path.exists() and os.path.samestat(os.fstat(lock), os.stat(path)):
                return unlock
        unlock()
        if read:
            return None
        raise OutputError("another process is using this folder; try again when it is done", self.folder)

    def __enter__(self) -> Self:
        """Return it."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Unlock the folder."""
        self.close()

    def close(self) -> None:
        """Unlock the folder; remove it if it was made and is empty."""
        if self._unlock is not None and self._unlock.alive:
            if self._made and os.listdir(self.folder) == [LOCK]:
                self._lock.unlink()
                self.folder.rmdir()
            self._unlock()

    @contextmanager
    def _publishing(self) -> Iterator[Publication]:
        self._check_locked()
        with Publication(self.folder) as together:
            yield together
        self._look()

    def _look(self) -> None:
        """Find the generations, and remember if there is an account of them, which must not be lost unnoticed."""
        self.generations: list[Generation] = generations_in(self.folder)
        if self._unlock is not None and (self.folder / GENERATIONS).exists() and not self._lock.stat().st_size:
            self._lock.write_text(GENERATIONS)

    def _check_locked(self) -> None:
        """Refuse to write what another process may be writing."""
        if self._unlock is None or not self._unlock.alive:
            raise OutputError("opened for reading, or closed: open it without read=True to change it", self.folder)

    def _accounts(self) -> list[Account]:
        return [one.account for one in self.generations if one.account is not None]

    def add(
        self, data: Any, output: str | Path, settings: Settings | None = None, *, generation: str | None = None,
        force: bool = False, texts: bool = True, fail_if_removed: float | str | Sequence[float | str] | None = None,
    ) -> Result | None:  # fmt: skip
        """Compare documents with all generations, write those that stay, and add a generation of them.

        Parameters
        ----------
        data : path or list of paths
            Files, as ``dedup`` takes them.
        output : str or path
            As for ``Result.write``, but no standard output; with ``annotate=True`` all rows are written.
        settings : Settings, optional
            Those of ``dedup``: ``la.Settings(text="body", id="url")``, with a seed that is not "random". References
            (``against``) are compared with, too.
        generation, force, texts, fail_if_removed
            As ``generation``, ``force``, ``history_texts`` and ``fail_if_removed`` of ``dedup``.

        Returns
        -------
        Result or None
            An open result; None if this job has run before, and what it wrote is there.

        Raises
        ------
        ParameterError, InputDataError, OutputError
            As ``dedup`` and ``Result.write`` do; also if data are in memory or are read from a pipe; if the same inputs were
            added with other settings; if what a job wrote is to be made again, and a generation before it is gone; if the
            folder was opened to be read, or is closed.
        """
        settings = settings or Settings()
        given = settings_of(
            RunSettings, settings, history=self.folder, generation=generation, history_texts=texts,
            fail_if_removed=fail_if_removed, trust=(*places_named(settings.trust), *self.trusted),
        )  # fmt: skip
        return self._run(data, given, Outputs(output=os.fspath(output), force=force)).result

    def _run(self, data: Any, settings: RunSettings, outputs: Outputs, known: bool = True) -> JobOutcome:
        """Do a job against all generations, and add what is written: see ``job.run``."""
        self._check_locked()
        done = run(data, settings, outputs, self.generations, known)
        self._look()
        return done

    def counts(self) -> pa.Table:
        """Add up, for each document that was kept, how often its text occurs in all weeks, as far as jobs counted it.

        Jobs with ``counts=True`` save what they count with their sketches: for the documents that they keep, and for those of
        earlier weeks. A document that was kept in the first week so gets the duplicates of all weeks.

        Returns
        -------
        pyarrow.Table
            A row for each document of the generations, in their order: ``id`` (default: file and row), ``generation``,
            ``n_exact`` and ``n_duplicates`` (documents removed for it, and its copies among these), ``n_sources`` (different
            sources, its own included, unless it was spared).

        Raises
        ------
        ParameterError
            If jobs counted by different columns.
        InputDataError
            If sketches or counts are missing or damaged. Inputs are not read, and can be gone.

        Notes
        -----
        What jobs without ``counts=True`` found is missing: their generations have ``counts`` None. What was forgotten is gone,
        both its documents and what its job counted for others. Memory: the table; ``lookalike history counts -o`` holds some
        rows of it at a time.

        Examples
        --------
        >>> import tempfile, lookalike as la
        >>> from pathlib import Path
        >>> folder = Path(tempfile.mkdtemp())
        >>> for day in ("monday", "tuesday"):
        ...     _ = (folder / f"{day}.txt").write_text("the quick brown fox jumps over the lazy dog")
        >>> with la.History(folder / "history") as history:
        ...     for day in ("monday", "tuesday"):
        ...         _ = history.add([folder / f"{day}.txt"], folder / f"{day}.jsonl", la.Settings(counts=True))
        ...     history.counts().select(["generation", "n_duplicates", "n_sources"]).to_pylist()
        [{'generation': '000001', 'n_duplicates': 1, 'n_sources': 2}]
        """
        rows = counts.AddedUp(self.generations)
        return pa.Table.from_batches(rows.batches(), rows.schema)

    def forget(self, name: str) -> None:
        """Remove a generation: later jobs are not compared with it, and may add its inputs again.

        Parameters
        ----------
        name : str

        Raises
        ------
        ParameterError
            If there is no such generation.
        OutputError
            If the folder was opened to be read, or is closed, or cannot be written.
        """
        if name not in {one.name for one in self.generations}:
            names = ", ".join(one.name for one in self.generations) or "none"
            raise ParameterError(f"{show_path(self.folder)} has no generation {show_path(name)}; it has: {names}")
        with self._publishing() as together:
            write_accounts(together, self.folder, [one for one in self._accounts() if one.name != name])
            together.publish([name])

    def compact(self) -> int:
        """Merge all generations into one, named as the last: later jobs decide as before.

        Returns
        -------
        int
            How many were merged; 0 if there are fewer than two.

        Raises
        ------
        ParameterError
            If they were saved with different settings.
        OutputError
            If the folder was opened to be read, or is closed, or cannot be written.
        """
        every = self.generations
        if len(every) < 2:
            return 0
        with self._publishing() as together:
            folder = Path(together.place(every[-1].folder, replace=True))
            with atomic_directory(folder, replace=False) as new:
                merge([one.folder for one in every], new, partial(counts.merge, every))
            accounts = self._accounts()
            jobs = [job for one in accounts for job in one.jobs]
            write_accounts(together, self.folder, [Account(every[-1].name, described_in(folder).checksum, jobs)])
            together.publish([one.name for one in every[:-1]])
        return len(every)

    def check(self) -> list[str]:
        """Read all generations, and return what is wrong with them; nothing: they are whole.

        Returns
        -------
        list of str
            Files that are missing, damaged or changed, and inputs that later jobs could not read again.
        """
        found = []
        for one in self.generations:
            try:
                for split in open_saved(one.folder, self.trusted):
                    for _ in split.data.batches():
                        pass
                    for _ in SavedTexts(split, as_they_are=True).each() if split.data.texts else ():
                        pass
                secret_of(one.folder, described_in(one.folder).typed.secret)
                counts.check(self.generations, one)
            except LookalikeError as error:
                found.append(str(error))
        return found
