"""Which documents of an index contain others: against sets in plain Python, in every kind of index that keeps texts."""

import json
import random

import pytest
from cli.commands import status
from json_lines import parse_lines, write_lines

import lookalike as la
from lookalike.index import containing


def corpus():
    """Documents of 5 to 90 words, and parts of them with a few words changed."""
    rng = random.Random(3)
    texts = [[f"w{rng.randrange(400)}" for _ in range(rng.randrange(5, 90))] for _ in range(60)]
    asked = []
    for text in texts[:40]:
        begin = rng.randrange(len(text) - 3)
        part = text[begin : begin + rng.randrange(3, 60)]
        asked.append([word if rng.random() < 0.97 else "changed" for word in part])
    return [" ".join(words) for words in texts], [" ".join(words) for words in [*asked, [], ["..."], ["elsewhere"]]]


def shingles(text):
    words = text.replace(".", "").split()
    width = min(2, len(words))
    return {tuple(words[i : i + width]) for i in range(len(words) - width + 1)} if words else set()


def expected(texts, asked, threshold, top=None):
    """[(query, document, containment)], the best first."""
    sets = [shingles(text) for text in texts]
    found = []
    for query, text in enumerate(asked):
        own = shingles(text)
        shares = [
            (-len(own & some) / len(own), d) for d, some in enumerate(sets) if own and len(own & some) / len(own) >= threshold
        ]
        found += [(query, d, -share) for share, d in sorted(shares)[:top]]
    return found


@pytest.mark.parametrize("how", [{}, {"kind": "simhash"}])
@pytest.mark.parametrize("top", [None, 1])
def test_none_is_missed(how, top, tmp_path, monkeypatch):
    monkeypatch.setattr(containing, "AT_A_TIME", 7)
    texts, asked = corpus()
    with la.Index.create(tmp_path / "index", width=2, keep_text=True, **how) as index:
        for begin in (0, 25, 50):
            index.add(range(begin, min(60, begin + 25)), texts[begin : begin + 25])
        index.add([60, 61], [texts[0], texts[1]])
        index.remove([60, 61, 7])
        texts[7] = ""
        for threads in (1, 2):
            found = index.containing(asked, threshold=0.8, top=top, threads=threads).to_pylist()
            rows = [(row["query"], row["id"], row["containment"]) for row in found]
            assert rows == expected(texts, asked, 0.8, top) and 20 < len(rows) < 45
        assert any(row["containment"] < 1 for row in found)
        assert index.containing([], threshold=0.8).num_rows == 0
        with pytest.raises(la.errors.ParameterError, match=r"threshold must be in \(0, 1\]; got 0"):
            index.containing(asked, threshold=0)
        with pytest.raises(la.errors.ParameterError, match="top must be at least 1"):
            index.containing(asked, top=0)
        with pytest.raises(la.errors.ParameterError, match="give texts, not sketches"):
            index.containing(index.sketch(asked))


def test_no_more_matches_are_held_than_are_asked_for(tmp_path, monkeypatch):
    """And some others: of what all documents contain, the best are chosen as the index is gone through."""
    monkeypatch.setattr(containing, "AT_A_TIME", 2)
    monkeypatch.setattr(containing, "MANY", 8)
    held, best = [], containing.best

    def counted(parts, top):
        held.append(sum(len(some[0]) for some in parts))
        return best(parts, top)

    monkeypatch.setattr(containing, "best", counted)
    texts = [" ".join(f"w{i}" for i in range(40) if i != number % 7) for number in range(90)]
    asked = [" ".join(f"w{i}" for i in range(begin, 20)) for begin in range(5)]
    with la.Index.create(tmp_path / "index", width=1, keep_text=True) as index:
        index.add(range(90), texts)
        found = index.containing(asked, threshold=0.5, top=2).to_pylist()
    rows = [(row["query"], row["id"], row["containment"]) for row in found]
    sets = [set(text.split()) for text in texts]
    shares = [[(-len(own & some) / len(own), d) for d, some in enumerate(sets)] for own in map(set, map(str.split, asked))]
    assert rows == [(q, d, -share) for q, some in enumerate(shares) for share, d in sorted(some)[:2]]
    assert len(held) > 9 and max(held) <= 2 * 5 * 2 + 8 + 5 * 2  # the best, more, and those of the last documents


def test_an_index_without_texts_says_what_is_needed(tmp_path):
    with la.Index.create(tmp_path / "index") as index:
        index.add(["a"], ["one two three four five six"])
        with pytest.raises(la.errors.ParameterError, match="this index keeps none: .* with keep_text=True$"):
            index.containing(["one two three four five"])


def test_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    page = " ".join(f"word{i}" for i in range(50))
    write_lines(tmp_path / "pages.jsonl", ({"id": i, "text": f"{page} {i} more"} for i in "ab"))
    (tmp_path / "asked.jsonl").write_text(json.dumps({"id": "part", "text": page[70:230]}) + "\n")
    assert status("index", "create", "ix", "--keep-text") == status("index", "add", "ix", "pages.jsonl", "--id", "id") == 0
    capsys.readouterr()
    query = ["index", "query", "ix", "asked.jsonl", "--id", "id"]
    assert status(*query) == 0 and capsys.readouterr().out == ""
    assert status(*query, "--measure", "containment") == 0
    out = parse_lines(capsys.readouterr().out)
    assert [(row["query"], row["id"]) for row in out] == [("part", "a"), ("part", "b")]
    assert out[0].keys() == {"query", "id", "containment"} and 0.9 <= out[0]["containment"] < 1
    assert status(*query, "--measure", "containment", "-t", "1") == 0 and capsys.readouterr().out == ""
    for wrong, message in ((["-t", "0.5"], "--threshold is for"), (["--measure", "containment", "--first"], "use --top 1")):
        assert status(*query, *wrong) == 2 and message in capsys.readouterr().err
