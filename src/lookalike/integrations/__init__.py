"""Functions for DuckDB and polars, and features for scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..lazy import load_name

_HOMES = {
    "BBitFeatures": ".features",
    "ColumnFunctions": ".columns",
}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    """Load a public name on first use."""
    return load_name(__name__, _HOMES, name)


def __dir__() -> list[str]:
    """List the public names."""
    return __all__


if TYPE_CHECKING:
    from .columns import ColumnFunctions as ColumnFunctions
    from .features import BBitFeatures as BBitFeatures
