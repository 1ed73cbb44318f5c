import re
from pathlib import Path

import lookalike as la
from lookalike.recipes.decontaminate import DecontaminationSettings
from lookalike.settings.option import entries
from lookalike.settings.repeats import RepeatsOptions

PROGRAM = Path(__file__).with_name("program.py").read_text()


def test_it_uses_every_public_name():
    assert [name for name in la.__all__ if not re.search(rf"\bla\.{name}\b", PROGRAM)] == []


def test_it_has_a_wrong_word_for_every_choice():
    choices = {
        name
        for kind in (la.Settings, DecontaminationSettings, RepeatsOptions)
        for name, entry in entries(kind).items()
        if entry.choice
    }
    assert {"unit", "verify", "on_error"} <= choices
    assert [name for name in sorted(choices) if not re.search(rf'\b{name}="[^"]+"\)  # type: ignore', PROGRAM)] == []
