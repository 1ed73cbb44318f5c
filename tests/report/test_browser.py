import json
import random

import pyarrow as pa
import pytest
from browsers import needed, opened, violations
from json_lines import read_lines
from listing import find_pairs
from samples import one_in
from serve.desk_jobs import HOSTILE, assert_harmless, hostile_rows
from waiting import until

import lookalike as la
from lookalike.report.page import SECTIONS

pytestmark = needed


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    rng, path = random.Random(5), tmp_path_factory.mktemp("pages") / "made.html"
    base = [" ".join(f"word{i}" for i in rng.choices(range(300), k=80)) for _ in range(40)]
    close = [" ".join([*text.split()[:71], *(f"z{i}" for i in range(9))]) for text in base[:10]]
    result = la.dedup([*base, *(f"{text} more" for text in base), *base[:7], *close], threshold=0.8)
    result.audit(30)
    result.report(path)
    return path.as_uri()


def see(tab, section, keys=""):
    tab.evaluate("([id]) => document.getElementById(id).scrollIntoView({ behavior: 'instant' })", [section])
    for key in keys:
        tab.keyboard.press(key)


def test_a_walk_through_the_page(browser, made, tmp_path):
    """Keys are those of the section in view; judgements survive a reload until they are cleared."""
    with opened(browser, made, viewport={"width": 1280, "height": 400}) as tab:
        view, place, keep = (tab.locator(one) for one in ("#view", "#audit-place", "#audit [data-verdict=keep]"))
        data = json.loads(tab.locator("#data").text_content())

        def judged(n):
            return tab.locator("#precision").inner_text().startswith(f"Judged {n} of 40")

        assert tab.locator("#pairs optgroup").count() == 4 and tab.locator("#export").is_disabled(), "also near misses"
        for key, said in (("audit", "removed:"), ("kept", "also kept:")):
            number = next(i for i, pair in enumerate(data["pairs"]) if pair[key])
            tab.locator("#pairs").select_option(f"{number}")
            assert said in view.inner_text() and "kept:" in view.inner_text()
        tab.locator("#after").click()
        first = view.inner_text()
        tab.locator("#audit-after").click()  # it has the focus now, and is out of view soon
        see(tab, "beside", "jd")
        assert view.inner_text() != first and place.inner_text().startswith("2 of 40")
        tab.locator("#before").click()
        assert view.inner_text() == first and view.locator(".s").count() > 0 and view.locator(".d").count() > 0
        see(tab, "groups", "jdn")
        assert judged(0) and place.inner_text().startswith("2 of 40")
        see(tab, "audit", "kdnudddn")
        said = tab.locator("#precision").inner_text()
        assert judged(7) and "of 40: 4 duplicate, 2 not a duplicate, 1 unsure" in said
        assert "Precision 0.667 (95% interval 0.300 to 0.903" in said, "Wilson's interval of 4 of 6"
        with tab.expect_download() as download:
            tab.locator("#export").click()
        assert download.value.suggested_filename == "overrides.jsonl"
        download.value.save_as(tmp_path / "overrides.jsonl")
        removed = [data["documents"][pair["right"]]["id"] for pair in data["pairs"] if pair["audit"]]
        lines = [(line["id"], line["action"], line["input"]) for line in read_lines(tmp_path / "overrides.jsonl")]
        assert lines == [(removed[i], "keep", "in memory") for i in (1, 6)]

        tab.reload()
        assert judged(7) and place.inner_text().startswith("8 of 40"), "the first that is not judged"
        tab.locator("#audit-before").click()
        assert keep.get_attribute("aria-pressed") == "true"
        keep.click()
        assert judged(6), "taken back"
        tab.locator("#clear").click()
        assert judged(0) and tab.locator("#clear").is_disabled() and tab.evaluate("localStorage.length") == 0
        keep.click()
        tab.evaluate(
            "for (const key in localStorage) if (key.startsWith('lookalike')) localStorage[key] = '[[99, \"keep\"], 7'"
        )
        tab.reload()
        assert judged(0), "what others wrote there is passed over"
        keep.click()
        la.dedup([f"one two three four five six seven x{i}" for i in range(9)], threshold=0.3).report(tmp_path / "other.html")
        tab.context.new_page().goto((tmp_path / "other.html").as_uri())
        other = tab.context.pages[1].locator("#precision").inner_text()
        assert other.startswith("Judged 0 of 8"), "another report, other judgements"


def test_the_page_on_a_phone_on_paper_and_without_a_mouse(browser, made):
    with opened(browser, made, viewport={"width": 360, "height": 800}) as tab:
        assert tab.evaluate("document.querySelectorAll('*').length") < 8_000, "little to lay out"
        tab.keyboard.press("Tab")
        assert tab.evaluate("document.activeElement.textContent") == "Skip to the verdict"
        tab.keyboard.press("Enter")
        assert tab.evaluate("location.hash") == "#verdict"
        tab.locator("#sources .wide").first.focus()
        tab.keyboard.press("ArrowRight")
        until(lambda: tab.evaluate("document.querySelector('#sources .wide').scrollLeft") > 0)
        tab.emulate_media(media="print")
        assert not tab.locator("nav").is_visible() and not tab.locator("#judge .controls").first.is_visible()
        assert all(tab.locator(f"#{anchor} h2").is_visible() for anchor, _ in SECTIONS)


REFUSE = "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError'); } });"


def test_what_works_without_scripts_and_without_storage(browser, made):
    with opened(browser, made, java_script_enabled=False) as tab:
        assert "removed" in tab.locator("#verdict").inner_text()
        assert tab.locator("#least ins").count() + tab.locator("#least del").count() > 10
        assert tab.locator("#scores svg rect").count() >= 5 and tab.locator("#groups details").count() == 10
        assert "needs JavaScript" in tab.locator("#beside").inner_text()
        tab.get_by_label("Logarithmic scale").check()
        assert tab.locator("#scores .log").is_visible() and not tab.locator("#scores .lin").is_visible()
    with opened(browser, made, script=REFUSE) as tab:
        assert "does not store judgements: export them" in tab.locator("#stored").inner_text()
        tab.locator("#audit [data-verdict=keep]").click()
        assert "1 not a duplicate" in tab.locator("#precision").inner_text() and tab.locator("#export").is_enabled()


def hostile(name):
    if name == "dedup":
        return la.dedup(pa.Table.from_pylist(hostile_rows()), id="id", threshold=0.5)
    texts = [row["text"] for row in hostile_rows()]
    if name == "pairs":
        return find_pairs(texts + ["some words of no other text " * 3] * 5, threshold=0.4)
    return la.decontaminate(texts[1::2], against=HOSTILE, threshold=0.3)


@pytest.mark.parametrize("name", one_in(3, ["dedup", "pairs", "decontaminate"]))
def test_every_pair_of_hostile_documents_can_be_shown(browser, tmp_path, name):
    """All sections are there; with all that is folded unfolded, axe finds nothing wrong."""
    hostile(name).report(tmp_path / "page.html", title="<b>\u202e</title>")
    with opened(browser, (tmp_path / "page.html").as_uri()) as tab:
        headings = tab.locator("h2").all_inner_texts()
        assert [heading.split(".")[0] for heading in headings] == [str(i) for i in range(1, 10)]
        for anchor, _ in SECTIONS:
            section = tab.locator(f"section#{anchor}")
            assert section.is_visible() and len(section.inner_text()) > 60
        pairs = tab.locator("#pairs option").count()
        assert pairs >= 4
        for _ in range(pairs):
            tab.locator("#after").click()
            assert len(tab.locator("#view").inner_text()) > 20
        assert_harmless(tab, "#least", "img, iframe, b:not(.tile b), main a")
        tab.evaluate("for (const folded of document.querySelectorAll('details')) folded.open = true")
        assert violations(tab) == []
