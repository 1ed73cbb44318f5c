import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROMISES = [line for line in (ROOT / "docs/promises.md").read_text().splitlines() if line.startswith("| **")]


def test_each_promise_names_tests_that_exist():
    assert len(PROMISES) > 10
    for promise in PROMISES:
        said, held = promise.strip("| ").split(" | ")
        named = re.findall(r"`([^`]+)`", held)
        assert named, f"no test holds: {said}"
        for name in named:
            fact = "^# " if name.endswith(".job") else "^def test_"
            assert re.search(fact, (ROOT / name).read_text(), re.MULTILINE), f"{name} holds no test"
