"""Rows of the experiment about recall 1 count what they say."""

import json

import exact_recall

import lookalike as la

GIVEN = {"unit": "char", "width": 3}


def test_a_row_counts_what_is_found_and_missed(tmp_path, capfd, monkeypatch):
    monkeypatch.setattr(exact_recall, "apart", lambda name, *rest: getattr(exact_recall, name)(*rest))
    path = tmp_path / "made.jsonl"
    exact_recall.records(300, path)
    texts = [json.loads(line)["text"] for line in path.read_text().splitlines()]
    exact_recall.show(str(path), GIVEN, [0.6])
    shown = capfd.readouterr().out.split(" | ")
    wanted = la.exact_pairs(la.shingle(texts, **GIVEN), threshold=0.6)
    assert len(texts) == 300 and int(shown[2]) == len(wanted) > 20
    kept = [la.dedup(texts, threshold=0.6, recall=recall, **GIVEN).keep for recall in (0.99, 1)]
    assert shown[8] == " / ".join(str(int(some.sum())) for some in kept)
    both = kept[0][wanted.left] & kept[0][wanted.right]
    assert int(shown[9]) == len(set(wanted.right[both].tolist()))
