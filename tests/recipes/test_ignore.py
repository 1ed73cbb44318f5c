"""Shingles of some texts do not count: a resemblance is that of what is left."""

import json
import random
from contextlib import closing

import numpy as np
import pytest
from cli.commands import status
from engine_kinds import LOCAL, prepare
from json_lines import write_lines
from listing import find_pairs

import lookalike as la
from lookalike.errors import InputDataError, ParameterError

TEMPLATE = " ".join(f"t{i}" for i in range(60))
HOW = {"threads": 1, "threshold": 0.6}


def pages(n=160):
    """Pages of one template, each with text of its own; every fourth is one of a family of near-duplicates."""
    rng = random.Random(3)
    texts = [TEMPLATE, "", TEMPLATE]
    for page in range(n):
        family = page % 20 if page % 4 == 0 else page
        own = [f"p{family}x{i}" for i in range(24)]
        own[rng.randrange(24)] = f"y{rng.randrange(99)}"
        texts.append(" ".join([TEMPLATE, *own]) if page % 3 else " ".join([*own, TEMPLATE]))
    return texts


def true_pairs(texts, ignored, threshold):
    """{(i, j): resemblance} of what is left of texts, by sets of words in a row; 1 for equal texts, whatever is left."""

    def shingles(text):
        words = text.split()
        return {tuple(words[i : i + 5]) for i in range(max(1, len(words) - 4))} if words else set()

    dropped = set().union(*map(shingles, ignored))
    sets = [shingles(text) - dropped for text in texts]
    found = {}
    for j, b in enumerate(sets):
        for i, a in enumerate(sets[:j]):
            if texts[i] == texts[j]:
                found[i, j] = 1.0
            elif a and b and len(a & b) >= threshold * len(a | b):
                found[i, j] = len(a & b) / len(a | b)
    return found


@pytest.mark.parametrize("kind", LOCAL)
@pytest.mark.parametrize("more", [{}, {"max_bucket": 4}])
def test_pairs_are_those_of_what_is_left(kind, more, monkeypatch):
    texts = pages()
    how = HOW | {"threshold": 0.3, "bands": 60, "rows": 1} | prepare(kind, monkeypatch) | more
    found = find_pairs(texts, None, ignore=[TEMPLATE], **how).table.to_pylist()
    wanted = true_pairs(texts, [TEMPLATE], 0.3)
    assert len(wanted) > 60
    assert {(row["left_id"], row["right_id"]): row["resemblance"] for row in found} == pytest.approx(wanted)


def test_boilerplate_does_not_crowd():
    texts = pages(600)
    with closing(la.dedup(texts, **HOW)) as plain, closing(la.dedup(texts, ignore=[TEMPLATE], **HOW)) as ignoring:
        assert plain.summary.crowded > 500 and ignoring.summary.crowded == 0
        assert plain.keep.sum() < 20 and ignoring.keep.sum() > 400
        assert ignoring.summary.recall_vouched == pytest.approx(ignoring.summary.recall_planned)
        reasons = ignoring.decisions["reason"].to_pylist()
        assert reasons[:3] == ["kept", "kept", "exact"] and ignoring.summary.empty == 3
    with closing(la.dedup(texts, ignore=[TEMPLATE], empty="drop", **HOW)) as result:
        assert result.decisions["reason"].to_pylist()[:3] == ["empty"] * 3


def test_an_audit_measures_what_the_job_does():
    texts = pages()
    wanted = true_pairs(texts, [TEMPLATE], 0.6)
    with closing(la.dedup(texts, ignore=[TEMPLATE], bands=1, rows=9, **HOW)) as result:
        keep = result.keep.tolist()
        found = result.audit(10**6)
        assert found["missed"] == 2 * sum(keep[i] and keep[j] for i, j in wanted) > 10
        assert result.rethreshold(0.9).keep.sum() >= sum(keep)


def test_files_of_any_format_can_be_ignored(tmp_path):
    texts = pages()
    (tmp_path / "template.txt").write_text(" ".join(TEMPLATE.split()[:30]))
    write_lines(tmp_path / "more.jsonl", [" ".join(TEMPLATE.split()[27:])])
    whole = la.dedup(texts, ignore=[TEMPLATE], **HOW)
    parts = la.dedup(texts, ignore=[tmp_path / "template.txt", tmp_path / "more.jsonl"], **HOW)
    one = la.dedup(texts, ignore=str(tmp_path / "template.txt"), **HOW).settings.ignore
    assert [some.shingles for some in (one, parts.settings.ignore, whole.settings.ignore)] == [26, 55, 56]
    assert parts.settings.ignore.names == (str(tmp_path / "template.txt"), str(tmp_path / "more.jsonl"))


def test_what_can_not_be_ignored_is_refused(tmp_path):
    with pytest.raises(ParameterError, match="no text with a token"):
        la.dedup(["a"], ignore=["...", ""])
    with pytest.raises(InputDataError, match="no file of that name"):
        la.dedup(["a"], ignore="missing.txt")
    (tmp_path / "latin.txt").write_bytes("caf\u00e9".encode("latin-1"))
    with pytest.raises(InputDataError, match="latin.txt.*invalid UTF-8"):
        la.dedup(["a"], ignore=tmp_path / "latin.txt")


def test_the_command_line_and_what_it_writes(tmp_path, capfd):
    path, template = write_lines(tmp_path / "pages.jsonl", pages()), tmp_path / "template.txt"
    template.write_text(TEMPLATE)
    out, saved = tmp_path / "out.jsonl", tmp_path / "saved"
    command = ["dedup", path, "-t", "0.6", "--set", f"ignore={template}", "--threads", 1]
    assert status(*command, "-o", out, "--save", saved, "--report", tmp_path / "page.html") == 0
    wanted = la.dedup(pages(), ignore=[TEMPLATE], **HOW)
    said = json.loads(next(tmp_path.glob("*lookalike.json")).read_text())["parameters"]["shingling"]["ignored"]
    assert said == {"shingles": 56, "digest": wanted.settings.ignore.digest}
    page = (tmp_path / "page.html").read_text()
    assert said["digest"] in page and f"--set ignore={template}" in page
    loaded = la.Result.load(saved)
    assert loaded.settings.ignore == wanted.settings.ignore and loaded.keep.tolist() == wanted.keep.tolist()
    assert loaded.settings.ignore.names == (str(template),)
    more = write_lines(tmp_path / "more.jsonl", [TEMPLATE])
    for job in ("dedup", "pairs"):
        assert status(job, path, "--set", f"ignore={more}", "-o", more, "--force") == 1
        assert json.loads(more.read_text()) == {"text": TEMPLATE}


def test_saved_sketches_are_of_the_same_shingles(tmp_path):
    texts = [text for text in pages() if text not in ("", TEMPLATE)]
    first = write_lines(tmp_path / "first.jsonl", texts[:80])
    with closing(la.dedup(first, ignore=[TEMPLATE], **HOW)) as result:
        result.save_sketches(tmp_path / "history")
        result.write(tmp_path / "kept.jsonl")
    found, wanted = (
        la.dedup(texts[80:], against=against, ignore=[TEMPLATE], **HOW).keep.tolist()
        for against in (tmp_path / "history", tmp_path / "kept.jsonl")
    )
    assert found == wanted and 0 < np.sum(found) < len(found)
    for ignore in (None, [TEMPLATE + " more"]):
        with pytest.raises(ParameterError, match="ignored"):
            la.dedup(texts[80:], against=tmp_path / "history", ignore=ignore, **HOW)
