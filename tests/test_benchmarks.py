"""The figures of the README and of docs/benchmarks.md are those that the raw figures make."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def page():
    spec = importlib.util.spec_from_file_location("benchmark_page", ROOT / "benchmarks/page.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_pages_say_what_was_measured(page):
    for path, text in page.written().items():
        assert path.read_text() == text, f"{path.name} is not what benchmarks/page.py writes"


def test_ratios_pair_each_run_with_ours_of_the_same_turn(page):
    def record(*cpu):
        return {
            "mb": 10.0,
            "runs": [{"read": [1.0, 1.0], "compute": [seconds, seconds], "write": [9.0, 9.0]} for seconds in cpu],
        }

    ours = record(1.0, 3.0, 9.0)
    assert page.times(record(3.0, 11.0, 9.0), ours) == 2.0
    assert page.times(record(7.0), ours) == 4.0
    assert page.rate(ours) == 2.5


def test_only_what_is_marked_is_replaced(page):
    text = "a <!-- one -->old<!-- /one --> b\n\n<!-- two --><!-- /two -->\n"
    made = page.filled(text, {"one": "new", "two": "| t |\n"})
    assert made == "a <!-- one -->new<!-- /one --> b\n\n<!-- two -->\n| t |\n<!-- /two -->\n"
    assert page.filled(made, {"one": "new", "two": "| t |\n"}) == made
    with pytest.raises(ValueError, match="0 regions three"):
        page.filled(text, {"three": ""})
