"""Matches are measured by the texts, and equal texts once."""

import semblance as sb
from semblance.index.kinds import MinHashKind


def test_equal_texts_are_measured_once(tmp_path, monkeypatch):
    """Two different queries with two different texts, however often each is there; also where little is remembered."""
    letters = "a b c d e f g h i j k l m n o p q r s t"
    texts = [letters, letters + " u"]
    resemblance = sb.shingle(texts).resemblance(0, 1)
    measured, found = [], MinHashKind.measure
    monkeypatch.setattr(MinHashKind, "measure", lambda self, a, b: measured.append(1) or found(self, a, b))
    with sb.Index.create(tmp_path / "x", keep_text=True, threshold=0.3) as index:
        index.add(range(8), texts * 4)
        answers = index.query(texts * 5, top=None)
        rows = answers.to_pylist()
        assert {(row["query"], row["id"]) for row in rows} == {(query, number) for query in range(10) for number in range(8)}
        for row in rows:
            assert row["resemblance"] == (resemblance if (row["query"] - row["id"]) % 2 else 1.0)
        assert len(measured) == 4
        monkeypatch.setattr("semblance.index.answers.MOST_KNOWN", 1)
        assert index.query(texts * 5, top=None).equals(answers)
        assert len(measured) > 8
