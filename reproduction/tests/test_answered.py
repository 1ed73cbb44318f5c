"""What the thesis says of threads: a query that one of them answered is asked by none of them again."""

import numpy as np
import pytest
from matching.trials import counting

import lookalike as la


@pytest.mark.parametrize("threads", [1, 3])
def test_answered_queries_are_not_asked_again_whoever_answered_them(rng, tmp_path, monkeypatch, threads):
    """Each of thirty batches has answers to all queries but one: fingerprints are compared for the others once a thread at most."""
    queries = rng.integers(0, 1 << 64, 500, dtype=np.uint64)
    lonely = ~queries[:1]
    file = la.search.FingerprintFile(tmp_path / "seen.fps")
    for _ in range(30):
        file.append(np.append(queries ^ np.uint64(1), rng.integers(0, 1 << 64, 1000, dtype=np.uint64)))
    pieces = list(file._chunks.pieces(2000))
    monkeypatch.setattr(file._chunks, "pieces", lambda most: iter(pieces))
    using = la.search.WeakBitIndex(radius=3, probes=8, prefix_bits=8)

    def compared(asked, threads=1):
        margins = np.ones((len(asked), 64), np.float32)
        with counting(file) as counts:
            found = file.first(asked, using, margins, threads=threads)
        return counts["compared"], counts["pieces"], (found >= 0).tolist()

    answered, read, _ = compared(queries)
    alone, all_read, _ = compared(lonely)
    assert (read, all_read) == (1, 30) and answered > 500
    together, _, found = compared(np.append(queries, lonely), threads)
    assert found == [True] * 500 + [False]
    assert answered + alone <= together <= threads * answered + alone
