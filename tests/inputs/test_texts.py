from dataclasses import replace

import numpy as np
from formats.jobs import table_at

import lookalike as la
from lookalike.formats.parquet import Parquet
from lookalike.inputs.sketches import as_references
from lookalike.inputs.texts import SavedTexts, wanted_texts

TEXTS = [f"document number {i} has words of its own such as w{i * 7} and v{i * 11} and x{i * 13}" for i in range(60)]


def test_what_is_not_wanted_is_empty_and_pieces_without_a_wanted_text_are_not_read(tmp_path, monkeypatch):
    table_at(tmp_path / "all.parquet", {"text": TEXTS}, row_group_size=10)
    la.dedup(tmp_path / "all.parquet", threads=1).save_sketches(tmp_path / "history")
    (split,) = as_references(tmp_path / "history")
    pieces, read = [], Parquet.read
    cut = lambda _, split, n: [(10 * i, replace(split, groups=(i, i + 1))) for i in range(6)]  # noqa: E731
    monkeypatch.setattr(Parquet, "pieces", cut)
    monkeypatch.setattr(Parquet, "read", lambda self, split, columns: pieces.append(split.groups) or read(self, split, columns))
    wanted = np.isin(np.arange(60), [0, 8, 9, 40, 41])
    for start in (0, 7, 33, 59):
        pieces.clear()
        found = []
        for first, texts in wanted_texts(split, wanted, start):
            assert first == start + len(found)
            found += [text.decode() for text in texts.column().to_pylist()]
        assert found == [text if wanted[i] else "" for i, text in enumerate(TEXTS)][start:]
        assert pieces == [piece for piece, last in (((0, 1), 9), ((4, 5), 41)) if start <= last]
    assert [len(SavedTexts(split).at(place)[1].texts) for place in (0, 10)] == [10, 10]
