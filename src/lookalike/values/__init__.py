"""The values that steps hand to each other: arrays, plus the parameters that made them. The names below load their parts on
first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazily

_HOMES = {
    "Fingerprints": ".signatures",
    "Float64Array": ".arrays",
    "Int64Array": ".arrays",
    "PackedSignatures": ".packed",
    "PackingScheme": ".packed",
    "Pairs": ".pairs",
    "Shingles": ".shingles",
    "Signatures": ".signatures",
    "SketchScheme": ".signatures",
    "UInt32Array": ".arrays",
    "UInt64Array": ".arrays",
    "WeightedSets": ".weighted",
    "drop_repeats": ".shingles",
}

if TYPE_CHECKING:
    from .arrays import Float64Array as Float64Array
    from .arrays import Int64Array as Int64Array
    from .arrays import UInt32Array as UInt32Array
    from .arrays import UInt64Array as UInt64Array
    from .packed import PackedSignatures as PackedSignatures
    from .packed import PackingScheme as PackingScheme
    from .pairs import Pairs as Pairs
    from .shingles import Shingles as Shingles
    from .shingles import drop_repeats as drop_repeats
    from .signatures import Fingerprints as Fingerprints
    from .signatures import Signatures as Signatures
    from .signatures import SketchScheme as SketchScheme
    from .weighted import WeightedSets as WeightedSets
else:
    __getattr__, __dir__, __all__ = lazily(__name__, _HOMES)
