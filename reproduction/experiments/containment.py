"""Documents inside others: what is found of planted ones, and what is left of a real corpus, against an exhaustive search.

python reproduction/experiments/containment.py                       planted excerpts, in documents 1 to 1,000 times as long
python reproduction/experiments/containment.py real FILE THRESHOLD   kept documents that another kept one contains
"""

from __future__ import annotations

import sys
from time import process_time

import numpy as np
import pyarrow.parquet as pq
import scipy.sparse as sparse

import lookalike as la

WORDS, THRESHOLD, AT_A_TIME = 200, 0.9, 500


def planted(times: int, n: int) -> list[str]:
    """Make n documents of ``times`` times ``WORDS`` words, and n of which ``THRESHOLD`` of the words are in one of these."""
    generator = np.random.default_rng(7)
    common, texts = round(THRESHOLD * WORDS), []
    for i in range(n):
        words = [f"d{i:05}w{j:06}" for j in range(times * WORDS + WORDS - common)]
        begin = int(generator.integers(0, times * WORDS - common + 1))
        texts += [" ".join(words[: times * WORDS]), " ".join(words[begin : begin + common] + words[times * WORDS :])]
    return texts


def show_planted() -> None:
    """Print a row for each size."""
    print("| longer | pairs | found | promised | candidate pairs | text, MB | processor time, s | by resemblance |")
    print("|---|---|---|---|---|---|---|---|")
    la.dedup(["a b c"] * 2, threads=1), la.dedup(["a b c", "a b"], measure="containment", width=1, threads=1)  # compiled by now
    for times, n in ((1, 5000), (10, 5000), (100, 1000), (1000, 100)):
        texts, seconds = planted(times, n), []
        for measure in ("resemblance", "containment"):
            began = process_time()
            result = la.dedup(texts, measure=measure, threshold=THRESHOLD, width=1, threads=1)
            seconds.append(process_time() - began)
        s, size = result.summary, sum(map(len, texts)) / 1e6
        print(
            f"| 1:{times:,} | {n:,} | {s.near_duplicates / n:.4f} | {s.recall_planned:.4f} | {s.candidate_pairs:,} | {size:.0f} "
            f"| {seconds[1]:.2f} | {seconds[0]:.2f} |"
        )


def show_real(path: str, threshold: float) -> None:
    """Print what a job removes, and the kept documents that an earlier kept one contains."""
    began = process_time()
    result = la.dedup(path, measure="containment", threshold=threshold, threads=1)
    seconds, s = process_time() - began, result.summary
    kept = np.flatnonzero(result.keep)
    n_bytes = result.decisions["bytes"].to_numpy()
    place = np.empty(len(n_bytes), np.int64)
    place[np.lexsort((np.arange(len(n_bytes)), -n_bytes))] = np.arange(len(n_bytes))
    shingles = la.shingle(pq.read_table(path)["text"].to_pylist(), width=5)
    columns = np.unique(shingles.values, return_inverse=True)[1]
    matrix = sparse.csr_matrix((np.ones(len(columns), np.float32), columns, shingles.offsets))[kept]
    size, other, missed = np.diff(matrix.indptr), matrix.T.tocsr(), 0
    for begin in range(0, len(kept), AT_A_TIME):
        common = (matrix[begin : begin + AT_A_TIME] @ other).tocoo()
        row, column = common.row + begin, common.col
        match = (common.data / size[row] >= threshold) & (place[kept[column]] < place[kept[row]])
        missed += len(np.unique(row[match]))
    print(
        f"| {threshold:g} | {s.documents:,} | {s.near_duplicates:,} | {missed:,} | {s.near_duplicates / (s.near_duplicates + missed):.4f} | "
        f"{s.recall_planned:.4f} | {s.recall_vouched:.4f} | {s.crowded:,} | {s.candidate_pairs:,} | {seconds:.1f} |"
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["real"]:
        show_real(sys.argv[2], float(sys.argv[3]))
    else:
        show_planted()
