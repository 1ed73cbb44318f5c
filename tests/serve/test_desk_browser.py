"""The pages in Chromium: a text is looked up, removals are judged by keyboard and taken back, hostile documents do nothing."""

import os
import re
import time

import pytest
from browsers import needed, opened, playwright, violations
from json_lines import read_lines
from serve.desk_jobs import HOSTILE, hostile, plain, served, write

import lookalike as la

pytestmark = needed
pytest.importorskip("uvicorn", reason="uvicorn is not installed (the extra serve)")
KINDS = [{}, {"color_scheme": "dark", "viewport": {"width": 390, "height": 800}}]
KEY = "writer-writer-writer"


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    folder = plain(tmp_path_factory.mktemp("plain"), 130)
    with served(folder) as address:
        yield address, folder


@pytest.fixture(scope="module")
def nasty(tmp_path_factory):
    with served(hostile(tmp_path_factory.mktemp("hostile"))) as address:
        yield address


@pytest.fixture(scope="module", params=[True, False], ids=["with texts", "without texts"])
def seen(request, tmp_path_factory):
    """(address, whether texts are kept) of an index of hostile documents."""
    folder = tmp_path_factory.mktemp("index") / "seen.idx"
    with la.Index.create(folder, threshold=0.5, keep_text=request.param) as index:
        ids = [f"</script><script>window.hit = 4</script>\u202e\n<b>{i}" for i in range(len(HOSTILE))]
        index.add(ids, [text[-900_000:] for text in HOSTILE])
    with served(folder) as address:
        yield address, request.param


def listed(tab):
    """Wait for the list and a pair; return the ids of the rows."""
    tab.locator("#view .line, #view .cut").first.wait_for()
    return ids(tab)


def ids(tab):
    return tab.locator("#rows .id").all_inner_texts()


def says(tab, where, text):
    playwright.expect(tab.locator(where)).to_contain_text(text)


def click(tab, where):
    tab.locator(where).click()


def press(tab, *keys):
    for key in keys:
        tab.keyboard.press(key)


def settled(tab, text):
    says(tab, "#progress", text)


def choose(tab, name, value):
    """Make a choice, and return the rows that it gives: a pair is asked for once they are there."""
    with tab.expect_response(lambda response: "/v1/removals/" in response.url):
        tab.locator(f"#{name}").select_option(value)
    return ids(tab)


def shows(tab, name):
    """Wait until a removal is shown: while the next is read, keys judge nothing, and the one before stays in view."""
    says(tab, "#view:not([aria-busy]) .top", f"removed: {name}")


def fits(tab):
    return tab.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


@pytest.mark.parametrize("how", KINDS, ids=["light", "dark, narrow"])
def test_removals_are_paged(browser, job, how):
    with opened(browser, job[0], **how) as tab:
        first = listed(tab)
        for way, place in (("after", "51 to 100"), ("after", "101 to 130"), ("before", "51 to 100"), ("before", "1 to 50")):
            assert fits(tab) and tab.locator("#page-after").is_disabled() == ("101" in tab.locator("#place").inner_text())
            click(tab, f"#page-{way}")
            says(tab, "#place", f"{place} of 130")
            assert place == "1 to 50" or not set(first) & set(listed(tab))
        assert listed(tab) == first and len(first) == 50


def test_removals_are_chosen(browser, job):
    with opened(browser, job[0]) as tab:
        listed(tab)
        tab.locator("#kind").select_option("exact")
        says(tab, "#place", "1 to 7 of 7")
        says(tab, "#about", "an exact duplicate")
        tab.locator("#kind").select_option("near")
        for find, place in (("b77", "1 to 1 of 1"), ("nobody", "None.")):
            tab.locator("#find").fill(find)
            tab.locator("#find").press("Enter")
            says(tab, "#place", place)
            if find == "b77":
                assert listed(tab) == ["b77"] and "kept: a77" in tab.locator("#rows").inner_text()
        says(tab, "#about", "No removal is chosen")


def test_both_documents_are_side_by_side(browser, job):
    with opened(browser, job[0]) as tab:
        listed(tab)
        view = tab.locator("#view")
        assert "kept: a" in view.inner_text() and "removed: b" in view.inner_text()
        assert view.locator(".s").count() > 2 and view.locator(".d.left").count() == view.locator(".d.right").count() > 0
        before = view.inner_text()
        press(tab, "j")
        playwright.expect(view).not_to_have_text(before)
        press(tab, "k")
        playwright.expect(view).to_contain_text(before.split("\n")[0])
        for _ in range(50):
            press(tab, "j")
        says(tab, "#place", "51 to 100")


def test_ten_are_judged_by_keyboard_one_is_taken_back_and_a_restart_forgets_nothing(browser, tmp_path):
    folder = plain(tmp_path, 30)
    with served(folder) as address, opened(browser, address) as tab:
        listed(tab)
        names = choose(tab, "order", "random")
        shows(tab, names[0])
        for i, key in enumerate("ndudndddnd", 1):
            press(tab, key)
            settled(tab, f"Judged {i} of 30")
            shows(tab, names[i])
        settled(tab, "6 duplicate, 3 not a duplicate, 1 unsure. Precision 0.667 (95% interval 0.299 to 0.925): of the first 10")
        press(tab, "z")
        settled(tab, "Judged 9 of 30")
        shows(tab, names[9])
        press(tab, "w")
        tab.keyboard.type("ask </script> Ann")
        press(tab, "Enter")
        playwright.expect(tab.locator("#rows .noted")).to_have_count(1)
        press(tab, "k")
        playwright.expect(tab.locator("#note")).to_have_value("")
        playwright.expect(tab.locator("[data-judgement=keep]")).to_have_attribute("aria-pressed", "true")
    lines = read_lines(folder / "overrides.jsonl")
    assert sorted(line["id"] for line in lines) == sorted(names[i] for i in (0, 4, 8))
    assert {(line["action"], len(line["sha256"])) for line in lines} == {("keep", 64)}
    with served(folder) as address, opened(browser, address) as tab:
        listed(tab)
        settled(tab, "Judged 9 of 30")
        assert len(choose(tab, "judged", "keep")) == 3
        choose(tab, "order", "random")
        choose(tab, "judged", "any")
        assert "note" in tab.locator("#rows li").nth(9).inner_text()
        tab.locator("#rows button").nth(9).click()
        playwright.expect(tab.locator("#note")).to_have_value("ask </script> Ann")
        click(tab, "#undo")
        playwright.expect(tab.locator("#rows .noted")).to_have_count(0)
    assert (folder / "overrides.jsonl").read_text().count("\n") == 3


def test_copies_are_judged_by_one_key_and_taken_back_by_one(browser, tmp_path):
    write(tmp_path / "in.jsonl", [{"id": f"{i}", "text": f"def f{i // 3}(x):\n    return x\n# one two\n"} for i in range(9)])
    la.dedup(tmp_path / "in.jsonl", id="id").save(tmp_path / "job")
    with served(tmp_path / "job") as address, opened(browser, address) as tab:
        names = listed(tab)
        playwright.expect(tab.get_by_label("All 2 copies at once")).to_be_checked()
        press(tab, "d")
        settled(tab, "Exact copies judged: 2.")
        shows(tab, names[2])
        assert tab.locator("#view").evaluate("view => getComputedStyle(view).fontFamily").endswith("monospace")
        assert "    return" in tab.locator("#view").evaluate("view => view.textContent")
        click(tab, "#copies")
        press(tab, "n")
        settled(tab, "Exact copies judged: 3.")
        shows(tab, names[3])
        for n in (2, 0):
            press(tab, "z")
            playwright.expect(tab.locator("#rows .mark.duplicate, #rows .mark.keep")).to_have_count(n)
        assert violations(tab) == []


def test_undo_takes_back_what_is_still_being_saved(browser, tmp_path):
    with served(plain(tmp_path, 10)) as address, opened(browser, address) as tab:
        listed(tab)
        tab.route("**/v1/judgements", lambda route: (time.sleep(0.5), route.continue_()))
        with tab.expect_response("**/v1/undo") as undone:
            tab.evaluate(
                "for (const key of 'dz') document.body.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}))"
            )
        assert undone.value.json()["row"] is not None
        settled(tab, "Judged 0 of 10")


def test_what_is_judged_leaves_the_list_of_the_others_only_with_the_page(browser, tmp_path):
    with served(plain(tmp_path, 60)) as address, opened(browser, address) as tab:
        listed(tab)
        names = choose(tab, "judged", "none")
        assert len(names) == 50
        for i in range(1, 4):
            shows(tab, names[i - 1])
            press(tab, "d")
            settled(tab, f"Judged {i} of 60")
        press(tab, ".")
        says(tab, "#place", "48 to 57 of 57")
        assert not set(names) & set(listed(tab)), "none is passed over, and none comes twice"


def test_keys_are_shown_and_are_no_keys_of_fields(browser, job):
    with opened(browser, job[0]) as tab:
        listed(tab)
        press(tab, "/")
        tab.keyboard.type("nud?")
        assert tab.locator("#find").input_value() == "nud?"
        assert not tab.locator("#keys").is_visible()
        settled(tab, "Judged 0 of 130")
        tab.locator("#find").fill("")
        tab.locator("#view").focus()
        press(tab, "?")
        assert tab.locator("#keys").is_visible()
        press(tab, "d", "Escape")
        assert not tab.locator("#keys").is_visible()
        assert tab.evaluate("document.activeElement.id") == "view", "the focus is back"
        settled(tab, "Judged 0 of 130")


def test_axe_finds_nothing(browser, job, nasty):
    for address, opener in ((job[0], "#words summary"), (nasty, "#words summary"), (job[0], "#keys-button")):
        with opened(browser, address) as tab:
            listed(tab)
            click(tab, opener)
            assert violations(tab) == []


def test_a_keyboard_skips_the_list(browser, job):
    with opened(browser, job[0]) as tab:
        listed(tab)
        press(tab, "Tab")
        assert tab.evaluate("document.activeElement.textContent") == "Skip to the removal to judge"
        press(tab, "Enter", "Tab")
        assert tab.evaluate("document.activeElement.dataset.judgement") == "duplicate"


def test_on_a_phone_there_is_one_column(browser, job):
    with opened(browser, job[0], viewport={"width": 360, "height": 800}) as tab:
        listed(tab)
        left = [tab.locator(one).bounding_box() for one in ("#list", "#pair")]
        assert left[0]["x"] == left[1]["x"] and left[1]["y"] > left[0]["y"] and fits(tab)
        changed = tab.locator("#view .line:not(.same):has(> [data-side] + [data-side])").first.locator("> div")
        assert changed.nth(0).bounding_box()["x"] == changed.nth(1).bounding_box()["x"]


@pytest.mark.parametrize("how", KINDS, ids=["light", "dark, narrow"])
def test_hostile_removals_do_nothing(browser, nasty, how):
    with opened(browser, nasty, **how) as tab:
        for i in range(len(listed(tab))):
            tab.locator("#rows button").nth(i).click()
            playwright.expect(tab.locator("#view")).not_to_have_attribute("aria-busy", "true")
            assert len(tab.locator("#view").inner_text()) > 100
        assert "⟨U+202E⟩" in tab.locator("#rows").inner_text() and fits(tab)
        assert tab.evaluate("document.querySelectorAll('img, iframe, b, main a').length") == 0
        assert tab.evaluate("/[\\u202a-\\u202e\\u2066-\\u2069\\u2028\\u2029]/.test(document.body.innerText)") is False


def test_the_report_opens_beside_it(browser, job):
    with opened(browser, job[0]) as tab:
        listed(tab)
        with tab.context.expect_page() as made:
            click(tab, "#report")
        made.value.wait_for_load_state()
        assert made.value.locator("h2").count() == 9
        made.value.locator("#after").click()


@pytest.mark.parametrize("how", KINDS, ids=["light", "dark, narrow"])
def test_a_text_is_pasted_and_its_neighbours_are_shown(browser, seen, how):
    address, keeps = seen
    with opened(browser, address, **how) as tab:
        says(tab, "#said", "seen.idx has 5 documents")
        for text in HOSTILE:
            tab.locator("#text").fill(text[-900_000:].replace("\x00", "") + " and more")
            press(tab, "Control+Enter")
            says(tab, "#result", "1 document found")
            if keeps:
                tab.locator("#found .line").nth(1).wait_for()
            said = tab.locator("#found").inner_text()
            assert "⟨U+202E⟩" in said and fits(tab)
            estimated = r"0\.\d{3}.*estimated resemblance; 95% interval 0\.\d{3} to"
            assert re.search("exact resemblance" if keeps else estimated, said, re.S)
        assert tab.locator("#texts").is_visible() is not keeps
        click(tab, "#words summary")
        assert violations(tab) == []
        tab.locator("#text").fill("words that nobody has ever said in this order")
        click(tab, "#find")
        says(tab, "#result", "No document in the index reaches a resemblance of 0.5.")


def test_a_file_is_looked_up(browser, seen, tmp_path):
    (tmp_path / "a.txt").write_text(HOSTILE[4])
    (tmp_path / "b.txt").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "c.txt").write_bytes(b"x" * 2_000_000)
    held = []
    with opened(browser, seen[0]) as tab:
        says(tab, "#said", "seen.idx")
        tab.route("**/v1/beside", lambda route: held.append(route))
        tab.locator("#file").set_input_files(tmp_path / "a.txt")
        says(tab, "#result", "1 document found")
        for name, said in (("b", "not text in UTF-8"), ("c", "2,000,000 bytes; the service takes at most 1,048,576")):
            tab.locator("#file").set_input_files(tmp_path / f"{name}.txt")
            says(tab, "#error", said)
        [late.continue_() for late in held]  # the error stays
        playwright.expect(tab.locator("#found")).not_to_contain_text("Comparing")
        says(tab, "#error", said)


def test_a_key_is_asked_for_and_held_by_the_page_alone(browser, tmp_path):
    folder = plain(tmp_path, 10)
    (tmp_path / "keys.toml").write_text(f'write = ["{KEY}"]\n')
    os.chmod(tmp_path / "keys.toml", 0o600)
    with (
        served(folder, "--keys", str(tmp_path / "keys.toml")) as address,
        opened(browser, address, ["401"], accept_downloads=True) as tab,
    ):
        tab.locator("#key").wait_for()
        assert violations(tab) == []
        tab.locator("#key").fill("wrong-wrong-wrong-wrong")
        press(tab, "Enter")
        says(tab, "dialog[open]", "does not accept this key")
        tab.locator("#key").fill(KEY)
        press(tab, "Enter")
        assert len(listed(tab)) == 10
        press(tab, "n")
        settled(tab, "Judged 1 of 10")
        with tab.expect_download() as download:
            click(tab, "#report")
        assert download.value.suggested_filename == "report.html"
        assert tab.evaluate("localStorage.length + sessionStorage.length + document.cookie.length") == 0
        assert KEY not in tab.content() and KEY not in tab.url
        tab.reload()
        tab.locator("#key").wait_for()
