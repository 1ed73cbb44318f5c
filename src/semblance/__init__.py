"""semblance finds near-duplicate documents.

Texts become shingles, shingles become sketches, sketches share buckets, buckets propose pairs, pairs are verified,
verified pairs become clusters, and one document of each cluster is kept.

The names below load their parts on first use, so that ``import semblance`` costs little.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0.dev0"

_HOMES = {
    "BandingIndex": "search.banding",
    "DedupResult": "pipeline.result",
    "FastSimilarity": "sketches.fast_similarity",
    "IncompatibleSketchError": "errors",
    "InputDataError": "errors",
    "Kept": "pipeline.keep",
    "MinHash": "sketches.minhash",
    "MissingExtraError": "errors",
    "OutputError": "errors",
    "Pairs": "values",
    "ParameterError": "errors",
    "Plan": "planner",
    "SemblanceError": "errors",
    "Settings": "pipeline.settings",
    "Shingles": "values",
    "Shingling": "text.shingle",
    "Signatures": "values",
    "dedup": "pipeline.deduplicate",
    "keep": "pipeline.keep",
    "pairs": "pipeline.pairs",
    "plan": "planner",
    "shingle": "text.shingle",
    "verify": "pipeline.verify",
}

__all__ = ["theory", *_HOMES]
__all__ = sorted(__all__)


def __getattr__(name: str) -> Any:
    """Load a public name on first use."""
    if name == "theory":
        return import_module(".theory", __name__)
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return __all__


if TYPE_CHECKING:
    from . import theory
    from .errors import (
        IncompatibleSketchError,
        InputDataError,
        MissingExtraError,
        OutputError,
        ParameterError,
        SemblanceError,
    )
    from .pipeline.deduplicate import dedup
    from .pipeline.keep import Kept, keep
    from .pipeline.pairs import pairs
    from .pipeline.result import DedupResult
    from .pipeline.settings import Settings
    from .pipeline.verify import verify
    from .planner import Plan, plan
    from .search.banding import BandingIndex
    from .sketches.fast_similarity import FastSimilarity
    from .sketches.minhash import MinHash
    from .text.shingle import Shingling, shingle
    from .values import Pairs, Shingles, Signatures
