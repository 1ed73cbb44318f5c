"""A warning where half of the texts, or more, are no longer than a shingle."""

import random

from cli.commands import run
from json_lines import write_lines

import lookalike as la

NAMES = [f"shop number {n}" for n in range(30)]
LONG = [" ".join(random.Random(n).choices("abcdefghij", k=12)) for n in range(31)]
ADVICE = "unit='char', width=3, threshold=0.6"


def test_most_texts_are_short(tmp_path, capsys):
    """The median decides: more long texts than short ones are no reason to doubt; what is empty or a reference does not count."""
    for texts, how, said in (
        (NAMES, {}, "30 of 30 texts are no longer than a shingle of 5 words"), ([*NAMES, *LONG[:30]], {}, "30 of 60 texts"),
        (NAMES, {"recall": 1}, ADVICE), (NAMES, {"method": "simhash"}, ADVICE), (NAMES, {"measure": "containment"}, ADVICE),
        (NAMES, {"verify": "sketch"}, ADVICE), (["one", "two"], {"unit": "char", "width": 8}, "of 8 characters"),
    ):  # fmt: skip
        (warning,) = la.dedup(texts, **how).summary.warnings
        assert said in warning
    for texts, how in (
        ([*NAMES, *LONG], {}), ([*NAMES, *LONG], {"against": NAMES}), ([*LONG[:3], *["", "."] * 20], {}), (["", "..."], {}), ([], {}),
        (["one", "two"], {"width": 1}),
    ):  # fmt: skip
        assert la.dedup(texts, **how).summary.warnings == []
    path = write_lines(tmp_path / "names.jsonl", NAMES)
    for command, warns in (("dedup", True), ("dedup --preset records", False), ("pairs", True)):
        out = run(capsys, *command.split(), path)[1]
        assert ("  warning: 30 of 30 texts" in out) is ("--preset records" in out) is warns
