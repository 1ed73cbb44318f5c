"""Answers as arrays and as tables; matches are measured by the texts, and equal texts once."""

import pyarrow as pa
import pytest

import lookalike as la
from lookalike.text.hashes import KeyedHashes

LETTERS = "a b c d e f g h i j k l m n o p q r s t"
TEXTS = [LETTERS, LETTERS + " u"]


def test_equal_texts_are_shingled_once(tmp_path, monkeypatch):
    """Two different queries with two different texts, however often each is there; also where few are compared together."""
    resemblance = la.shingle(TEXTS).resemblance(0, 1)
    shingled, hashes = [], KeyedHashes.hashes
    monkeypatch.setattr(KeyedHashes, "hashes", lambda self, texts: shingled.append(len(texts)) or hashes(self, texts))
    with la.Index.create(tmp_path / "x", keep_text=True, threshold=0.3) as index:
        index.add(range(8), TEXTS * 4)
        answers = index.query(TEXTS * 5, top=None)
        rows = answers.to_pylist()
        assert {(row["query"], row["id"]) for row in rows} == {(query, number) for query in range(10) for number in range(8)}
        for row in rows:
            assert row["resemblance"] == (resemblance if (row["query"] - row["id"]) % 2 else 1.0)
        assert shingled == [2]
        monkeypatch.setattr("lookalike.index.answers.BLOCK_BYTES", 0)
        assert index.query(TEXTS * 5, top=None).equals(answers)
        assert set(shingled[1:]) == {1, 2} and len(shingled) == 81, "a pair at a time"


@pytest.mark.parametrize("ids", [["x", "\u00fc\u2028"], [-5, 1 << 62]])
@pytest.mark.parametrize("keep_text", [False, True])
def test_answers_are_the_columns_of_the_table(tmp_path, ids, keep_text):
    with la.Index.create(tmp_path / "x", keep_text=keep_text, threshold=0.3) as index:
        for asked in ([], ["nothing here"], [""]):
            found, table = index.answers(asked), index.query(asked)
            assert len(found) == table.num_rows == 0 and found.to_table().equals(table) and found.id == []
            assert table.schema.field("id").type == pa.string(), "nobody knows yet"
        index.add(ids, TEXTS)
        for given in ([*TEXTS, "", "nothing here"], index.sketch(TEXTS)):
            found, table = index.answers(given, top=2), index.query(given, top=2)
            assert table.schema.field("id").type == (pa.int64() if isinstance(ids[0], int) else pa.string())
            assert len(found) == 4 and found.to_table().equals(table)
            for name in ("query", "estimated_resemblance", "standard_error"):
                assert getattr(found, name).tolist() == table[name].to_pylist()
            assert found.id == table["id"].to_pylist() == [*ids, *reversed(ids)]
            exact = table["resemblance"].to_pylist()
            assert (found.resemblance is None) == (exact == [None] * 4) == (not keep_text or not isinstance(given, list))
            assert found.resemblance is None or found.resemblance.tolist() == exact
        with pytest.raises(la.ParameterError, match="top must be at least 1; got 0"):
            index.answers(TEXTS, top=0)
