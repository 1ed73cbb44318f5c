"""A warning where half of the texts, or more, are no longer than a shingle."""

import random

from cli.commands import run
from json_lines import write_lines

import lookalike as la

NAMES = [f"shop number {n}" for n in range(30)]
LONG = [" ".join(random.Random(n).choices("abcdefghij", k=12)) for n in range(31)]
ADVICE = "unit='char', width=3, threshold=0.6"


def test_most_texts_are_short(tmp_path, capsys):
    """The median decides: more long texts than short ones are no reason to doubt."""
    (warning,) = la.dedup(NAMES).summary.warnings
    assert "30 of 30 texts are no longer than a shingle of 5 words" in warning and ADVICE in warning
    assert "30 of 60 texts" in la.dedup([*NAMES, *LONG[:30]]).summary.warnings[0]
    assert la.dedup([*NAMES, *LONG]).summary.warnings == []
    path = write_lines(tmp_path / "names.jsonl", NAMES)
    said = warning.partition("; otherwise")[0].replace(ADVICE, "--preset records")
    assert f"  warning: {said}" in run(capsys, "dedup", path)[1]
    assert "warning" not in run(capsys, "dedup", path, "--preset", "records")[1]
    assert f"  warning: {said}" in run(capsys, "pairs", path)[1]


def test_whatever_finds_pairs():
    for how in [{"recall": 1}, {"method": "simhash"}, {"measure": "containment"}, {"verify": "sketch"}]:
        assert ADVICE in la.dedup(NAMES, **how).summary.warnings[0]


def test_what_is_empty_or_a_reference_does_not_count():
    assert la.dedup([*NAMES, *LONG], against=NAMES).summary.warnings == []
    assert la.dedup([*LONG[:3], *["", "."] * 20]).summary.warnings == []
    assert la.dedup(["", "..."]).summary.warnings == [] == la.dedup([]).summary.warnings


def test_of_one_token_no_text_is_too_short():
    assert la.dedup(["one", "two"], width=1).summary.warnings == []
    assert "of 8 characters" in la.dedup(["one", "two"], unit="char", width=8).summary.warnings[0]
