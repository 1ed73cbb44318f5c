"""The constants of this machine: where they are kept, and what they are where none were measured."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..errors import OutputError
from ..files.atomic import atomic_file
from ..theory.hamming_costs import Costs


def costs_path() -> Path:
    """Return the file that keeps the constants: ``lookalike/machine.json`` in the user's cache folder."""
    try:
        cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    except RuntimeError:
        raise OutputError("there is no home folder to keep the constants in: set XDG_CACHE_HOME to a folder") from None
    return Path(cache) / "lookalike" / "machine.json"


def _are_costs(values: Any) -> bool:
    """Tell whether values read from a file are constants: positive numbers, as many of each kind as there are sizes."""
    if not isinstance(values, dict):
        return False
    numbers = {name: value for name, value in values.items() if name != "source"}
    lengths = {name: len(value) for name, value in numbers.items() if isinstance(value, tuple)}
    flat = [x for value in numbers.values() for x in (value if isinstance(value, tuple) else (value,))]
    shapes = {name: len(value) for name, value in asdict(Costs()).items() if isinstance(value, tuple)}
    return (
        all(isinstance(x, (int, float)) and not isinstance(x, bool) and 0.0 < x < float("inf") for x in flat)
        and {*lengths} == {*shapes} and len(set(lengths.values())) == 1 and min(lengths.values()) > 0
        and list(values["sizes"]) == sorted(set(values["sizes"])) and isinstance(values.get("source", ""), str)
    )  # fmt: skip


@lru_cache(maxsize=1)
def machine_costs() -> Costs:
    """Return the constants that ``measure_costs`` left on this machine, or those of a 2.6 GHz core."""
    try:
        kept = json.loads(costs_path().read_text())
        values = {k: tuple(v) if isinstance(v, list) else v for k, v in kept.items()} if isinstance(kept, dict) else kept
        return Costs(**values) if _are_costs(values) else Costs()
    except (OSError, ValueError, TypeError):
        return Costs()


def check_costs_folder() -> None:
    """Make the folder that keeps the constants."""
    folder = costs_path().parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise OutputError(
            f"{folder}: the constants cannot be kept there: {error.strerror}; set XDG_CACHE_HOME to another folder, or pass "
            "--no-measure"
        ) from None


def save_costs(costs: Costs) -> Path:
    """Keep the constants for later processes, and return the file."""
    check_costs_folder()
    path = costs_path()
    with atomic_file(path) as stream:
        stream.write(json.dumps(asdict(costs), indent=1).encode())
    machine_costs.cache_clear()
    return path
