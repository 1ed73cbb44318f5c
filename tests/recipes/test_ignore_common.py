"""Shingles that many documents have do not count: the job is the one that ignores them by name."""

import json
from contextlib import closing

import pytest
from cli.commands import lines, status
from recipes.test_ignore import HOW, TEMPLATE, pages

import lookalike as la
from lookalike.errors import InputDataError, ParameterError


def told(result):
    with closing(result):
        rows = result.decisions.select(["id", "reason", "duplicate_of", "resemblance"]).to_pylist()
        return rows, result.summary.crowded, result.settings.ignore


def test_a_template_that_is_common_is_ignored():
    found = told(la.dedup(pages(300), ignore_common=0.5, **HOW))
    assert found == told(la.dedup(pages(300), ignore=[TEMPLATE], **HOW))
    assert found[2].shingles == 56 and found[2].names is None


def test_both_ways_together_and_references_count():
    texts = pages(300)
    both = told(la.dedup(texts, ignore=["p0x1 p0x2 p0x3 p0x4 p0x5 p0x6"], ignore_common=0.5, **HOW))
    assert both[2].shingles == 58
    assert both == told(la.dedup(texts, ignore=[TEMPLATE, "p0x1 p0x2 p0x3 p0x4 p0x5 p0x6"], **HOW))
    few = texts[3:60]
    assert told(la.dedup(few, ignore_common=0.5, **HOW))[2] is None, "of so few documents nothing is common"
    assert told(la.dedup(few, against=texts[60:], ignore_common=0.5, **HOW))[2].shingles == 56


def test_a_share_that_nothing_exceeds_changes_nothing():
    texts = pages(300)
    n = sum(TEMPLATE in text for text in texts)
    assert told(la.dedup(texts, ignore_common=n / len(texts), **HOW)) == told(la.dedup(texts, **HOW))
    assert told(la.dedup(texts, ignore_common=(n - 1) / len(texts), **HOW))[2].shingles == 56


def test_the_command_line(tmp_path):
    path, out = lines(tmp_path / "pages.jsonl", pages(300)), tmp_path / "out.jsonl"
    command = ["dedup", path, "-t", "0.6", "--ignore-common", "0.5", "--threads", 1]
    assert status(*command, "-o", out, "--report", tmp_path / "page.html") == 0
    assert len(out.read_text().splitlines()) == la.dedup(pages(300), ignore=[TEMPLATE], **HOW).keep.sum()
    said = json.loads(next(tmp_path.glob("*lookalike.json")).read_text())["parameters"]
    assert said["ignore_common"] == 0.5 and said["shingling"]["ignored"]["shingles"] == 56
    page = (tmp_path / "page.html").read_text()
    assert "--ignore-common 0.5" in page and "--ignore " not in page
    assert status(*command, "--save-sketches", tmp_path / "seen") == 2 and not (tmp_path / "seen").exists()
    assert status("pairs", path, "--ignore-common", "0.5", "-o", tmp_path / "pairs.csv") == 0


def test_what_depends_on_the_documents_is_not_saved(tmp_path):
    path = lines(tmp_path / "pages.jsonl", pages(300))
    with closing(la.dedup(path, ignore_common=0.5, **HOW)) as result:
        with pytest.raises(ParameterError, match="ignore_common"):
            result.save_sketches(tmp_path / "seen")
        result.save(tmp_path / "saved")
        assert la.Result.load(tmp_path / "saved").settings.ignore == result.settings.ignore
    with closing(la.dedup(path, **HOW)) as result:
        result.save_sketches(tmp_path / "seen")
    with pytest.raises(ParameterError, match="ignore_common"):
        la.dedup(pages(), against=tmp_path / "seen", ignore_common=0.5, **HOW)


@pytest.mark.parametrize("share", [0, 1, 1.5, -0.1])
def test_shares_are_between_0_and_1(share):
    with pytest.raises(ParameterError, match="ignore_common must be between 0 and 1"):
        la.dedup(["a"], ignore_common=share)


def test_errors_name_the_row(tmp_path):
    path = tmp_path / "pages.jsonl"
    path.write_bytes(b'{"text": "a"}\n{"text": "\xff"}\n')
    with pytest.raises(InputDataError, match="pages.jsonl, row 2"):
        la.dedup(path, ignore_common=0.5)

    def tokens(text):
        return [1] if "b" in text else text.split()

    with pytest.raises(InputDataError, match=r"row 1.*must yield str"):
        la.dedup(["a", "b"], tokenizer=tokens, ignore_common=0.5)


def test_a_job_that_goes_on_counts_again(tmp_path):
    path = lines(tmp_path / "pages.jsonl", pages(300))
    plain = told(la.dedup(path, ignore_common=0.5, **HOW))
    with closing(la.dedup(path, ignore_common=0.5, memory="500MB", work=tmp_path / "work", **HOW)) as result:
        assert result.keep.sum() == sum(row["reason"] == "kept" for row in plain[0])
