"""File formats, a file each, and values that are in memory. The names below are what formats of other packages need."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOMES = {
    "Batch": "split",
    "ColumnarFormat": "columnar",
    "Columns": "split",
    "Format": "format",
    "Limit": "split",
    "Selection": "format",
    "Split": "split",
    "as_text": "rows",
}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    """Load a public name on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)


if TYPE_CHECKING:
    from .columnar import ColumnarFormat as ColumnarFormat
    from .format import Format as Format
    from .format import Selection as Selection
    from .rows import as_text as as_text
    from .split import Batch as Batch
    from .split import Columns as Columns
    from .split import Limit as Limit
    from .split import Split as Split
