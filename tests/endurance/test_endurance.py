"""A sample of what ``make endurance`` runs for hours."""

import re

import pytest
from fuzz.test_fuzz import needs_a_compiler, run

pytestmark = needs_a_compiler
KILLS = "../endurance/kills.py"
GIVEN = [[16], [10, "--kind", "weeks"]]
SLOW = ([100], [600, "--kind", "index"])


@pytest.mark.parametrize("given", GIVEN + [pytest.param(given, marks=pytest.mark.slow) for given in SLOW])
def test_nothing_is_lost(given):
    """What was acknowledged is there, all else as a whole or not at all, and what goes on ends as if nothing had happened."""
    code, said = run(KILLS, "--kills", *given, "--seed", 0)
    assert code == 0, said
    assert "nothing was lost" in said
    cut, killed = (sum(map(int, re.findall(rf"\b{what} (\d+)", said))) for what in ("power cuts", "kills"))
    assert min(cut, killed) >= given[0] // 5
    assert {line.split()[0] for line in said.splitlines()} >= {*(given[2:] or ("index", "job", "output"))}


@pytest.mark.parametrize(("way", "kinds", "said"), [
    ("no-journal", ["weeks"], "steps others are there"),
    ("in-place", ["output", "index"], "neither the old nor the new|damaged|not the manifest|missing"),
    ("no-sync", ["index", "output"], "damaged|not the manifest|not a file of|neither|cut short"),
    pytest.param("no-folder-sync", ["index"], "documents are missing|No such file", marks=pytest.mark.slow),
    pytest.param("no-section-sync", ["fingerprints"], "batches were acknowledged", marks=pytest.mark.slow),
])  # fmt: skip
def test_a_program_that_loses_something_does_not_pass(way, kinds, said):
    chosen = [word for kind in kinds for word in ("--kind", kind)]
    code, found = run(KILLS, "--kills", 80, "--until-lost", "--seed", 40, "--sabotage", way, *chosen)
    assert code == 1, found
    lost = [line for line in found.splitlines() if line.startswith("LOST")]
    assert lost and any(re.search(said, line) for line in lost), found
