"""Folders that the package ``datasets`` of Hugging Face saved: what lies beside their Arrow files is written, too."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from .format import Selection
from .split import Record

STATE, INFO, SPLITS = "state.json", "dataset_info.json", "dataset_dict.json"
_STALE = ("splits", "dataset_size", "download_size", "size_in_bytes", "download_checksums")  # of an information: of all rows


def _loaded(path: Path) -> Any:
    """Return what a file of JSON has; None if there is none."""
    with suppress(OSError, ValueError):
        return json.loads(path.read_bytes())
    return None


def described(selections: Sequence[Selection], provenance: Record) -> Iterator[tuple[str, Any]]:
    """Yield names and contents of the files with which ``datasets.load_from_disk`` opens an output again, if it did the inputs.

    Rows must have the columns they had.
    """
    written: dict[tuple[str, Path], list[str]] = {}
    for some in selections:
        if some.split.form.name == "arrow" and some.added is None and isinstance(path := some.split.place.path, Path):
            inside, name = os.path.split(some.split.relative)
            written.setdefault((inside, path.parent), []).append(name)
    together: dict[str, list[str]] = {}
    for (folder, source), names in written.items():
        state, info = _loaded(source / STATE), _loaded(source / INFO)
        if not isinstance(state, dict) or not isinstance(info, dict):
            continue
        from hashlib import sha256  # here, for what is not needed to start

        made = sha256(json.dumps([state.get("_fingerprint"), provenance], default=str).encode()).hexdigest()[:16]
        yield os.path.join(folder, STATE), state | {"_data_files": [{"filename": name} for name in names], "_fingerprint": made}
        yield os.path.join(folder, INFO), {name: value for name, value in info.items() if name not in _STALE}
        known = _loaded(source.parent / SPLITS) if folder else None
        if isinstance(known, dict) and source.name in known.get("splits", ()):
            splits = together.setdefault(os.path.dirname(folder), [])
            splits.append(source.name)
            splits.sort(key=known["splits"].index)
    for folder, splits in together.items():
        yield os.path.join(folder, SPLITS), {"splits": splits}
