"""tests/jobs/ignore.job has what ``ignore`` decides."""

from contextlib import closing
from pathlib import Path

import pytest
from json_lines import write_lines

import lookalike as la

TEMPLATE = " ".join(f"t{i}" for i in range(60))
HOW = {"threads": 1, "threshold": 0.6}


def pages(n):
    """Every fourth is one of a family of near-duplicates."""
    for page in range(n):
        own = [f"p{page % 20 if page % 4 == 0 else page}x{i}" for i in range(24)]
        own[page % 23] = f"y{page}"
        yield " ".join([TEMPLATE, *own] if page % 3 else [*own, TEMPLATE])


def test_boilerplate_does_not_crowd():
    texts = [TEMPLATE, *pages(600)]
    with closing(la.dedup(texts, **HOW)) as plain, closing(la.dedup(texts, ignore=[TEMPLATE], **HOW)) as ignoring:
        assert plain.summary.crowded > 500 and ignoring.summary.crowded == 0
        assert plain.keep.sum() < 20 and ignoring.keep.sum() > 400
        assert ignoring.summary.recall_vouched == pytest.approx(ignoring.summary.recall_planned)


def test_files_of_any_format_can_be_ignored(tmp_path):
    words = TEMPLATE.split()
    (tmp_path / "template.txt").write_text(" ".join(words[:30]))
    write_lines(tmp_path / "more.jsonl", [" ".join(words[27:])])
    names = [str(tmp_path / name) for name in ("template.txt", "more.jsonl")]
    found = [la.Settings(ignore=some).ignore for some in (names[0], [Path(name) for name in names], [TEMPLATE])]
    assert [some.shingles for some in found] == [26, 55, 56] and found[1].names == tuple(names)


def test_a_saved_result_knows_what_was_ignored(tmp_path):
    (template := tmp_path / "template.txt").write_text(TEMPLATE)
    result = la.dedup([TEMPLATE], ignore=template, **HOW)
    result.save(tmp_path / "saved")
    loaded = la.Result.load(tmp_path / "saved").settings.ignore
    assert loaded == result.settings.ignore and loaded.names == (str(template),)
