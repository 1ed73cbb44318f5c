"""Folders of texts."""

import pytest

from lookalike.formats import Columns, txt
from lookalike.formats.sources import open_sources


@pytest.mark.parametrize(("n_bytes", "files", "sizes"), [(10, 1024, [3, 3, 1]), (11, 1024, [3, 3, 1]), (12, 1024, [4, 3]),
                                                        (10, 2, [2, 2, 2, 1]), (0, 9, [1] * 7), (28, 7, [7])])  # fmt: skip
def test_batches_end_beyond_so_many_bytes_or_with_so_many_files(tmp_path, monkeypatch, n_bytes, files, sizes):
    """Of seven files of four bytes."""
    for i in range(7):
        (tmp_path / f"{i}.txt").write_text(f"no {i}")
    monkeypatch.setattr(txt, "BLOCK", n_bytes)
    monkeypatch.setattr(txt, "BATCH_FILES", files)
    (split,) = open_sources([tmp_path])
    batches = list(split.batches(Columns()))
    assert [len(batch.texts) for batch in batches] == sizes
    assert [number for batch in batches for number in batch.numbers.tolist()] == list(range(1, 8))
