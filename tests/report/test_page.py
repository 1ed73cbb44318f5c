"""The page as HTML: nothing that is data becomes markup or script, and the policy allows no script but ours."""

import base64
import hashlib
import html
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from json_lines import write_lines

import lookalike as la
from lookalike.report import page
from lookalike.report.page import as_json

NASTY = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u2028\u2029<!--'\"&{{ 7*7 }}"


class Outline(HTMLParser):
    """Collects the elements of a page, their attributes, and scripts and styles."""

    def __init__(self, path):
        super().__init__()
        self.tags, self.attributes, self.raw = [], [], []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag in ("script", "style"):
            self.raw.append([tag, dict(attrs), ""])

    def handle_data(self, data):
        if self.cdata_elem:
            self.raw[-1][2] += data


@pytest.fixture(scope="module")
def nasty(tmp_path_factory):
    """The page of texts, ids, a column and a title that would be markup."""
    folder, column = tmp_path_factory.mktemp("nasty"), "<b>&{{ 7*7 }}"
    rows = [{column: NASTY * 3 + f" word{i // 2} " + "x" * (i % 2), "id": f"{NASTY}{i}"} for i in range(6)]
    result = la.dedup(write_lines(folder / "a<b>.jsonl", rows), text=column, id="id", threshold=0.3)
    assert result.summary.near_duplicates >= 3
    result.report(folder / "page.html", title=NASTY)
    return folder / "page.html"


def test_json_cannot_end_its_element():
    value = {NASTY: [NASTY, "\ud83d\ude00", 1.5, None]}
    text = as_json(value)
    assert json.loads(text) == value
    assert not set("<>&\u2028\u2029") & set(text)


def test_the_page_has_only_elements_of_the_template(nasty):
    found = Outline(nasty)
    assert not {"img", "iframe", "object", "link", "base", "form"} & set(found.tags)
    style, data, script = found.raw
    assert (style[0], data[:2]) == ("style", ["script", {"type": "application/json", "id": "data"}])
    assert "alert" not in script[2] and json.loads(data[2])["pairs"]
    assert not [name for name, _ in found.attributes if name.startswith("on") or name in ("src", "style")]
    links = {value for name, value in found.attributes if name == "href"}
    assert links == {f"#{anchor}" for anchor, _ in page.SECTIONS}, "ids are never links"


def test_the_policy_allows_our_script_and_style_by_their_hashes(nasty):
    found = Outline(nasty)
    (policy,) = [value for name, value in found.attributes if name == "content" and "default-src" in value]
    style, _, script = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for *_, text in found.raw)
    assert policy == (
        f"default-src 'none'; script-src 'sha256-{script}'; style-src 'sha256-{style}'; base-uri 'none'; form-action 'none'"
    )


def test_the_words_are_those_of_the_glossary():
    table = (Path(__file__).parents[2] / "docs/reference/glossary.md").read_text()
    known = {word: re.sub("[`*]", "", meaning) for word, meaning in re.findall(r"^\| (.+?) \| (.+) \|$", table, re.MULTILINE)}
    shown = re.findall("<dt>(.*?)</dt><dd>(.*?)</dd>", page._part("glossary.html"))
    assert len(shown) >= 12 and {word: html.unescape(meaning) for word, meaning in shown}.items() <= known.items()
