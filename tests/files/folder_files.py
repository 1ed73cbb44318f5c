import resource
import sys
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from json_lines import write_lines


def fill(folder, **texts):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        write_lines(folder / f"{name}.jsonl", [text])
    return folder


def names(folder):
    return sorted(str(p.relative_to(folder)) for p in Path(folder).rglob("*") if not p.is_dir())


@contextmanager
def stopped(after, *calls):
    """Interrupt what is done here at one of some calls, (owner, name), after so many of them were made."""
    left = iter(range(after))

    def counted(do):
        def call(*given, **how):
            if next(left, None) is None:
                raise KeyboardInterrupt
            return do(*given, **how)

        return call

    with pytest.MonkeyPatch.context() as patch, suppress(KeyboardInterrupt):
        for owner, name in calls:
            patch.setattr(owner, name, counted(getattr(owner, name)))
        yield


@contextmanager
def limited(n_bytes):
    """No file may grow beyond a size, as on a disk that is full; modules would be cut off, too."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "dont_write_bytecode", True)
        resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
