import json
import re
import shlex
from collections import Counter

import numpy as np
import pytest
from cli.commands import run as run_command
from listing import find_pairs
from raising import assert_raises

import lookalike as la
from lookalike.recipes import pairs as listing
from lookalike.report.facts import gather_pairs


@pytest.fixture
def made(corpus):
    def result(overlap=False, **settings):
        files, given = [corpus / f"{name}.jsonl" for name in "abc"], {"id": "id", "threshold": 0.6} | settings
        against = corpus / "ref.jsonl"
        return la.decontaminate(files, against=against, **given) if overlap else find_pairs(files, against, **given)

    return result


def pairs_of(result):
    """{(left id, right id): score}."""
    sides = {"removed": ("duplicate_of", "id"), "matches": ("reference", "id"), "table": ("left_id", "right_id")}
    name = next(name for name in sides if hasattr(result, name))
    rows = getattr(result, name).to_pylist()
    scores = [score for score in ("containment", "estimated_resemblance", "resemblance") if score in rows[0]]
    return {tuple(row[side] for side in sides[name]): row[scores[0]] for row in rows}


def test_every_pair_of_a_page_is_one_of_the_result(made, run, page_of, texts):
    """Also of references, and where rows are read from several files; lists show how texts begin."""
    overlaps = ({"overlap": True}, {"overlap": True, "passage": 20})
    for how in (None, {}, {"max_pairs": 30}, {"verify": "sketch"}, *overlaps):
        result = run() if how is None else made(**how)
        known = pairs_of(result)
        page, data = page_of(result)
        assert page.count("<h2>") == 9 and len(data["pairs"]) >= 20
        for pair in data["pairs"]:
            ids = [data["documents"][pair[side]]["id"] for side in ("left", "right")]
            assert known[tuple(ids)] == pair["score"] and not pair["kept"]
            for place, id in zip((0, -1), ids, strict=True):
                shown = ["".join(row[place][1::2]).split() for row in pair["compared"]["rows"] if not isinstance(row, int)]
                whole = " ".join(texts[id].split())
                assert shown and all(" ".join(part) in whole for part in shown)
        near = [score for score in known.values() if how is not None or score < 1]
        assert [p["score"] for p in data["pairs"] if p["section"] == "The least similar"] == sorted(near)[:20]
        assert f"{len(known):,}" in page and ("cut by max_pairs" in page) == ("max_pairs" in (how or {}))
        begun = re.findall(
            r'<bdi class="mono">(\w+)</bdi> <span class="soft">\(<bdi>[^<]*</bdi>\)</span> <bdi class="begins">“(.*?)…”', page
        )
        assert (how or len(begun) >= 20) and all(begin and texts[id].startswith(begin) for id, begin in begun)


def test_the_page_of_an_overlap_has_a_row_for_each_benchmark(page_of):
    item = "what is the capital of the old country of France <b>"
    items = [
        {"q": q, "a": a, "of": of}
        for q, a, of in ((item, "x", "<geo>"), ("no", None, "<geo>"), ("nowhere to be found", "", "m"))
    ]
    how = {"against_text": ["q", "a"], "benchmark": "of", "measure": "ngram:7"}
    page, _ = page_of(la.decontaminate([{"text": f"{i} {item}"} for i in range(4)], against=items, **how), title="T")
    table = re.search(r"<h3>By benchmark</h3>.*?</table>", page, re.DOTALL)[0]
    rows = [re.findall(r">([^<>]+)</(?:bdi|td)>", row) for row in table.split("<tr>")[2:]]
    assert rows == [["&lt;geo&gt;", "50.0%", "1", "2", "4", "0", "1"], ["m", "0.0%", "0", "1", "0", "0", "0"]]
    assert "4 matches have" in page


def test_the_facts_are_those_of_the_list(made, monkeypatch):
    monkeypatch.setattr(listing, "LISTED", 7)
    result = made()
    scored, rows = result._scored(), result.table.to_pylist()
    facts = gather_pairs(scored, n_least=9, n_audit=11, n_groups=3, seed=1)
    scores = sorted(row["resemblance"] for row in rows)
    assert facts.scores.sum() == len(rows) == scored.total
    ids, first = scored.ids(np.arange(int(scored.starts[-1]))), int(scored.starts[scored.n_references])
    degrees, met = Counter(), Counter()
    for row in rows:
        ends = [(row["left_id"], row["left_is_reference"]), (row["right_id"], False)]
        degrees.update(ends)
        met[tuple(("ref", "a", "b", "c").index(id.rstrip("0123456789")) for id, _ in ends)] += 1
    assert {(id, i < first): int(n) for i, (id, n) in enumerate(zip(ids, facts.in_pairs, strict=True)) if n} == degrees
    assert {place: int(n) for place, n in np.ndenumerate(facts.matrix) if n} == met
    assert len(set(facts.drawn)) == 11 and {facts.scores_of[pair] for pair in facts.drawn} <= set(scores)
    assert [facts.scores_of[pair] for pair in facts.least] == scores[:9]
    assert all(2 <= len(some) <= 4 for some in facts.grouped.values())


def test_without_pairs_there_is_a_page_too_and_without_scores_there_is_none(page_of):
    texts = ["one two three four five six", "else there is nothing here to see"]
    none = la.decontaminate(texts, against=["no such text in the corpus at all"])
    for name, result in (("pairs", find_pairs(texts)), ("decontaminate", none)):
        page, _ = page_of(result)
        assert "There is nothing to judge." in page and f"lookalike.{name}(data" in page
    assert_raises(la.errors.ParameterError, "a report needs scores", page_of, find_pairs(["a", "b"], verify="none"))


LINES = (
    "dedup a.jsonl b.jsonl c.jsonl --against ref.jsonl --id id -t 0.75 --keep longest --set within=w --set fold_case=false",
    "pairs a.jsonl b.jsonl --id id -t 0.7",
    "decontaminate b.jsonl --against ref.jsonl --set fold_case=false -t 0.5 --measure resemblance",
)


def test_the_command_of_a_page_repeats_the_job(corpus, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(corpus)
    for line in LINES:
        page, words = tmp_path / "page.html", line.split()
        code, out, _ = run_command(capsys, *words, "--report", page, "--force")
        assert code == 0 and f"written: {page}" in out
        again = shlex.split(re.search(r"<pre>(.*?)</pre>", page.read_text(), re.DOTALL)[1].replace("&#39;", "'"))
        first, second = (json.loads(run_command(capsys, *some, "--json")[1]) for some in (words, again[1:]))
        for key in ("documents", "pairs", "matches", "overlapping", "kept", "near_duplicates", "exact_duplicates", "plan"):
            assert first.get(key) == second.get(key)
