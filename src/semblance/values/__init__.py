"""The values that steps hand to each other: arrays, plus the parameters that made them."""

from .arrays import Float64Array, Int64Array, UInt32Array, UInt64Array
from .fingerprints import Fingerprints
from .packed import PackedSignatures, PackingScheme
from .pairs import Pairs
from .shingles import Shingles, drop_repeats
from .signatures import Signatures, SketchScheme
from .weighted import WeightedSets

__all__ = [
    "Fingerprints", "Float64Array", "Int64Array", "PackedSignatures", "PackingScheme", "Pairs", "Shingles", "Signatures",
    "SketchScheme", "UInt32Array", "UInt64Array", "WeightedSets", "drop_repeats",
]  # fmt: skip
