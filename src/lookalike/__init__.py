"""lookalike finds near-duplicate documents.

Texts become shingles, shingles become sketches, sketches share buckets, buckets propose pairs, pairs are verified, and a
walk in keep order removes each document that a kept one resembles.

The names below load their parts on first use, so that ``import lookalike`` costs little.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as type checkers read it; `typing` is not loaded for so little

__version__ = "0.2.0.dev0"

_HOMES = {
    "History": ".recipes.history",
    "Index": ".index.index",
    "LookalikeError": ".errors",
    "Plan": ".planner",
    "Result": ".results.result",
    "Settings": ".settings.settings",
    "Shingling": ".text.shingle",
    "changes": ".results.changes",
    "decontaminate": ".recipes.decontaminate",
    "dedup": ".recipes.dedup",
    "exact_pairs": ".steps.keep",
    "foresee": ".recipes.foresight",
    "html_to_text": ".text.html",
    "keep": ".steps.keep",
    "pairs": ".recipes.pairs",
    "plan": ".planner",
    "repeats": ".recipes.repeats",
    "shingle": ".text.hashes",
    "start_session": ".engines.spark.session",
    "verify": ".steps.keep",
}

_PARTS = ("errors", "integrations", "search", "sketches", "theory")
__all__ = sorted([*_PARTS, *_HOMES])

if TYPE_CHECKING:
    from . import errors, integrations, search, sketches, theory
    from .engines.spark.session import start_session
    from .errors import LookalikeError
    from .index.index import Index
    from .planner import Plan, plan
    from .recipes.decontaminate import decontaminate
    from .recipes.dedup import dedup
    from .recipes.foresight import foresee
    from .recipes.history import History
    from .recipes.pairs import pairs
    from .recipes.repeats import repeats
    from .results.changes import changes
    from .results.result import Result
    from .settings.settings import Settings
    from .steps.keep import exact_pairs, keep, verify
    from .text.hashes import shingle
    from .text.html import html_to_text
    from .text.shingle import Shingling
else:  # where type checkers do not look, for a name that is not there to be an error

    def __getattr__(name: str) -> object:
        """Load a public name on first use."""
        from importlib import import_module

        from .lazy import load_name

        if name in _PARTS:
            return import_module(f".{name}", __name__)
        return load_name(__name__, _HOMES, name)

    def __dir__() -> list[str]:
        """List the public names."""
        return __all__
