"""lookalike finds near-duplicate documents.

Texts become shingles, shingles become sketches, sketches share buckets, buckets propose pairs, pairs are verified, and a
walk in keep order removes each document that a kept one resembles.

The names below load their parts on first use, so that ``import lookalike`` costs little.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as type checkers read it; `typing` is not loaded for so little

__version__ = "0.2.0"

_HOMES = {
    "History": ".recipes.history",
    "Index": ".index.index",
    "LookalikeError": ".errors",
    "Plan": ".planner",
    "Result": ".results.result",
    "Settings": ".settings.settings",
    "Shingling": ".text.shingle",
    "changes": ".results.changes",
    "decide": ".steps.keep",
    "decontaminate": ".recipes.decontaminate",
    "dedup": ".recipes.dedup",
    "exact_pairs": ".steps.keep",
    "foresee": ".recipes.foresight",
    "html_to_text": ".text.html",
    "pairs": ".recipes.pairs",
    "plan": ".planner",
    "repeats": ".recipes.repeats",
    "shingle": ".text.hashes",
    "start_session": ".engines.spark.session",
    "verify": ".steps.keep",
}

_PARTS = ("errors", "integrations", "search", "sketches", "theory")
__all__ = sorted([*_PARTS, *_HOMES])

if TYPE_CHECKING:  # "as" exports a name to type checkers of programs
    from . import errors as errors
    from . import integrations as integrations
    from . import search as search
    from . import sketches as sketches
    from . import theory as theory
    from .engines.spark.session import start_session as start_session
    from .errors import LookalikeError as LookalikeError
    from .index.index import Index as Index
    from .planner import Plan as Plan
    from .planner import plan as plan
    from .recipes.decontaminate import decontaminate as decontaminate
    from .recipes.dedup import dedup as dedup
    from .recipes.foresight import foresee as foresee
    from .recipes.history import History as History
    from .recipes.pairs import pairs as pairs
    from .recipes.repeats import repeats as repeats
    from .results.changes import changes as changes
    from .results.result import Result as Result
    from .settings.settings import Settings as Settings
    from .steps.keep import decide as decide
    from .steps.keep import exact_pairs as exact_pairs
    from .steps.keep import verify as verify
    from .text.hashes import shingle as shingle
    from .text.html import html_to_text as html_to_text
    from .text.shingle import Shingling as Shingling
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
