"""Web pages are compared by their text."""

import sys
import time

import pyarrow.parquet as pq
import pytest

import lookalike as la

ARTICLE = "<article><h1>On rivers</h1>" + "".join(
    f"<p>Paragraph {i} says that the river number {i} rises in the hills and falls into the sea after {i * 7} miles.</p>" for i in range(30)
) + "</article>"  # fmt: skip


def page(nonce, menu="Home About", article=ARTICLE):
    return (
        f"<html><head><title>t</title><style>p {{x: y}}</style><script nonce='{nonce}'>var a = '{nonce}' < 3;</script></head>"
        f"<body><nav><ul><li>{menu}</li></ul></nav><main>{article}</main><footer>Imprint {nonce}</footer><!-- {nonce} --></body></html>"
    )


def test_scripts_and_comments_are_no_text():
    text = la.html_to_text(page("n0nce"))
    assert "river number 29 rises" in text and "On rivers" in text
    assert "n0nce" not in text and "var a" not in text and "x: y" not in text
    assert "Home About" not in text and "Home About" in la.html_to_text(page("n0nce"), boilerplate=True)
    assert la.html_to_text("") == "" and la.html_to_text("no tags at all") == "no tags at all"


def test_pages_that_differ_in_their_frame_are_equal():
    pages = [page("a1"), page("b2", "Other menu"), page("c3", article=ARTICLE.replace("river", "road"))]
    assert la.dedup(pages, html=True).keep.tolist() == [True, False, True]
    assert la.pairs(pages, html=True, threshold=0.99)["resemblance"].to_pylist() == [1.0]
    assert la.pairs(pages, html=True, method="simhash", width=1)["distance"].to_pylist() == [0]
    with pytest.raises(la.InputDataError, match=r"row 1: invalid UTF-8"):
        la.dedup([page("a"), b"<p>\xff</p>"], html=True)
    assert la.dedup([page("a"), b"<p>\xff</p>"], html=True, encoding_errors="replace").keep.all()


WORDS = "These words are the text of the page, and none of them may be lost. "


@pytest.mark.parametrize(
    "page",
    [
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
        "<div>" * 300 + WORDS + "</div>" * 300,
        "<div>" * 100_000 + WORDS + "</div>" * 100_000,
        "<table><tr><td>" * 5000 + WORDS,
        "<html><body><main>" + "<ul><li>" * 600 + f"<p>{WORDS}</p></main></body></html>",
        "<a " * 100_000 + f"<p>{WORDS}</p>",
        "<" * 100_000 + f"<p>{WORDS}</p>",
        "<html><body><p>intro</p>" + "<div>" * 5000 + "</div>" * 5000 + f"<p>{WORDS}</p></body></html>",
    ],
    ids=range(18),
)
def test_no_text_of_a_page_is_lost(page):
    """Fragments, pages of odd encodings, and pages that a parser gives up on have the text that they show."""
    for boilerplate in (False, True):
        text = la.html_to_text(page, boilerplate=boilerplate)
        assert WORDS.strip() in text
        assert "root:" not in text


def test_text_without_a_parser_leaves_out_scripts_and_comments():
    deep = "<div>" * 5000
    text = la.html_to_text(
        f"<SCRIPT>var a = '<p>';</SCRIPT><style>p {{}}</style>{deep}<!-- <p>no</p> -->One &amp; two<br/>three<script>x"
    )
    assert text == "One & two three"


def test_tags_without_an_end_take_linear_time():
    """A million letters after a "<" are read once, not once for each letter."""
    deep = "<div>" * 5000
    begin = time.process_time()
    assert "words" in la.html_to_text(deep + ("<" + "a" * 1_000_000) + "<" * 100_000 + "<p>words")
    assert time.process_time() - begin < 600  # some seconds; hours if each letter began anew


def test_a_page_without_text_has_none():
    for page in ("<br>", "<!-- a -->", "<html></html>", "<script>a</script>"):
        assert la.html_to_text(page) == ""


def test_the_extra_is_named_where_it_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "trafilatura", None)
    with pytest.raises(la.MissingExtraError, match=r"lookalike\[html\]"):
        la.html_to_text("<p>x</p>")


def test_versions_of_real_pages_become_equal(data):
    """Raw versions always differ; of their texts some do not, and few are far apart."""
    table = pq.read_table(data / "webpages_html.parquet", columns=["path", "text"]).to_pylist()
    versions = [row["text"] for row in table if "UptimeRobot/Terms" in row["path"]]
    raw, text = la.dedup(versions).summary, la.dedup(versions, html=True).summary
    assert raw.exact_duplicates == 0 and text.exact_duplicates > 0
    assert text.kept < raw.kept
