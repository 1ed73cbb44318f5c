"""Web pages are compared by their text."""

import sys

import pyarrow.parquet as pq
import pytest

import semblance as sb

ARTICLE = "<article><h1>On rivers</h1>" + "".join(
    f"<p>Paragraph {i} says that the river number {i} rises in the hills and falls into the sea after {i * 7} miles.</p>" for i in range(30)
) + "</article>"  # fmt: skip


def page(nonce, menu="Home About", article=ARTICLE):
    return (
        f"<html><head><title>t</title><style>p {{x: y}}</style><script nonce='{nonce}'>var a = '{nonce}' < 3;</script></head>"
        f"<body><nav><ul><li>{menu}</li></ul></nav><main>{article}</main><footer>Imprint {nonce}</footer><!-- {nonce} --></body></html>"
    )


def test_scripts_and_comments_are_no_text():
    text = sb.html_to_text(page("n0nce"))
    assert "river number 29 rises" in text and "On rivers" in text
    assert "n0nce" not in text and "var a" not in text and "x: y" not in text
    assert "Home About" not in text and "Home About" in sb.html_to_text(page("n0nce"), boilerplate=True)
    assert sb.html_to_text("") == "" and sb.html_to_text("no tags at all") == "no tags at all"


def test_pages_that_differ_in_their_frame_are_equal():
    pages = [page("a1"), page("b2", "Other menu"), page("c3", article=ARTICLE.replace("river", "road"))]
    assert sb.dedup(pages, html=True).keep.tolist() == [True, False, True]
    assert sb.pairs(pages, html=True, threshold=0.99)["resemblance"].to_pylist() == [1.0]
    assert sb.pairs(pages, html=True, method="simhash", width=1)["distance"].to_pylist() == [0]
    with pytest.raises(sb.InputDataError, match=r"row 1: invalid UTF-8"):
        sb.dedup([page("a"), b"<p>\xff</p>"], html=True)
    assert sb.dedup([page("a"), b"<p>\xff</p>"], html=True, encoding_errors="replace").keep.all()


def test_the_extra_is_named_where_it_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "trafilatura", None)
    with pytest.raises(sb.MissingExtraError, match=r"semblance\[html\]"):
        sb.html_to_text("<p>x</p>")


def test_versions_of_real_pages_become_equal(data):
    """Raw versions always differ; of their texts some do not, and few are far apart."""
    table = pq.read_table(data / "webpages_html.parquet", columns=["path", "text"]).to_pylist()
    versions = [row["text"] for row in table if "UptimeRobot/Terms" in row["path"]]
    raw, text = sb.dedup(versions).summary, sb.dedup(versions, html=True).summary
    assert raw.exact_duplicates == 0 and text.exact_duplicates > 0
    assert text.kept < raw.kept
