"""The codes that packed signatures are made of."""

import numpy as np

import lookalike as la
from lookalike.values import UInt64Array


def unpack(packed: la.sketches.PackedSignatures) -> list[UInt64Array]:
    """Return the codes of each part, uint64 of shape (n_documents, slots)."""
    out = []
    for first_word, slots, bits in packed.layout.tolist():
        width = (slots + 63) // 64
        words = np.ascontiguousarray(packed.words[:, first_word : first_word + bits * width], "<u8")
        planes = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little").reshape(len(words), bits, 64 * width)
        weights = np.uint64(1) << np.arange(bits, dtype=np.uint64)[:, None]
        out.append((planes[:, :, :slots] * weights).sum(1, dtype=np.uint64))
    return out
