"""Sketch schemes, frozen parameter objects that turn shingles into signatures; and what they make."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazily

_HOMES = {
    "BBit": ".packed",
    "DartMinHash": ".weighted",
    "DocumentFrequencies": "..text.features",
    "FastSimilarity": ".minhash",
    "Fingerprints": "..values",
    "Fractional": ".packed",
    "MinHash": ".minhash",
    "OnePermutation": ".permutation",
    "PackedSignatures": "..values",
    "PermutationBins": ".permutation",
    "PermutationMinHash": ".permutation",
    "Shingles": "..values",
    "Signatures": "..values",
    "SimHash": ".simhash",
    "WeightedSets": "..values",
    "WordTokenizer": "..text.features",
    "XorBits": ".packed",
    "load": ".saved",
    "save": ".saved",
    "weigh": "..text.features",
}

if TYPE_CHECKING:
    from ..text.features import DocumentFrequencies as DocumentFrequencies
    from ..text.features import WordTokenizer as WordTokenizer
    from ..text.features import weigh as weigh
    from ..values import Fingerprints as Fingerprints
    from ..values import PackedSignatures as PackedSignatures
    from ..values import Shingles as Shingles
    from ..values import Signatures as Signatures
    from ..values import WeightedSets as WeightedSets
    from .minhash import FastSimilarity as FastSimilarity
    from .minhash import MinHash as MinHash
    from .packed import BBit as BBit
    from .packed import Fractional as Fractional
    from .packed import XorBits as XorBits
    from .permutation import OnePermutation as OnePermutation
    from .permutation import PermutationBins as PermutationBins
    from .permutation import PermutationMinHash as PermutationMinHash
    from .saved import load as load
    from .saved import save as save
    from .simhash import SimHash as SimHash
    from .weighted import DartMinHash as DartMinHash
else:
    __getattr__, __dir__, __all__ = lazily(__name__, _HOMES)
