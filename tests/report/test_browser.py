"""The page in Chromium: each section is there, nothing asks the network, hostile documents do nothing, keys and scripts work."""

import json
import os
import random
import time
from contextlib import closing, contextmanager
from pathlib import Path

import pyarrow as pa
import pytest
from conftest import DATA

import lookalike as la
from lookalike.jobs.pairs import find_pairs
from lookalike.report.page import SECTIONS

CHROMIUM = Path("/usr/bin/chromium")
pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason="Chromium is not installed (Debian's package chromium)")
playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
HOSTILE = [
    "<script>window.hit = 1</script><img src=x onerror='window.hit = 2'> words of all kinds </script>" * 4,
    "\u2028\u2029 \u202e abc \x00\x1b[2J \u2066 some more words here " * 10,
    "W" * 10_000_000 + " tail a b c d e f g h",
    "שלום עולם נהדר ויפה מאוד " * 20,
    "{{7*7}} {% raw %} &lt;b&gt; javascript:window.hit=3 http://example.org/x " * 10,
]


@pytest.fixture(scope="module")
def browser():
    """One browser for all tests; it has a sandbox nowhere but here."""
    playwright.expect.set_options(timeout=60_000)
    with playwright.sync_playwright() as started:
        made = started.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield made
        made.close()


@contextmanager
def opened(browser, path, **how):
    """Open a page; in the end nothing may have been asked of the network, and no error been reported."""
    context = browser.new_context(**how)
    context.set_default_timeout(120_000)
    tab, requests, complaints = context.new_page(), [], []
    tab.on("request", lambda request: requests.append(request.url))
    tab.on("console", lambda message: complaints.append(message.text))
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    tab.on("dialog", lambda dialog: dialog.accept())
    tab.goto(path.as_uri())
    yield tab
    assert [url for url in requests if not url.startswith("blob:")] == [path.as_uri()]
    assert complaints == []
    context.close()


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
    find_pairs(rows + ["some words of no other text " * 3] * 5, la.Settings(threshold=0.4)).report(path)


def overlap(path):
    """The page of an overlap, of which some documents are hostile."""
    la.overlap([text + " x" for text in HOSTILE], against=HOSTILE, threshold=0.3).report(path)


def real(path):
    """The page of a real corpus."""
    if not DATA.is_dir():
        pytest.skip("the real corpora lie beside the repository, and are absent here")
    with closing(la.dedup(DATA / f"{path.stem}.parquet", id="id", threshold=0.7, memory="1200MB")) as result:
        result.report(path)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Gives the path of a page, which is made on first use."""
    folder, kinds = tmp_path_factory.mktemp("pages"), {"made": made, "hostile": hostile, "pairs": pairs, "overlap": overlap}

    def path_of(name):
        path = folder / f"{name}.html"
        if not path.exists():
            kinds.get(name, real)(path)
        return path

    return path_of


@pytest.mark.parametrize("name", ["made", "hostile", "policies", "poems_zh", "pairs", "overlap"])
@pytest.mark.parametrize(
    "how", [{}, {"color_scheme": "dark", "viewport": {"width": 390, "height": 800}}], ids=["light", "dark, narrow"]
)
def test_each_section_is_there_and_fits_the_window(browser, page, name, how):
    path = page(name)
    with opened(browser, path, **how) as tab:
        headings = tab.locator("h2").all_inner_texts()
        assert [heading.split(".")[0] for heading in headings] == [str(i) for i in range(1, 11)]
        for anchor, _ in SECTIONS:
            assert tab.locator(f"section#{anchor}").is_visible()
            assert len(tab.locator(f"section#{anchor}").inner_text()) > 60
        assert tab.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        assert tab.evaluate("window.hit") is None
    assert path.stat().st_size <= 2_000_000


@pytest.mark.parametrize("name", ["made", "policies"])
def test_it_is_small_enough_to_open_at_once(browser, page, name):
    """Pages with as many elements as this open within half a second."""
    with opened(browser, page(name)) as tab:
        assert tab.evaluate("document.querySelectorAll('*').length") < 10_000


def test_sections_one_to_four_need_no_script(browser, page):
    with opened(browser, page("made"), java_script_enabled=False) as tab:
        assert "removed" in tab.locator("#verdict").inner_text()
        assert tab.locator("#least ins").count() + tab.locator("#least del").count() > 10
        assert tab.locator("#scores svg rect").count() >= 5 and tab.locator("#groups details").count() == 10
        assert "needs JavaScript" in tab.locator("#beside").inner_text()
        tab.get_by_label("Logarithmic scale").check()
        assert tab.locator("#scores .log").is_visible() and not tab.locator("#scores .lin").is_visible()


def test_documents_side_by_side(browser, page):
    with opened(browser, page("made")) as tab:
        view = tab.locator("#view")
        assert tab.locator("#pairs optgroup").count() == 4, "also near misses"
        first = view.inner_text()
        tab.locator("#after").click()
        assert view.inner_text() != first
        tab.locator("#before").click()
        assert view.inner_text() == first
        assert view.locator(".s").count() > 0 and view.locator(".d").count() > 0
        sides = tab.locator("#pairs option").count()
        tab.locator("#pairs").select_option(str(sides - 1))
        assert "kept:" in view.inner_text() and "removed:" in view.inner_text()
        data = json.loads(tab.locator("#data").text_content())
        tab.locator("#pairs").select_option(str(next(i for i, pair in enumerate(data["pairs"]) if pair["kept"])))
        assert "also kept:" in view.inner_text()


def test_a_sample_is_judged_by_keyboard_and_exported(browser, page, tmp_path):
    with opened(browser, page("made"), accept_downloads=True) as tab:
        assert tab.locator("#export").is_disabled()
        tab.locator("#audit-view").focus()
        for key in "ynuyyyn":
            tab.keyboard.press(key)
        said = tab.locator("#precision").inner_text()
        assert "7 of 40 judged: 4 yes, 2 no, 1 unsure" in said
        assert "Precision 0.667 (95% interval 0.300 to 0.903" in said, "Wilson's interval of 4 of 6"
        with tab.expect_download() as download:
            tab.locator("#export").click()
        download.value.save_as(tmp_path / "overrides.jsonl")
        assert download.value.suggested_filename == "overrides.jsonl"
        data = json.loads(tab.locator("#data").text_content())
        sample = [pair for pair in data["pairs"] if pair["audit"]]
        lines = [json.loads(line) for line in (tmp_path / "overrides.jsonl").read_text().splitlines()]
        wanted = [data["documents"][sample[i]["right"]]["id"] for i in (1, 6)]
        assert [(line["id"], line["action"], line["input"]) for line in lines] == [(i, "keep", "in memory") for i in wanted]
        tab.keyboard.press("k")
        tab.locator("#least summary").first.press("y")
        assert tab.locator("#precision").inner_text() == said, "keys count in the section only"


def test_a_verdict_can_be_taken_back(browser, page):
    with opened(browser, page("made")) as tab:
        tab.locator("#audit [data-verdict=no]").click()
        tab.locator("#audit-before").click()
        assert tab.locator("#audit [data-verdict=no]").get_attribute("aria-pressed") == "true"
        tab.locator("#audit [data-verdict=no]").click()
        assert "0 of" in tab.locator("#precision").inner_text()
        tab.evaluate("location.hash = ''")


@pytest.mark.parametrize("name", ["hostile", "pairs", "overlap"])
def test_every_pair_of_hostile_documents_can_be_shown(browser, page, name):
    with opened(browser, page(name)) as tab:
        n = tab.locator("#pairs option").count()
        assert n >= 4
        for _ in range(n):
            tab.locator("#after").click()
            assert len(tab.locator("#view").inner_text()) > 20
        assert tab.evaluate("window.hit") is None
        assert tab.evaluate("document.querySelectorAll('img, iframe, b:not(.tile b), main a').length") == 0
        assert "⟨U+202E⟩" in tab.locator("#least").inner_text()
        assert tab.evaluate("/[\\u202a-\\u202e\\u2066-\\u2069\\u2028\\u2029]/.test(document.body.innerText)") is False


def test_printed_it_has_all_sections(browser, page, tmp_path):
    with opened(browser, page("made")) as tab:
        tab.emulate_media(media="print")
        assert not tab.locator("nav").is_visible() and not tab.locator("#judge .controls").first.is_visible()
        assert all(tab.locator(f"#{anchor} h2").is_visible() for anchor, _ in SECTIONS)
        tab.pdf(path=tmp_path / "page.pdf")
        assert (tmp_path / "page.pdf").stat().st_size > 20_000


@pytest.mark.slow
def test_a_million_removals(browser, tmp_path):
    rng = random.Random(6)
    families = [[f"w{rng.randrange(10**6)}" for _ in range(12)] for _ in range(100_000)]
    with open(tmp_path / "in.jsonl", "w") as file:
        for i in range(1_100_000):
            words = families[i % 100_000]
            file.write(json.dumps({"text": " ".join([*words, f"x{i}"] if i % 3 else words), "id": i}) + "\n")
    with closing(la.dedup(tmp_path / "in.jsonl", id="id", threshold=0.7, memory="1500MB")) as result:
        assert result.summary.documents - result.summary.kept == 1_000_000
        began = time.perf_counter()
        result.report(tmp_path / "page.html")
        print(f"{time.perf_counter() - began:.1f} s for the report")
    assert os.path.getsize(tmp_path / "page.html") <= 2_000_000
    with opened(browser, tmp_path / "page.html") as tab:
        assert "1,000,000 of 1,100,000 documents" in tab.locator("#verdict").inner_text()
        assert tab.evaluate("performance.timing.loadEventEnd - performance.timing.navigationStart") < 1000
