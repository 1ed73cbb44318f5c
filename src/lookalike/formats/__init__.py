"""File formats, a file each, and values that are in memory. The names below are what formats of other packages need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazily

_HOMES = {
    "Batch": ".split",
    "ColumnarFormat": ".columnar",
    "Columns": ".split",
    "Format": ".format",
    "Limit": ".split",
    "Selection": ".format",
    "Split": ".split",
    "as_text": ".rows",
}

if TYPE_CHECKING:
    from .columnar import ColumnarFormat as ColumnarFormat
    from .format import Format as Format
    from .format import Selection as Selection
    from .rows import as_text as as_text
    from .split import Batch as Batch
    from .split import Columns as Columns
    from .split import Limit as Limit
    from .split import Split as Split
else:
    __getattr__, __dir__, __all__ = lazily(__name__, _HOMES)
