"""Search: from sketches to pairs of rows that are worth comparing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazily

_HOMES = {
    "BandingIndex": ".banding",
    "ExhaustiveHammingIndex": ".fingerprints",
    "FingerprintFile": ".fingerprint_file",
    "HammingIndex": ".hamming",
    "Pairs": "..values",
    "TableIndex": ".tables",
    "WeakBitIndex": ".weak_bits",
    "nearest": ".exhaustive",
    "pairs_above": ".exhaustive",
}

if TYPE_CHECKING:
    from ..values import Pairs as Pairs
    from .banding import BandingIndex as BandingIndex
    from .exhaustive import nearest as nearest
    from .exhaustive import pairs_above as pairs_above
    from .fingerprint_file import FingerprintFile as FingerprintFile
    from .fingerprints import ExhaustiveHammingIndex as ExhaustiveHammingIndex
    from .hamming import HammingIndex as HammingIndex
    from .tables import TableIndex as TableIndex
    from .weak_bits import WeakBitIndex as WeakBitIndex
else:
    __getattr__, __dir__, __all__ = lazily(__name__, _HOMES)
