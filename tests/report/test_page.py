import base64
import hashlib
import html
import json
import re
from pathlib import Path

from json_lines import write_lines

import lookalike as la
from lookalike.report import page
from lookalike.report.page import as_json

NASTY = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u2028\u2029<!--'\"&{{ 7*7 }}"


def test_json_cannot_end_its_element():
    value = {NASTY: [NASTY, "\ud83d\ude00", 1.5, None]}
    text = as_json(value)
    assert json.loads(text) == value
    assert not set("<>&\u2028\u2029") & set(text)


def test_the_page_has_only_elements_of_the_template_and_a_policy_that_allows_ours(tmp_path):
    column = "<b>&{{ 7*7 }}"
    rows = [{column: NASTY * 3 + f" word{i // 2} " + "x" * (i % 2), "id": f"{NASTY}{i}"} for i in range(6)]
    result = la.dedup(write_lines(tmp_path / "a<b>.jsonl", rows), text=column, id="id", threshold=0.3)
    result.report(tmp_path / "page.html", title=NASTY)
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    (style,) = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    (data, script) = re.findall(r"<script[^>]*>(.*?)</script>", text, re.DOTALL)
    assert json.loads(data)["pairs"] and "alert" not in script and "49" not in text.split("<title>")[1].split("</title>")[0]
    markup = text.replace(data, "").replace(script, "").replace(style, "")
    assert not {"img", "iframe", "object", "link", "base", "form"} & set(re.findall(r"<([a-z0-9]+)", markup))
    assert not re.search(r"<[^>]* (on\w*|src|style)=", markup)
    assert set(re.findall(r'href="(.*?)"', markup)) == {f"#{anchor}" for anchor, _ in page.SECTIONS}, "ids are never links"
    ours = (base64.b64encode(hashlib.sha256(some.encode()).digest()).decode() for some in (script, style))
    policy = "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'".format(
        *ours
    )
    assert html.unescape(re.search(r'content="(default-src .*?)"', text)[1]) == policy


def test_the_words_are_those_of_the_glossary():
    table = (Path(__file__).parents[2] / "docs/reference/glossary.md").read_text()
    known = {word: re.sub("[`*]", "", meaning) for word, meaning in re.findall(r"^\| (.+?) \| (.+) \|$", table, re.MULTILINE)}
    shown = re.findall("<dt>(.*?)</dt><dd>(.*?)</dd>", page._part("glossary.html"))
    assert len(shown) >= 12 and {word: html.unescape(meaning) for word, meaning in shown}.items() <= known.items()
