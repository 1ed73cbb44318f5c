"""Where a long job keeps its parts on an object store, so that machines that share no disk can work on it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from ..errors import ParameterError
from .anywhere import remove_tree
from .job_files import check_same, damaged, encoded_job, job_in, note_none
from .names import shown
from .outputs_at import reporting_at
from .secrets import SECRET, bytes_of, checked, new_secret, secret_in, token_of
from .store import FINISHED, JOB
from .urls import Url

TABLES = "tables"
_NAMED = 3  # files that a message names
_UNUSABLE = "cannot be used as work folder"


class WorkspaceAt:
    """A work folder on an object store: what job it holds, the secret of the job, and a folder for its tables.

    A store has no locks. Two drivers that resume one job in one folder, against all advice, write files of different names, and
    both say of which files a table consists; the first that is done removes them all, and the other one stops with an error.
    Tables are in a folder that is named after the secret, so that no job takes those of another one for its own.

    Parameters
    ----------
    job : dict
        What distinguishes this job from others.
    resume : bool
        Resume the job in the folder.
    """

    def __init__(self, folder: Url, job: dict[str, Any], resume: bool) -> None:
        self.folder = folder
        self.secret = new_secret()
        """Known to this job alone, and kept while it can be resumed."""
        self._closed = False
        with reporting_at(folder, _UNUSABLE):
            self._open(json.loads(json.dumps(job)), resume)

    def _open(self, job: dict[str, Any], resume: bool) -> None:
        names = {entry.url.name for entry in self.folder.entries()}
        foreign = sorted(names - {JOB, FINISHED, SECRET, TABLES})
        if foreign:
            some = ", ".join(map(shown, foreign[:_NAMED])) + (", ..." if len(foreign) > _NAMED else "")
            raise ParameterError(
                f"{shown(self.folder)}: contains files that do not belong to a job ({some}); name an empty or a new folder"
            )
        if FINISHED in names:  # the driver was killed before all was removed
            self._remove()
        elif JOB in names:
            held = job_in((self.folder / JOB).read_bytes())
            if held is None:
                raise damaged(self.folder / JOB)
            check_same(shown(self.folder), held["job"], job, resume)
            found = secret_in((self.folder / SECRET).read_bytes()) if SECRET in names else None
            self.secret = checked(found, held["token"], self.folder)
            return
        if resume:
            note_none(shown(self.folder))
        (self.folder / SECRET).write_bytes(bytes_of(self.secret))
        (self.folder / JOB).write_bytes(encoded_job(job, token_of(self.secret)))

    @property
    def tables(self) -> Url:
        """The folder of the job's tables."""
        return self.folder / TABLES / token_of(self.secret)

    @contextmanager
    def left_on_error(self) -> Iterator[None]:
        """Do nothing: there is no lock."""
        yield

    def close(self) -> None:
        """Remove what the job has kept."""
        if self._closed:
            return
        self._closed = True
        with reporting_at(self.folder, _UNUSABLE):
            (self.folder / FINISHED).write_bytes(b"{}")  # first: what remains after a crash is known as waste
            self._remove()

    def _remove(self) -> None:
        """Remove everything; last of all what says that it is waste."""
        (self.folder / JOB).unlink(missing_ok=True)
        remove_tree(self.folder / TABLES)
        (self.folder / SECRET).unlink(missing_ok=True)
        (self.folder / FINISHED).unlink(missing_ok=True)
        with suppress(OSError):  # what a store may keep of a folder that is empty
            if self.folder.key and not any(True for _ in self.folder.entries()):  # a bucket is not ours
                self.folder.filesystem.delete_dir(self.folder.inside)
