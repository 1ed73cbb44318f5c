"""The table of everything that the five documents say: where it is here, on what data, and whether it holds.

One TOML file per document in experiments/items/, in the order of the document. An item:

    [[item]]
    where = ["§2.3", "(12)"]        # its section, and the numbers of the document that it stands for
    claim = "storage factor B(b) = b k Var"
    ours = "theory.bbit.storage_factor"
    data = "formula"                # what the proof ran on; for stand-ins: what they stand for
    verdict = "agrees"              # or "corrected" (says by which erratum), or "differs" (says why)
    why = ""                        # needed for the last two
    proof = ["a-storage", "tests/theory/test_bbit.py::test_table_1"]   # sections, tests
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

FOLDER = Path(__file__).parent / "items"
VERDICTS = ("agrees", "corrected", "differs")


@dataclass(frozen=True, slots=True, kw_only=True)
class Paper:
    """A document, or two of the same content: its name, its page, and how far its numbering goes."""

    title: str
    page: str
    files: tuple[str, ...]


PAPERS = {
    "a": Paper(title="b-Bit Minwise Hashing", page="bbit", files=("a-www", "a-arxiv")),
    "b": Paper(title="Minwise, b-bit and one permutation hashing, a report", page="one-permutation", files=("b-report",)),
    "c": Paper(title="f-Fractional bit minwise hashing", page="fractional", files=("c-fractional",)),
    "t": Paper(title="Probabilistic SimHash matching, a thesis", page="fingerprints", files=("t-thesis",)),
}
NAMES = {
    "a-www": "b-Bit Minwise Hashing (WWW 2010)",
    "a-arxiv": "b-Bit Minwise Hashing (arXiv:0910.3349): what differs",
    "b-report": "Minwise, b-bit and one permutation hashing (a report)",
    "c-fractional": "f-Fractional bit minwise hashing",
    "t-thesis": "Probabilistic SimHash matching (a thesis)",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """What a document says at one place, and what became of it here."""

    document: str
    where: tuple[str, ...]
    claim: str
    ours: str
    data: str
    verdict: str
    why: str
    proof: tuple[str, ...]

    @property
    def sections(self) -> list[str]:
        """Sections of the reproduction that it hangs on."""
        return [name for name in self.proof if "/" not in name]

    @property
    def tests(self) -> list[str]:
        """Tests that it hangs on."""
        return [name for name in self.proof if "/" in name]


class Ran(Protocol):
    """What the table needs to know of a section that ran."""

    key: str
    checks: int
    failures: list[str]


def read_items(folder: Path = FOLDER) -> list[Item]:
    """Read all items, in the order of the documents."""
    items = []
    for document in NAMES:
        for item in tomllib.loads((folder / f"{document}.toml").read_text(encoding="utf-8")).get("item", []):
            items.append(
                Item(
                    document=document,
                    where=tuple(item.pop("where")),
                    proof=tuple(item.pop("proof")),
                    why=item.pop("why", ""),
                    **item,
                )
            )
    return items


def _breakable(names: str) -> str:
    """Return names that a narrow column may break after dots and underscores within them."""
    return re.sub(r"(?<=\w)([._])(?=\w)", r"\1<wbr>", names)


def _tests(item: Item) -> list[str]:
    """Return the names of its tests, with their files as tooltips."""
    parts = (name.partition("::") for name in item.tests)
    return [f'<code title="{file}">{_breakable(function)}</code>' for file, _, function in parts]


def _verdict(item: Item, ran: dict[str, Ran]) -> str:
    """Return whether an item holds; sections that failed overrule what it says, and those that could check nothing are named."""
    broken = [key for key in item.sections if key in ran and ran[key].failures]
    if broken:
        return f"**does not hold: {', '.join(broken)}**"
    idle = [key for key in item.sections if key in ran and not ran[key].checks]
    verdict = f"**{item.verdict}**: {item.why}" if item.why else item.verdict
    return verdict + (f" (left out here: {', '.join(idle)})" if idle else "")


def _row(item: Item, pages: dict[str, str], ran: dict[str, Ran]) -> str:
    """Return the row of an item: where it is, what it says, what it is here and on what data, whether it holds, and the proof."""
    links = [f"[{key}](experiments/{pages[key]}.md#{key})" for key in item.sections]
    cells = (
        ", ".join(item.where),
        item.claim,
        f"{_breakable(item.ours)}; *{item.data}*",
        _verdict(item, ran),
        "<br>".join([*links, *_tests(item)]),
    )
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _counts(items: list[Item]) -> list[int]:
    """Return how many there are, and how many of each verdict."""
    return [len(items), *(sum(item.verdict == verdict for item in items) for verdict in VERDICTS)]


def table_page(items: list[Item], sections: Iterable[Ran], words: str) -> str:
    """Return the page of all items; an item whose sections do not hold, or could not run, says so, whatever its verdict."""
    ran = {section.key: section for section in sections}
    pages = {key: known.page for paper, known in PAPERS.items() for item in items for key in item.sections if key[0] == paper}
    by_document = {name: [item for item in items if item.document == name] for name in NAMES}
    lines = [
        "---",
        "hide: [navigation, toc]",
        "---",
        "",
        "# What the papers say, and what holds",
        "",
        f"{words} Every definition, algorithm, equation, table, figure, experiment and testable claim of five documents, with what it is here, "
        "on what data the proof runs, and whether it holds: as it stands (*agrees*), in a corrected form (*corrected*), or only in part or "
        "not on our data (*differs*). E numbers are those of the corrections for [sets](theory/resemblance.md#corrections-to-the-papers) and "
        "[fingerprints](theory/fingerprints.md#corrected). The proof is a section of the reproduction, which says beforehand what would refute it and "
        "compares measured values with theory in standard errors, or a test. Where originals are not to be had, the data are called stand-ins.",
        "",
        "| document | items | agree | corrected | differ |",
        "|---|---|---|---|---|",
    ]
    for document, name in NAMES.items():
        cells = [f"[{name}](#{document})", *_counts(by_document[document])]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    lines += ["| " + " | ".join(map(str, ["all", *_counts(items)])) + " |", ""]
    for document, name in NAMES.items():
        lines += [
            f"## {name} {{#{document}}}",
            "",
            "| where | what it says | here; *on what data* | verdict | proof |",
            "|---|---|---|---|---|",
        ]
        lines += [_row(item, pages, ran) for item in by_document[document]]
        lines.append("")
    return "\n".join(lines)
