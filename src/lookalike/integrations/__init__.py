"""Functions for DuckDB and polars, and features for scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazily

_HOMES = {
    "BBitFeatures": ".features",
    "ColumnFunctions": ".columns",
}

if TYPE_CHECKING:
    from .columns import ColumnFunctions as ColumnFunctions
    from .features import BBitFeatures as BBitFeatures
else:
    __getattr__, __dir__, __all__ = lazily(__name__, _HOMES)
