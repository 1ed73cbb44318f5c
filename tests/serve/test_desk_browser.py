import os
import re
import time

import pytest
from browsers import needed, opened, playwright, violations
from json_lines import read_lines
from serve.desk_jobs import HOSTILE, assert_harmless, hostile, hostile_rows, plain, saved, served
from serve.served import make_index

pytestmark = needed
expect = playwright.expect


def ids(tab):
    tab.locator("#view .line, #view .cut").first.wait_for()
    return tab.locator("#rows .id").all_inner_texts()


def says(tab, where, text):
    expect(tab.locator(where)).to_contain_text(text)


def press(tab, *keys):
    for key in keys:
        tab.keyboard.press(key)


def choose(tab, **values):
    for name, value in values.items():
        with tab.expect_response(lambda response: "/v1/removals/" in response.url):
            tab.locator(f"#{name}").select_option(value)
    return ids(tab)


def judge(tab, names, keys, n=0):
    """While the next removal is read, keys judge nothing, and the one before stays in view."""
    for i, key in enumerate(keys):
        says(tab, "#view:not([aria-busy]) .top", f"removed: {names[i]}")
        press(tab, key)
        says(tab, "#progress", f"Judged {n + i + 1} of ")


def fits(tab):
    return tab.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def test_a_walk_through_a_review(browser, tmp_path):
    """A restart forgets nothing."""
    folder = plain(tmp_path, 130)
    with served(folder) as address, opened(browser, address) as tab:
        first, view = ids(tab), tab.locator("#view")
        press(tab, "Tab")
        assert tab.evaluate("document.activeElement.textContent") == "Skip to the removal to judge"
        press(tab, "Enter", "Tab")
        assert tab.evaluate("document.activeElement.dataset.judgement") == "duplicate"
        for way, place in (("after", "51 to 100"), ("after", "101 to 130"), ("before", "51 to 100"), ("before", "1 to 50")):
            tab.locator(f"#page-{way}").click()
            says(tab, "#place", f"{place} of 130")
            assert place == "1 to 50" or not set(first) & set(ids(tab))
            assert tab.locator("#page-after").is_disabled() == (place == "101 to 130")
        assert ids(tab) == first and len(first) == 50
        assert "kept: a" in view.inner_text() and "removed: b" in view.inner_text()
        assert view.locator(".s").count() > 2 and view.locator(".d.left").count() == view.locator(".d.right").count() > 0
        before = view.inner_text()
        press(tab, "j")
        expect(view).not_to_have_text(before)
        press(tab, "k")
        expect(view).to_contain_text(before.split("\n")[0])
        press(tab, *["j"] * 50)
        says(tab, "#place", "51 to 100")

        press(tab, "/")
        tab.keyboard.type("nud?")  # keys are no keys of fields
        assert tab.locator("#find").input_value() == "nud?" and not tab.locator("#keys").is_visible()
        for find, place in (("nobody", "None."), ("b77", "1 to 1 of 1"), ("", "1 to 50 of 130")):
            tab.locator("#find").fill(find)
            press(tab, "Enter")
            says(tab, "#place", place)
            assert find != "b77" or (ids(tab) == ["b77"] and "kept: a77" in tab.locator("#rows").inner_text())
        view.focus()
        press(tab, "?")
        assert tab.locator("#keys").is_visible()
        press(tab, "d", "Escape")
        assert not tab.locator("#keys").is_visible() and tab.evaluate("document.activeElement.id") == "view", (
            "the focus is back"
        )

        names = choose(tab, kind="near", order="random")
        judge(tab, names, "ndudndddnd")
        said = "6 duplicate, 3 not a duplicate, 1 unsure. Precision 0.667 (95% interval 0.299 to 0.925): of the first 10"
        says(tab, "#progress", said)
        press(tab, "z")
        says(tab, "#progress", "Judged 9 of 130")
        says(tab, "#view:not([aria-busy]) .top", f"removed: {names[9]}")
        press(tab, "w")
        tab.keyboard.type("ask </script> Ann")
        press(tab, "Enter")
        expect(tab.locator("#rows .noted")).to_have_count(1)
        press(tab, "k")
        expect(tab.locator("#note")).to_have_value("")
        expect(tab.locator("[data-judgement=keep]")).to_have_attribute("aria-pressed", "true")
        with tab.context.expect_page() as made:
            tab.locator("#report").click()
        made.value.wait_for_load_state()
        assert made.value.locator("h2").count() == 9
        made.value.locator("#after").click()
    lines = read_lines(folder / "overrides.jsonl")
    assert sorted(line["id"] for line in lines) == sorted(names[i] for i in (0, 4, 8))
    assert {(line["action"], len(line["sha256"])) for line in lines} == {("keep", 64)}
    with served(folder) as address, opened(browser, address, viewport={"width": 360, "height": 800}) as tab:
        ids(tab)
        says(tab, "#progress", "Judged 9 of 130")
        boxes = [tab.locator(one).bounding_box() for one in ("#list", "#pair")]
        assert boxes[0]["x"] == boxes[1]["x"] and boxes[1]["y"] > boxes[0]["y"] and fits(tab), "one column on a phone"
        assert len(choose(tab, judged="keep")) == 3
        choose(tab, order="random", judged="any")
        tab.locator("#rows button").nth(9).click()
        expect(tab.locator("#note")).to_have_value("ask </script> Ann")
        tab.locator("#undo").click()
        expect(tab.locator("#rows .noted")).to_have_count(0)
        names = choose(tab, judged="none", order="least alike")
        judge(tab, names, "ddd", 9)
        press(tab, ".")
        says(tab, "#place", "48 to 97 of ")
        assert not set(names) & set(ids(tab)), "none is passed over, and none comes twice"
        tab.route("**/v1/judgements", lambda route: (time.sleep(0.5), route.continue_()))
        with tab.expect_response("**/v1/undo") as undone:
            tab.evaluate(
                "for (const key of 'dz') document.body.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}))"
            )
        assert undone.value.json()["row"] is not None, "also what is still being saved"
        says(tab, "#progress", "Judged 12 of 130")
    assert len(read_lines(folder / "overrides.jsonl")) == 3


def test_copies_are_judged_by_one_key_and_taken_back_by_one(browser, tmp_path):
    """Code is shown as it is written."""
    rows = [{"id": f"{i}", "text": f"def f{i // 3}(x):\n    return x\n# one two\n"} for i in range(9)]
    with served(saved(tmp_path, {"in": rows}, threshold=0.8)) as address, opened(browser, address) as tab:
        names, view = ids(tab), tab.locator("#view")
        expect(tab.get_by_label("All 2 copies at once")).to_be_checked()
        press(tab, "d")
        says(tab, "#progress", "Exact copies judged: 2.")
        says(tab, "#view:not([aria-busy]) .top", f"removed: {names[2]}")
        assert view.evaluate("view => getComputedStyle(view).fontFamily").endswith("monospace")
        assert "    return" in view.evaluate("view => view.textContent")
        tab.locator("#copies").click()
        press(tab, "n")
        says(tab, "#progress", "Exact copies judged: 3.")
        says(tab, "#view:not([aria-busy]) .top", f"removed: {names[3]}")
        for n in (2, 0):
            press(tab, "z")
            expect(tab.locator("#rows .mark.duplicate, #rows .mark.keep")).to_have_count(n)
        tab.locator("#keys-button").click()
        assert violations(tab) == []


def test_hostile_removals_do_nothing(browser, tmp_path):
    with served(hostile(tmp_path)) as address, opened(browser, address) as tab:
        for i in range(len(ids(tab))):
            tab.locator("#rows button").nth(i).click()
            expect(tab.locator("#view")).not_to_have_attribute("aria-busy", "true")
            assert len(tab.locator("#view").inner_text()) > 100
        assert_harmless(tab, "#rows", "img, iframe, b, main a")
        tab.locator("#words summary").click()
        assert violations(tab) == []


@pytest.mark.parametrize("keeps", [True, False], ids=["with texts", "without texts"])
def test_a_text_is_pasted_or_a_file_chosen_and_its_neighbours_are_shown(browser, tmp_path, keeps):
    texts = {row["id"]: row["text"][-900_000:] for row in hostile_rows([""])}
    folder = make_index(tmp_path / "seen.idx", texts, width=5, keep_text=keeps)
    held, estimated = [], r"0\.\d{3}.*estimated resemblance; 95% interval 0\.\d{3} to"
    with served(folder) as address, opened(browser, address) as tab:
        says(tab, "#said", "seen.idx has 5 documents")
        for text in HOSTILE:
            tab.locator("#text").fill(text[-900_000:].replace("\x00", "") + " and more")
            press(tab, "Control+Enter")
            says(tab, "#result", "1 document found")
            if keeps:
                tab.locator("#found .line").nth(1).wait_for()
            assert re.search("exact resemblance" if keeps else estimated, tab.locator("#found").inner_text(), re.S) and fits(
                tab
            )
            assert_harmless(tab, "#found", "img, iframe, b, main a")
        assert tab.locator("#texts").is_visible() is not keeps
        tab.locator("#words summary").click()
        assert violations(tab) == []
        tab.locator("#text").fill("words that nobody has ever said in this order")
        tab.locator("#find").click()
        says(tab, "#result", "No document in the index reaches a resemblance of 0.5.")

        tab.route("**/v1/beside", lambda route: held.append(route))
        for content, where, said in (
            (HOSTILE[4].encode(), "#result", "1 document found"),
            (b"\xff\xfe\x00", "#error", "not text in UTF-8"),
            (b"x" * 2_000_000, "#error", "2,000,000 bytes; the service takes at most 1,048,576"),
        ):
            tab.locator("#file").set_input_files({"name": "a.txt", "mimeType": "text/plain", "buffer": content})
            says(tab, where, said)
        [late.continue_() for late in held]
        expect(tab.locator("#found")).not_to_contain_text("Comparing")
        says(tab, "#error", said)  # it stays


def test_a_key_is_asked_for_and_held_by_the_page_alone(browser, tmp_path):
    folder, keys, key = plain(tmp_path, 10), tmp_path / "keys.toml", "writer-writer-writer"
    keys.write_text(f'write = ["{key}"]\n')
    os.chmod(keys, 0o600)
    with served(folder, "--keys", str(keys)) as address, opened(browser, address, ["401"], accept_downloads=True) as tab:
        tab.locator("#key").wait_for()
        assert violations(tab) == []
        tab.locator("#key").fill("wrong-wrong-wrong-wrong")
        press(tab, "Enter")
        says(tab, "dialog[open]", "does not accept this key")
        tab.locator("#key").fill(key)
        press(tab, "Enter")
        judge(tab, ids(tab), "n")
        with tab.expect_download() as download:
            tab.locator("#report").click()
        assert download.value.suggested_filename == "report.html"
        assert tab.evaluate("localStorage.length + sessionStorage.length + document.cookie.length") == 0
        assert key not in tab.content() and key not in tab.url
        tab.reload()
        tab.locator("#key").wait_for()
