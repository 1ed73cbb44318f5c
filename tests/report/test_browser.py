"""The page in Chromium: each section is there, nothing asks the network, hostile documents do nothing, keys and scripts work."""

import json
import random
from contextlib import closing

import pyarrow as pa
import pytest
from browsers import needed, opened, violations
from conftest import DATA
from json_lines import read_lines
from listing import find_pairs
from serve.desk_jobs import HOSTILE
from waiting import until

import lookalike as la
from lookalike.report.page import SECTIONS

pytestmark = needed
LONG = pytest.param("policies", marks=pytest.mark.slow)
PHONE = {"viewport": {"width": 360, "height": 800}}


def made(path):
    """The page of texts in memory, with near misses and an audit."""
    rng = random.Random(5)
    words = [f"word{i}" for i in range(300)]
    base = [" ".join(rng.choices(words, k=80)) for _ in range(40)]
    near = [f"{text} more" for text in base]
    close = [" ".join([*text.split()[:71], *(f"z{i}" for i in range(9))]) for text in base[:10]]
    result = la.dedup(base + near + base[:7] + close, threshold=0.8)
    result.audit(30)
    result.report(path)


def hostile(path):
    """The page of documents that would do something."""
    rows = [text + end for text in HOSTILE for end in ("", " x")]
    ids = [f"</script><script>window.hit = 4</script>\u202e\n<b>{i}" for i in range(len(rows))]
    la.dedup(pa.table({"text": rows, "id": ids}), id="id", threshold=0.5).report(path, title="<b>\u202e</title>")


def pairs(path):
    """The page of a list of pairs, of which some documents are hostile."""
    rows = [text + end for text in HOSTILE for end in ("", " x", " x y")]
    find_pairs(rows + ["some words of no other text " * 3] * 5, threshold=0.4).report(path)


def decontaminated(path):
    """The page of an overlap, of which some documents are hostile."""
    la.decontaminate([text + " x" for text in HOSTILE], against=HOSTILE, threshold=0.3).report(path)


def real(path):
    if not DATA.is_dir():
        pytest.skip("the real corpora lie beside the repository, and are absent here")
    with closing(la.dedup(DATA / f"{path.stem}.parquet", id="id", threshold=0.7, memory="1200MB")) as result:
        result.report(path)


KINDS = {"made": made, "hostile": hostile, "pairs": pairs, "decontaminate": decontaminated}


@pytest.fixture(scope="module")
def path_of(tmp_path_factory):
    """Gives the path of a page, which is made on first use."""
    folder = tmp_path_factory.mktemp("pages")

    def found(name):
        path = folder / f"{name}.html"
        if not path.exists():
            KINDS.get(name, real)(path)
        return path

    return found


@pytest.fixture
def show(browser, path_of):
    return lambda name="made", **how: opened(browser, path_of(name).as_uri(), **how)


@pytest.fixture
def tab(show):
    with show() as found:
        yield found


def data_of(tab):
    return json.loads(tab.locator("#data").text_content())


def place_in(tab, key):
    """Whether a pair, the first that has something, is chosen side by side."""
    number = next(i for i, pair in enumerate(data_of(tab)["pairs"]) if pair[key])
    tab.locator("#pairs").select_option(str(number))


def see(tab, section, keys=""):
    """Scroll a section to the top of the window, and press keys."""
    tab.evaluate("([id]) => document.getElementById(id).scrollIntoView({ behavior: 'instant' })", [section])
    for key in keys:
        tab.keyboard.press(key)


def judged(tab):
    return tab.locator("#precision").inner_text()


def keep_button(tab):
    return tab.locator("#audit [data-verdict=keep]")


@pytest.mark.parametrize("name", ["made", "hostile", LONG, "poems_zh", "pairs", "decontaminate"])
@pytest.mark.parametrize(
    "how", [{}, {"color_scheme": "dark", "viewport": {"width": 390, "height": 800}}], ids=["light", "dark, narrow"]
)
def test_each_section_is_there_and_fits_the_window(show, path_of, name, how):
    with show(name, **how) as tab:
        headings = tab.locator("h2").all_inner_texts()
        assert [heading.split(".")[0] for heading in headings] == [str(i) for i in range(1, 10)]
        for anchor, _ in SECTIONS:
            section = tab.locator(f"section#{anchor}")
            assert section.is_visible() and len(section.inner_text()) > 60
        assert tab.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        assert name == "hostile" or tab.evaluate("document.querySelectorAll('*').length") < 8_000, "little to lay out"
    assert path_of(name).stat().st_size <= 2_000_000


def test_sections_one_to_four_need_no_script(show):
    with show(java_script_enabled=False) as tab:
        assert "removed" in tab.locator("#verdict").inner_text()
        assert tab.locator("#least ins").count() + tab.locator("#least del").count() > 10
        assert tab.locator("#scores svg rect").count() >= 5 and tab.locator("#groups details").count() == 10
        assert "needs JavaScript" in tab.locator("#beside").inner_text()
        tab.get_by_label("Logarithmic scale").check()
        assert tab.locator("#scores .log").is_visible() and not tab.locator("#scores .lin").is_visible()


def test_documents_side_by_side(tab):
    view = tab.locator("#view")
    assert tab.locator("#pairs optgroup").count() == 4, "also near misses"
    first = view.inner_text()
    tab.locator("#after").click()
    assert view.inner_text() != first
    tab.locator("#before").click()
    assert view.inner_text() == first and view.locator(".s").count() > 0 and view.locator(".d").count() > 0
    place_in(tab, "audit")
    assert "kept:" in view.inner_text() and "removed:" in view.inner_text()
    place_in(tab, "kept")
    assert "also kept:" in view.inner_text()


def test_a_sample_is_judged_by_keyboard_and_exported(tab, tmp_path):
    assert tab.locator("#export").is_disabled()
    see(tab, "audit", "dnudddn")
    said = judged(tab)
    assert "Judged 7 of 40: 4 duplicate, 2 not a duplicate, 1 unsure" in said
    assert "Precision 0.667 (95% interval 0.300 to 0.903" in said, "Wilson's interval of 4 of 6"
    with tab.expect_download() as download:
        tab.locator("#export").click()
    download.value.save_as(tmp_path / "overrides.jsonl")
    assert download.value.suggested_filename == "overrides.jsonl"
    data = data_of(tab)
    sample = [pair for pair in data["pairs"] if pair["audit"]]
    lines = [(line["id"], line["action"], line["input"]) for line in read_lines(tmp_path / "overrides.jsonl")]
    assert lines == [(data["documents"][sample[i]["right"]]["id"], "keep", "in memory") for i in (1, 6)]


def test_keys_are_those_of_the_section_in_view(show):
    with show(viewport={"width": 1280, "height": 400}) as tab:
        place, view = tab.locator("#audit-place"), tab.locator("#view")
        tab.locator("#audit-after").click()  # it has the focus now, and is out of view soon
        first = view.inner_text()
        see(tab, "beside", "j")
        assert view.inner_text() != first and place.inner_text().startswith("2 of 40")
        tab.keyboard.press("k")
        assert view.inner_text() == first
        tab.keyboard.press("d")
        see(tab, "audit")
        assert "Judged 0 of 40" in judged(tab), "side by side nothing is judged"
        tab.keyboard.press("k")
        assert view.inner_text() == first and place.inner_text().startswith("1 of 40")
        see(tab, "groups", "jdn")
        assert "Judged 0 of 40" in judged(tab) and place.inner_text().startswith("1 of 40")


def test_judgements_survive_a_reload_until_they_are_cleared(tab, tmp_path):
    other = tmp_path / "other.html"
    la.dedup([f"one two three four five six seven x{i}" for i in range(9)], threshold=0.3).report(other)
    see(tab, "audit", "dnu")
    said = judged(tab)
    assert tab.evaluate("localStorage.length") == 1
    tab.reload()
    assert judged(tab) == said and "Judged 3 of 40" in said
    assert tab.locator("#audit-place").inner_text().startswith("4 of 40"), "the first that is not judged"
    tab.locator("#audit-before").click()
    assert tab.locator("#audit [data-verdict=unsure]").get_attribute("aria-pressed") == "true"
    broken = '\'[[99, "keep"], [0, "maybe"], 7\''
    tab.evaluate(f"for (const key in localStorage) if (key.startsWith('lookalike')) localStorage[key] = {broken}")
    tab.reload()
    assert "Judged 0 of 40" in judged(tab), "what others wrote there is passed over"
    keep_button(tab).click()
    tab.locator("#clear").click()
    assert "Judged 0 of 40" in judged(tab)
    assert tab.locator("#clear").is_disabled() and tab.evaluate("localStorage.length") == 0
    keep_button(tab).click()
    tab.context.new_page().goto(other.as_uri())
    assert "Judged 0 of 8" in judged(tab.context.pages[1]), "another report, other judgements"


def test_where_storage_is_refused_judging_works_and_says_so(show):
    refuse = "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError'); } });"
    with show(script=refuse) as tab:
        assert "does not store judgements: export them" in tab.locator("#stored").inner_text()
        keep_button(tab).click()
        assert "1 not a duplicate" in judged(tab) and tab.locator("#export").is_enabled()
        tab.reload()
        assert "Judged 0 of 40" in judged(tab)


def test_a_verdict_can_be_taken_back(tab):
    keep_button(tab).click()
    tab.locator("#audit-before").click()
    assert keep_button(tab).get_attribute("aria-pressed") == "true"
    keep_button(tab).click()
    assert "Judged 0 of" in judged(tab)


@pytest.mark.parametrize("name", ["made", "hostile", "pairs"])
def test_axe_finds_nothing(show, name):
    """With all that is folded unfolded."""
    with show(name) as tab:
        tab.evaluate("for (const folded of document.querySelectorAll('details')) folded.open = true")
        assert violations(tab) == []


def test_the_keyboard_skips_to_the_verdict_and_scrolls_tables(show):
    with show(**PHONE) as tab:
        tab.keyboard.press("Tab")
        assert tab.evaluate("document.activeElement.textContent") == "Skip to the verdict"
        tab.keyboard.press("Enter")
        assert tab.evaluate("location.hash") == "#verdict"
        tab.locator("#sources .wide").first.focus()
        tab.keyboard.press("ArrowRight")
        until(lambda: tab.evaluate("document.querySelector('#sources .wide').scrollLeft") > 0)


def test_on_a_phone_both_documents_are_in_one_column(show):
    with show(**PHONE) as tab:
        changed = tab.locator("#view .line:not(.same):has(> [data-side] + [data-side])").first.locator("> div")
        left, right = (changed.nth(i).bounding_box() for i in (0, 1))
        assert left["x"] == right["x"] and right["y"] >= left["y"] + left["height"] - 1
        tab.set_viewport_size({"width": 1280, "height": 800})
        left, right = (changed.nth(i).bounding_box() for i in (0, 1))
        assert right["x"] > left["x"] and right["y"] == left["y"]


@pytest.mark.parametrize("name", ["hostile", "pairs", "decontaminate"])
def test_every_pair_of_hostile_documents_can_be_shown(show, name):
    with show(name) as tab:
        n = tab.locator("#pairs option").count()
        assert n >= 4
        for _ in range(n):
            tab.locator("#after").click()
            assert len(tab.locator("#view").inner_text()) > 20
        assert tab.evaluate("document.querySelectorAll('img, iframe, b:not(.tile b), main a').length") == 0
        assert "⟨U+202E⟩" in tab.locator("#least").inner_text()
        assert tab.evaluate("/[\\u202a-\\u202e\\u2066-\\u2069\\u2028\\u2029]/.test(document.body.innerText)") is False


def test_printed_it_has_all_sections(tab, tmp_path):
    tab.emulate_media(media="print")
    assert not tab.locator("nav").is_visible() and not tab.locator("#judge .controls").first.is_visible()
    assert all(tab.locator(f"#{anchor} h2").is_visible() for anchor, _ in SECTIONS)
    tab.pdf(path=tmp_path / "page.pdf")
    assert (tmp_path / "page.pdf").stat().st_size > 20_000
