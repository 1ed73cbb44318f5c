"""Search: from sketches to pairs of rows that are worth comparing."""

from .banding import BandingIndex
from .exhaustive import nearest, pairs_above
from .exhaustive_hamming import ExhaustiveHammingIndex
from .fingerprint_file import FingerprintFile
from .hamming import HammingIndex
from .tables import TableIndex
from .weak_bits import WeakBitIndex

__all__ = [
    "BandingIndex", "ExhaustiveHammingIndex", "FingerprintFile", "HammingIndex", "TableIndex", "WeakBitIndex", "nearest",
    "pairs_above",
]  # fmt: skip
