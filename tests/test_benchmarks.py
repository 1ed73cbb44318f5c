import importlib
import json
from pathlib import Path

import pytest
from json_lines import write_lines

import lookalike as la

ROOT = Path(__file__).parents[1]


@pytest.fixture
def page(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("page")


@pytest.fixture
def figures(page):
    return importlib.import_module("figures")


@pytest.fixture
def yardstick(page):
    return importlib.import_module("yardstick")


def test_pages_say_what_was_measured(page):
    for path, text in page.written().items():
        assert path.read_text() == text, f"{path.name} is not what benchmarks/page.py writes"


def test_only_what_is_marked_is_replaced(page):
    text = "a <!-- one -->old<!-- /one --> b\n\n<!-- two --><!-- /two -->\n"
    made = page.filled(text, {"one": "new", "two": "| t |\n"})
    assert made == "a <!-- one -->new<!-- /one --> b\n\n<!-- two -->\n| t |\n<!-- /two -->\n"
    assert page.filled(made, {"one": "new", "two": "| t |\n"}) == made
    with pytest.raises(ValueError, match="0 regions three"):
        page.filled(text, {"three": ""})


def test_figures_come_from_results(figures, tmp_path, monkeypatch, capsys):
    where, results, accepted = tmp_path / "a.md", tmp_path / "figures.jsonl", tmp_path / "accepted.txt"
    for name, value in (("ROOT", tmp_path), ("RESULTS", results), ("ACCEPTED", accepted)):
        monkeypatch.setattr(figures, name, value)
    one = dict.fromkeys(figures.FIELDS, "x") | {"name": "rate", "figure": "249 MB/s"}
    write_lines(results, [one])
    accepted.write_text("a.md: at most 4 GB\n")
    marked = "<!-- rate -->1 MB/s<!-- /rate --> and <!-- rate --><!-- /rate -->."
    where.write_text(f"It takes at most\n4 GB, `--memory 2GB`. {marked}\n")
    assert figures.main(["--check", str(where)]) == 2 and "rate is not what was measured" in capsys.readouterr().out
    assert figures.main([str(where)]) == 0 and where.read_text().count("-->249 MB/s<!--") == 2
    assert figures.main(["--check", str(where)]) == 0
    write_lines(results, [one | {"commit": ""}])
    with pytest.raises(SystemExit, match="no commit"):
        figures.main([str(where)])


def test_figures_without_a_result_are_found(figures):
    found = "3.6-4.6 CPU s; 1,151 MB; 13,000 queries a second; 56 documents/s; 38.5 x; 2 times; ten\nminutes; half an hour; 5.6 CPU-s/GB"
    assert [figure for _, figure in figures.unfilled(found, [])] == " ".join(found.removeprefix("3.6-").split()).split("; ")
    assert list(figures.unfilled("\n| a | MB/s |\n|---|---|\n| 1 | 249 |", [])) == [(2, "column MB/s")]
    text = (
        "Version 1.2 of 2026 has 5,000 documents, 3 bands; <!-- 4 GB --> at 0.8, [a](b-3-s.md), `5 GB`, xs2 s.\n```\n9 s\n```\n"
    )
    assert not list(figures.unfilled(text, []))
    assert list(figures.unfilled(text, ["gone"])) == [(0, "accepted, and not there: gone")]


def test_a_tool_is_judged_and_a_failing_one_is_reported(yardstick, tmp_path, monkeypatch, capsys):
    """At the threshold itself, 4 of 5 shingles; the tool removes the near-duplicate and an unrelated text, and misses the copy."""
    text = "a b c d e f g h i"
    rows = ["one_two", text, text[:-2], text, "five other words are here"]  # the first is too short
    corpus = write_lines(tmp_path / "corpus.jsonl", ({"body": row} for row in rows))
    tool, broken, figures = (tmp_path / name for name in ("mine.py", "broken.py", "figures.json"))
    tool.write_text("PACKAGE = 'numpy'\ndef keep(texts, threshold):\n    return [True, False, True, False]\n")
    broken.write_text("import no_such_package\n")
    monkeypatch.setattr(yardstick, "TOOLS", {"no-such-tool": None})
    given = f"--tool={tool} --tool={broken} --corpus={corpus} --column=body --turns=1 --json={figures}"
    yardstick.main(given.split())
    nothing, mine, failed = json.loads(figures.read_text())["rows"]
    assert [nothing[head] for head in ("recall", "missed", "wrong", "removed")] == [0, 2, 0, 0]
    assert [mine[head] for head in ("recall", "missed", "wrong", "removed")] == [0.5, 1, 1, 2]
    assert mine["tool"].startswith("mine 2.") and mine["peak MB"] > 10 and mine["wall s"] >= 0
    said, printed = "failed: ModuleNotFoundError: No module named 'no_such_package'", capsys.readouterr().out
    assert said.endswith(failed["failed"]) and said in printed and "Not installed: no-such-tool" in printed


def test_of_pairs_the_earlier_document_is_kept(yardstick):
    kept = yardstick.first_of_pairs(lambda texts, threshold: [(1, 0), (1, 2), (3, 2), (4, 4)])
    assert kept(["text"] * 5, 0.8).tolist() == [True, False, True, False, True]


def test_the_truth_is_that_of_exact_pairs(yardstick, monkeypatch):
    texts = [" ".join(f"w{n}" for n in range(size, 3 * size)) for size in (9, 40, 90)]
    texts = importlib.import_module("generated").retouched(texts)

    def pairs(found):
        return {(a, b) for a, others in found.items() for b in others}

    table, every = la.pairs(texts, threshold=0.5, recall=1), pairs(yardstick.truth(texts, 0.5))
    ascending = set(zip(table["left_id"].to_pylist(), table["right_id"].to_pylist(), strict=True))
    assert {pair for pair in every if pair[0] < pair[1]} == ascending and len(every) == 2 * len(table) > 10
    monkeypatch.setattr(yardstick, "EXACT", 5)
    sample = yardstick.truth(texts, 0.5)
    assert len(sample) == 5 and pairs(sample) == {pair for pair in every if pair[0] in sample}
