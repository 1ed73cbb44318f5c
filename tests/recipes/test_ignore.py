"""Shingles of some texts do not count: a resemblance is that of what is left."""

import json
import random
from contextlib import closing
from pathlib import Path

import pytest
from cli.commands import status
from json_lines import write_lines

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


def test_files_of_any_format_can_be_ignored(tmp_path):
    words = TEMPLATE.split()
    (tmp_path / "template.txt").write_text(" ".join(words[:30]))
    write_lines(tmp_path / "more.jsonl", [" ".join(words[27:])])
    names = [str(tmp_path / name) for name in ("template.txt", "more.jsonl")]
    found = [la.Settings(ignore=some).ignore for some in (names[0], [Path(name) for name in names], [TEMPLATE])]
    assert [some.shingles for some in found] == [26, 55, 56] and found[1].names == tuple(names)


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
