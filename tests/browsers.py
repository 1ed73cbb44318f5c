from contextlib import contextmanager
from pathlib import Path

import pytest

playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
CHROMIUM = Path("/usr/bin/chromium")
needed = pytest.mark.skipif(not CHROMIUM.exists(), reason="Chromium is not installed (Debian's package chromium)")
_ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
              "--disable-component-update", "--disable-sync"]  # fmt: skip


@contextmanager
def launched():
    playwright.expect.set_options(timeout=60_000)
    with playwright.sync_playwright() as started:
        made = started.chromium.launch(executable_path=str(CHROMIUM), args=_ARGUMENTS)
        yield made
        made.close()


@contextmanager
def opened(browser, address, expected=(), script=None, **how):
    """In the end nothing foreign may have been asked for, no text been run, and no error been reported."""
    context = browser.new_context(**how)
    context.set_default_timeout(120_000)
    if script:
        context.add_init_script(script)
    tab, requests, complaints = context.new_page(), [], []
    tab.on("request", lambda request: requests.append(request.url))
    tab.on("console", lambda message: complaints.append(message.text))
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    tab.on("dialog", lambda dialog: dialog.accept())
    tab.goto(address)
    yield tab
    assert [url for url in requests if not url.startswith((address, "blob:"))] == []
    assert [text for text in complaints if not any(one in text for one in expected)] == []
    assert tab.evaluate("window.hit") is None
    context.close()


def violations(tab):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed").Axe()
    found = []
    for width, scheme in ((360, "light"), (768, "light"), (1280, "light"), (1280, "dark")):
        tab.set_viewport_size({"width": width, "height": 800})
        tab.emulate_media(color_scheme=scheme)
        told = axe.run(tab).response
        assert len(told["passes"]) > 10, "axe looked at the page"
        found += [(width, scheme, one["id"], [node["target"] for node in one["nodes"]]) for one in told["violations"]]
        if tab.evaluate("document.documentElement.scrollWidth - innerWidth") > 0:
            found.append((width, scheme, "wider than the window", []))
    return found
