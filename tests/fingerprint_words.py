import numpy as np

from lookalike.search import FingerprintFile


def planted(rng, n, bits, radius, share=1 / 3, least=0):
    """Random fingerprints; the last ones, a ``share`` of them, are others with ``least`` to radius + 1 bits flipped."""
    words = rng.integers(0, 1 << 64, (n, (bits + 63) // 64), "uint64")
    if bits % 64:
        words[:, -1] &= np.uint64((1 << (bits % 64)) - 1)
    first = n - int(n * share)
    for row in range(max(1, first), n):
        words[row] = words[rng.integers(0, max(1, first))]
        for bit in rng.choice(bits, int(rng.integers(least, radius + 2)), replace=False):
            words[row, bit // 64] ^= np.uint64(1) << np.uint64(bit % 64)
    return words


def as_ints(words):
    return [sum(int(x) << (64 * i) for i, x in enumerate(row)) for row in words]


def triples(pairs):
    return list(zip(pairs.left.tolist(), pairs.right.tolist(), pairs.distance.tolist(), strict=True))


def check_first(first, expected):
    allowed = {}
    for query, row, _ in expected:
        allowed.setdefault(query, set()).add(row)
    for query, row in enumerate(first.tolist()):
        assert row in allowed.get(query, {-1})


def of_margins(sums):
    return np.packbits(sums > 0, axis=1, bitorder="little").view("uint64")[:, 0]


def file_of(path, *batches, bits=64):
    file = FingerprintFile(path / "seen.fps", bits=bits)
    for batch in batches:
        file.append(batch)
    return file
