"""lookalike finds near-duplicate documents.

Texts become shingles, shingles become sketches, sketches share buckets, buckets propose pairs, pairs are verified, and a
walk in keep order removes each document that a kept one resembles.

The names below load their parts on first use, so that ``import lookalike`` costs little.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as type checkers read it; `typing` is not loaded for so little
if TYPE_CHECKING:
    from typing import Any

__version__ = "0.2.0.dev0"

_HOMES = {
    "BBit": "sketches.packed",
    "BBitFeatures": "bridges.features",
    "BandingIndex": "search.banding",
    "ColumnFunctions": "bridges.columns",
    "DartMinHash": "sketches.weighted",
    "DocumentFrequencies": "text.features",
    "ExhaustiveHammingIndex": "search.fingerprints",
    "FastSimilarity": "sketches.minhash",
    "FingerprintFile": "search.fingerprint_file",
    "Fingerprints": "values",
    "Foresight": "recipes.foresight",
    "Fractional": "sketches.packed",
    "HammingIndex": "search.hamming",
    "IncompatibleSketchError": "errors",
    "Index": "index.index",
    "IndexFormatError": "errors",
    "InputDataError": "errors",
    "Kept": "steps.keep",
    "LookalikeError": "errors",
    "MinHash": "sketches.minhash",
    "MissingExtraError": "errors",
    "OnePermutation": "sketches.permutation",
    "OutputError": "errors",
    "PackedSignatures": "values",
    "Pairs": "values",
    "ParameterError": "errors",
    "PermutationBins": "sketches.permutation",
    "PermutationMinHash": "sketches.permutation",
    "Plan": "planner",
    "Result": "results.result",
    "Seen": "recipes.seen",
    "Settings": "settings.settings",
    "Shingles": "values",
    "Shingling": "text.shingle",
    "Signatures": "values",
    "SimHash": "sketches.simhash",
    "SparkResult": "recipes.spark.result",
    "TableIndex": "search.tables",
    "WeakBitIndex": "search.weak_bits",
    "WeightedSets": "values",
    "WordTokenizer": "text.features",
    "XorBits": "sketches.packed",
    "changes": "results.changes",
    "decontaminate": "recipes.decontaminate",
    "dedup": "recipes.dedup",
    "exact_pairs": "steps.keep",
    "foresee": "recipes.foresight",
    "html_to_text": "text.html",
    "keep": "steps.keep",
    "load": "sketches.saved",
    "nearest": "search.exhaustive",
    "pairs": "recipes.pairs",
    "pairs_above": "search.exhaustive",
    "plan": "planner",
    "repeats": "recipes.repeats",
    "save": "sketches.saved",
    "shingle": "text.hashes",
    "start_session": "engines.spark.session",
    "verify": "steps.keep",
    "weigh": "text.features",
}

__all__ = ["theory", *_HOMES]
__all__ = sorted(__all__)


def __getattr__(name: str) -> Any:
    """Load a public name on first use."""
    from importlib import import_module

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
    from .bridges.columns import ColumnFunctions
    from .bridges.features import BBitFeatures
    from .engines.spark.session import start_session
    from .errors import (
        IncompatibleSketchError,
        IndexFormatError,
        InputDataError,
        LookalikeError,
        MissingExtraError,
        OutputError,
        ParameterError,
    )
    from .index.index import Index
    from .planner import Plan, plan
    from .recipes.decontaminate import decontaminate
    from .recipes.dedup import dedup
    from .recipes.foresight import Foresight, foresee
    from .recipes.pairs import pairs
    from .recipes.repeats import repeats
    from .recipes.seen import Seen
    from .recipes.spark.result import SparkResult
    from .results.changes import changes
    from .results.result import Result
    from .search.banding import BandingIndex
    from .search.exhaustive import nearest, pairs_above
    from .search.fingerprint_file import FingerprintFile
    from .search.fingerprints import ExhaustiveHammingIndex
    from .search.hamming import HammingIndex
    from .search.tables import TableIndex
    from .search.weak_bits import WeakBitIndex
    from .settings.settings import Settings
    from .sketches.minhash import FastSimilarity, MinHash
    from .sketches.packed import BBit, Fractional, XorBits
    from .sketches.permutation import OnePermutation, PermutationBins, PermutationMinHash
    from .sketches.saved import load, save
    from .sketches.simhash import SimHash
    from .sketches.weighted import DartMinHash
    from .steps.keep import Kept, exact_pairs, keep, verify
    from .text.features import DocumentFrequencies, WordTokenizer, weigh
    from .text.hashes import shingle
    from .text.html import html_to_text
    from .text.shingle import Shingling
    from .values import Fingerprints, PackedSignatures, Pairs, Shingles, Signatures, WeightedSets
