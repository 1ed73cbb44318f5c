"""The program that type checkers check says what they are to know; ``make lint`` runs them."""

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


def test_typed_forms_mean_what_the_command_line_writes():
    rows = [{"text": "a b c d e f", "n": n, "of": of} for n, of in ((1, "x"), (3, "y"), (2, "z"))]
    for keep, text, kept in (
        (("largest", "n"), "largest:n", 3), (("smallest", "n"), "smallest:n", 1), ({"of": ["z", "x"]}, "of:z,x", 2), ({"of": "y"}, "of:y", 3),
        ([{"of": ["w"]}, ("largest", "n"), "longest"], "of:w; largest:n; longest", 3), (["last"], "last", 2),
    ):  # fmt: skip
        result = la.dedup(rows, keep=keep)
        assert (result.settings.keep, result.clean(rows)[0]["n"]) == (text, kept)
    for wrong in (
        ("largest", "a;b"),
        ("largest",),
        ("largest", " n"),
        {"of": ["x,y"]},
        {"of": []},
        {"a:b": ["c"]},
        [],
        ("largest", 1),
        [["first"]],
    ):
        try:
            la.Settings(keep=wrong)
        except la.errors.ParameterError as error:
            assert str(error).startswith("keep"), error
        else:
            raise AssertionError(wrong)
    found = la.decontaminate(rows, against=["b c d"], measure=("ngram", 3))
    assert found.provenance["parameters"]["measure"] == "ngram:3" and found.overlaps.all()
