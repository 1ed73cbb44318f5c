import time
from functools import partial

import numpy as np
import pytest
from json_lines import write_lines

import lookalike as la
from lookalike.errors import InputDataError
from lookalike.extraction import parsers
from lookalike.extraction.worker import SECONDS, seconds_for
from lookalike.formats.parsed import SMALL_PAGE

ARTICLE = "<article><h1>On rivers</h1>" + "".join(
    f"<p>Paragraph {i} says that the river number {i} rises in the hills and falls into the sea after {i * 7} miles.</p>" for i in range(30)
) + "</article>"  # fmt: skip


def page(nonce, article=ARTICLE):
    return f"<html><body><nav><ul><li>Home</li></ul></nav><main>{article}</main><footer>Imprint {nonce}</footer></body></html>"


def test_pages_that_differ_in_their_frame_are_equal():
    """tests/jobs/html.job has pairs of them."""
    pages, broken = [page("a1"), page("b2"), page("c3", ARTICLE.replace("river", "road"))], b"<p>\xff</p>"
    assert la.dedup(pages, html=True).keep.tolist() == [True, False, True]
    with pytest.raises(InputDataError, match=r"row 1: invalid UTF-8"):
        la.dedup([pages[0], broken], html=True)
    assert la.dedup([pages[0], broken], html=True, encoding_errors="replace").keep.all()


WORDS = "These words are the text of the page, and none of them may be lost. "


def test_no_text_of_a_page_is_lost():
    for page in [
        f"<p>{WORDS}</p>",
        f"<html><body><p>{WORDS}</p></body></html>",
        f"{WORDS}<",
        f"if a < b then c > d: {WORDS}",
        f"\ufeff<html><p>{WORDS}</p></html>",
        f"<p>a\0b {WORDS}</p>",
        f"<html><body><p>\ud800 {WORDS}</p></body></html>",
        f'<?xml version="1.0" encoding="utf-16"?><p>{WORDS}</p>',
        f'<html><head><meta charset="utf-16"></head><body><p>{WORDS}</p></body></html>',
        f'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><p>&e; {WORDS}</p>',
        f"<p x='{'a' * 20_000_000}'>{WORDS}</p>",
        f"<html><head><noscript><iframe src='x' style='display:none'/></noscript></head><body><p>{WORDS}</p></body></html>",
        f"<html><body style='display:none'><p>{WORDS}</p></body></html>",
        "<div>" * 300 + WORDS + "</div>" * 300,
        "<div>" * 100_000 + WORDS + "</div>" * 100_000,
        "<table><tr><td>" * 5000 + WORDS,
        "<html><body><main>" + "<ul><li>" * 600 + f"<p>{WORDS}</p></main></body></html>",
        "<a " * 100_000 + f"<p>{WORDS}</p>",
        "<" * 100_000 + f"<p>{WORDS}</p>",
        "<html><body><p>intro</p>" + "<div>" * 5000 + "</div>" * 5000 + f"<p>{WORDS}</p></body></html>",
    ]:
        for boilerplate in (False, True):
            text = la.html_to_text(page, boilerplate=boilerplate)
            assert WORDS.strip() in text
            assert "root:" not in text


MANY = 100_000


def test_time_is_in_proportion_to_the_size():
    for begin, each, end in (
        ("", "<div>", ""), ("", "<nav>x", "</nav>" * MANY), ("", "<div><nav>x", "</nav>" * MANY), ("", "<main>x", ""),
        ("<p", " a1 b", ">"), ("", '<p ="', ">"), ("<" + "a" * MANY, "<", "<p>"), ("", "<a ", ""), ("", "<!--", ""),
        ("", "<![CDATA[", ""), ("", "<script>x", "<p>"), ("", "<style>a<b", "<p>"), ("", "<noscript>", ""), ("", "&", "<p>"),
        ("&#", "1", ";<p>"), ("", "<!doctype [", ""), ("", "<script><title><textarea>", "<p>"), ("<div class", " ", ">"),
        ("<div a=", "b", "/>"), ("<div ", "a=", "/>"),
    ):  # fmt: skip
        started = time.process_time()
        assert "words" in la.html_to_text(begin + each * MANY + end + "words")
        assert time.process_time() - started < 30  # a second, at most; if it grew as the square, minutes


def test_a_page_without_text_has_none():
    for page in ("<br>", "<!-- a -->", "<html></html>", "<script>a</script>"):
        assert la.html_to_text(page) == ""


def test_slow_pages_are_left_out(monkeypatch, tmp_path, caplog):
    """Other pages are not kept waiting. Half a second is for each page that is parsed in a process of its own."""
    monkeypatch.setattr(parsers, "_idle", [])
    monkeypatch.setattr(parsers, "_Worker", partial(parsers._Worker, seconds=0.5))
    slow = "".join(f"<p>&{i};" for i in range(800_000)) + page("a")
    pages = [page("a"), slow, page("a") + "<!--" + " " * SMALL_PAGE + "-->", page("b", article="<p>Other words</p>")]
    path = write_lines(tmp_path / "pages.jsonl", pages)
    result = la.dedup(path, html=True)
    assert result.decisions["reason"].to_pylist() == ["kept", "skipped", "exact", "kept"]
    why = f"{path}:2 takes more than 0.5 seconds of processor time to parse"
    assert [record.getMessage() for record in caplog.records] == [f"left out: {why}"]
    with pytest.raises(InputDataError, match=r"pages\.jsonl, row 2: takes more than 0\.5 seconds.*on_error='skip'"):
        la.dedup(path, html=True, on_error="stop")
    assert [len(text) > 0 for text in result.inputs.texts(np.arange(4), result.settings).values()] == [True, False, True, True]
    parsers.close_idle()


def test_time_of_a_page_is_by_its_size():
    assert seconds_for("page:all", 2_000_000, SECONDS) == 7 and seconds_for("warc", 0, SECONDS) == 5
    assert seconds_for("html", 1 << 30, SECONDS) == SECONDS == seconds_for("pdf", 0, SECONDS)
