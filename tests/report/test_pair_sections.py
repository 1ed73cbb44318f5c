"""The page of lists of pairs, of ``pairs`` and of ``decontaminate``, against the lists themselves."""

import json
import re
import shlex
from collections import Counter

import numpy as np
import pytest
from cli.commands import status
from corpora import planted
from json_lines import read_lines
from listing import find_pairs

import lookalike as la
from lookalike.recipes import pairs as listing
from lookalike.report.facts import gather_pairs


def data_of(path):
    """What the script of a page reads."""
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', path.read_text(), re.DOTALL)[1])


@pytest.fixture
def listed(corpus):
    """Lists the pairs of the corpus."""

    def made(**settings):
        files = [corpus / f"{name}.jsonl" for name in "abc"]
        given = {"id": "id", "threshold": 0.6} | settings
        return find_pairs(files, corpus / "ref.jsonl", **given)

    return made


def overlapping(corpus, **settings):
    """The documents that contain references."""
    files = [corpus / f"{name}.jsonl" for name in "abc"]
    return la.decontaminate(files, against=corpus / "ref.jsonl", id="id", threshold=0.6, **settings)


def pairs_of(result):
    """{(left id, right id, whether the left one is a reference): score} of a list of pairs, or of matches."""
    if hasattr(result, "matches"):
        return {(row["reference"], row["id"]): row["containment"] for row in result.matches.to_pylist()}
    score = result.table.column_names[-1] if "standard_error" not in result.table.column_names else "estimated_resemblance"
    return {(row["left_id"], row["right_id"]): row[score] for row in result.table.to_pylist()}


@pytest.mark.parametrize("kind", ["pairs", "max_pairs", "sketch", "decontaminate", "passages"])
def test_every_pair_of_the_page_is_one_of_the_list(listed, corpus, tmp_path, kind):
    result = {
        "pairs": lambda: listed(), "max_pairs": lambda: listed(max_pairs=30), "sketch": lambda: listed(verify="sketch"),
        "decontaminate": lambda: overlapping(corpus), "passages": lambda: overlapping(corpus, passage=20),
    }[kind]()  # fmt: skip
    known = pairs_of(result)
    result.report(tmp_path / "page.html")
    page, data = (tmp_path / "page.html").read_text(), data_of(tmp_path / "page.html")
    assert len(re.findall("<h2>", page)) == 9 and len(data["pairs"]) >= 20
    texts = {}
    for file in corpus.glob("*.jsonl"):
        texts |= {row["id"]: row["text"] for row in read_lines(file)}
    for pair in data["pairs"]:
        left, right = (data["documents"][pair[side]]["id"] for side in ("left", "right"))
        assert known[left, right] == pair["score"]
        shown = " ".join("".join(row[-1][1::2]) for row in pair["compared"]["rows"] if not isinstance(row, int))
        assert all(word in texts[right].split() for word in shown.split())
    assert [p["score"] for p in data["pairs"] if p["section"] == "The least similar"] == sorted(known.values())[:20]
    assert f"{len(known):,}" in page and ("cut by max_pairs" in page) == (kind == "max_pairs")


def test_the_page_of_an_overlap_has_a_row_for_each_benchmark(tmp_path):
    item = "what is the capital of the old country of France <b>"
    items = [
        {"q": item, "a": "x", "of": "<geo>"},
        {"q": "no", "a": None, "of": "<geo>"},
        {"q": "nowhere to be found", "a": "", "of": "m"},
    ]
    result = la.decontaminate([{"text": f"{i} {item}"} for i in range(4)], against=items, against_text=["q", "a"], benchmark="of",
                        measure="ngram:7")  # fmt: skip
    result.report(tmp_path / "page.html", title="T")
    table = re.search(r"<h3>By benchmark</h3>.*?</table>", (tmp_path / "page.html").read_text(), re.DOTALL)[0]
    rows = [re.findall(r">([^<>]+)</(?:bdi|td)>", row) for row in table.split("<tr>")[2:]]
    assert rows == [["&lt;geo&gt;", "50.0%", "1", "2", "4", "0", "1"], ["m", "0.0%", "0", "1", "0", "0", "0"]]
    assert "4 matches have" in (tmp_path / "page.html").read_text()


def test_the_facts_are_those_of_the_list(listed, monkeypatch):
    monkeypatch.setattr(listing, "LISTED", 7)
    result = listed()
    scored = result._scored()
    facts = gather_pairs(scored, n_least=9, n_audit=11, n_groups=3, seed=1)
    rows = result.table.to_pylist()
    scores = [row["resemblance"] for row in rows]
    assert facts.scores.sum() == len(rows) == scored.total
    ids = scored.ids(np.arange(int(scored.starts[-1])))
    reference = [False] * len(ids)
    reference[: int(scored.starts[scored.n_references])] = [True] * int(scored.starts[scored.n_references])
    degrees = Counter()
    for row in rows:
        degrees[row["left_id"], row["left_is_reference"]] += 1
        degrees[row["right_id"], False] += 1
    assert {(i, r): int(n) for i, r, n in zip(ids, reference, facts.in_pairs, strict=True) if n} == degrees
    sources = {name: k for k, name in enumerate(("ref", "a", "b", "c"))}
    met = Counter((sources[r["left_id"].rstrip("0123456789")], sources[r["right_id"].rstrip("0123456789")]) for r in rows)
    assert {(int(i), int(j)): int(n) for (i, j), n in np.ndenumerate(facts.matrix) if n} == met
    assert len(set(facts.drawn)) == 11 and {facts.scores_of[pair] for pair in facts.drawn} <= set(scores)
    assert [facts.scores_of[pair] for pair in facts.least] == sorted(scores)[:9]
    assert [n for n, _ in Counter(degrees.values()).items()] and all(2 <= len(some) <= 4 for some in facts.grouped.values())


def test_without_pairs_there_is_a_page_too(tmp_path):
    texts = ["one two three four five six", "else there is nothing here to see"]
    find_pairs(texts).report(tmp_path / "pairs.html")
    la.decontaminate(texts, against=["no such text in the corpus at all"]).report(tmp_path / "decontaminate.html")
    for name in ("pairs", "decontaminate"):
        page = (tmp_path / f"{name}.html").read_text()
        assert "There is nothing to judge." in page and f"lookalike.{name}(data" in page


def test_unverified_pairs_have_none(tmp_path):
    with pytest.raises(la.errors.ParameterError, match="a report needs scores"):
        find_pairs(["a", "b"], verify="none").report(tmp_path / "page.html")


def test_texts_stay_out(listed, corpus, tmp_path):
    for result in (listed(), overlapping(corpus)):
        for texts in ("none", "hash"):
            result.report(tmp_path / "page.html", texts=texts, force=True)
            assert not re.search(r"\b(word|new)\d+\b", (tmp_path / "page.html").read_text())


def test_many_pairs_of_one_document(rng, tmp_path):
    texts = ["the same text of some words again and again"] * 40 + planted(rng, n_families=10)
    result = find_pairs(texts, threshold=0.9)
    result.report(tmp_path / "page.html")
    data = data_of(tmp_path / "page.html")
    assert Counter(pair["section"] for pair in data["pairs"])["Documents in most pairs"] == 40
    assert data["documents"][0]["id"] is not None and "39 pairs" in (tmp_path / "page.html").read_text()


def test_on_the_command_line(corpus, tmp_path, capsys):
    page = tmp_path / "page.html"
    for command in (
        ["pairs", corpus / "a.jsonl", corpus / "b.jsonl", "--id", "id", "-t", "0.7"],
        [
            "decontaminate",
            corpus / "b.jsonl",
            "--against",
            corpus / "ref.jsonl",
            "--set",
            "fold_case=false",
            "-t",
            "0.5",
            "--measure",
            "resemblance",
        ],
    ):
        assert status(*command, "--report", page, "--force") == 0
        assert f"written: {page}" in capsys.readouterr().out
        again = shlex.split(re.search(r"<pre>(.*?)</pre>", page.read_text(), re.DOTALL)[1].replace("&#39;", "'"))
        assert status(*command, "--json") == 0
        first = json.loads(capsys.readouterr().out)
        assert status(*again[1:], "--json") == 0
        second = json.loads(capsys.readouterr().out)
        assert all(first[key] == second[key] for key in ("documents", "pairs", "matches", "overlapping") if key in first)
