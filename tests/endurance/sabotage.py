"""Breaks the program on purpose: kills must show it, or they prove nothing."""

import os
from contextlib import contextmanager
from types import SimpleNamespace

from lookalike.files import arrays, atomic, disk, layout, publication
from lookalike.formats import writers
from lookalike.index import manifest


def in_place():
    @contextmanager
    def written(path, *, compress=True, mode=None, replace=True, beside=None):
        atomic.make_folders(path.parent)
        if beside is not None:
            beside[0].write_bytes(beside[1])
        with open(path, "wb") as raw, atomic.compressed(raw, path if compress else None) as stream:
            yield stream

    for module in (atomic, arrays, writers, manifest):
        module.atomic_file = written


def no_sync():
    os.fsync = lambda file: None


def no_folder_sync():
    for module in (atomic, disk, arrays):
        module.sync_folder = lambda path: None


def early_acknowledgement():
    """The head of a section is written before its data have reached the disk."""
    layout.write_section.__globals__["os"] = SimpleNamespace(**vars(os) | {"fsync": lambda file: None})


def no_journal():
    publication._write = lambda folder, journal: None


WAYS = {
    "in-place": in_place, "no-sync": no_sync, "no-folder-sync": no_folder_sync, "no-section-sync": early_acknowledgement,
    "no-journal": no_journal,
}  # fmt: skip
