"""Inputs that are hard to read within a small cap: bombs, long lines, large row groups, much text in columnar files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

LINE = b'{"text": "%s"}\n'


class Hard(NamedTuple):
    """An input, the cap it is read under, what is done with it, and whether it is refused."""

    make: Callable[[Path], Path]
    cap: str
    more: tuple[str, ...] = ()
    refused: bool = False


def random_texts(n: int, words: int, duplicates: float = 0.1) -> list[str]:
    """Texts of some words each, of which a share are copies."""
    rng = np.random.default_rng(2)
    known = np.array([f"v{i}" for i in range(50_000)])
    texts: list[str] = []
    for i in range(n):
        copied = i > 10 and rng.random() < duplicates
        texts.append(texts[int(rng.integers(i))] if copied else " ".join(known[rng.integers(0, 50_000, words)].tolist()))
    return texts


def zeros(folder: Path) -> Path:
    """Write 4 GB of zeros, which are one line, as 131 kB."""
    path = folder / "zeros.jsonl.zst"
    with pa.CompressedOutputStream(pa.OSFile(str(path), "wb"), "zstd") as stream:
        for _ in range(256):
            stream.write(bytes(1 << 24))
    return path


def one_line(folder: Path) -> Path:
    """Write one document of 300 MB, and one of seven words."""
    path = folder / "line.jsonl"
    words = " ".join(f"w{i}" for i in range(200_000)).encode()
    path.write_bytes(LINE % b" ".join([words] * (300_000_000 // len(words))) + LINE % b"a b c d e f g")
    return path


def one_row_group(folder: Path) -> Path:
    """Write 300 documents of 4 MB, nearly alike, in one row group of Parquet."""
    path = folder / "group.parquet"
    rng = np.random.default_rng(1)
    base = " ".join(f"q{i}" for i in rng.integers(0, 10**6, 500_000).tolist())
    texts = pa.array([f"{i} {base}" for i in range(300)], pa.large_string())
    pq.write_table(pa.table({"text": texts}), path, row_group_size=10**9, compression="zstd", use_dictionary=False)
    return path


def much_text(folder: Path) -> Path:
    """Write 450 MB of text as Parquet, as ``write_table`` does by itself."""
    path = folder / "texts.parquet"
    pq.write_table(pa.table({"text": random_texts(100_000, 690), "n": list(range(100_000))}), path)
    return path


def three_times(folder: Path) -> Path:
    """Write 1.4 GB of text as Parquet: the same texts three times, with another first word."""
    path = folder / "texts-3.parquet"
    texts = random_texts(100_000, 690)
    parts = [pa.array([f"{i} {text}" for text in texts]) for i in range(3)]
    pq.write_table(pa.table({"text": pa.chunked_array(parts)}), path)
    return path


def many_rows(folder: Path) -> Path:
    """Write 150,000 texts as Parquet."""
    path = folder / "rows.parquet"
    pq.write_table(pa.table({"text": random_texts(150_000, 300), "n": list(range(150_000))}), path)
    return path


HARD = {
    "4 GB of zeros in a .zst of 131 kB": Hard(zeros, "1GB", refused=True),
    "300 documents of 4 MB in one row group": Hard(one_row_group, "1GB"),
    "one line of 300 MB": Hard(one_line, "800MB", refused=True),
    "450 MB of text in Parquet, cleaned": Hard(much_text, "450MB"),
    "1.4 GB of text in Parquet, annotated": Hard(three_times, "1GB", ("--annotate",)),
    "150,000 rows of Parquet": Hard(many_rows, "500MB"),
}
