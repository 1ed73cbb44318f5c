"""File formats, a file each, and values that are in memory already.

The names below are what a format of another package needs; they load their parts on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOMES = {
    "Batch": "_split",
    "ColumnarFormat": "_columnar",
    "Columns": "_split",
    "Format": "_format",
    "Limit": "_split",
    "Selection": "_selection",
    "Split": "_split",
    "as_text": "_rows",
}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    """Load a public name on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)


if TYPE_CHECKING:
    from ._columnar import ColumnarFormat as ColumnarFormat
    from ._format import Format as Format
    from ._rows import as_text as as_text
    from ._selection import Selection as Selection
    from ._split import Batch as Batch
    from ._split import Columns as Columns
    from ._split import Limit as Limit
    from ._split import Split as Split
