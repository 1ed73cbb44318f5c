"""The table of everything that the five documents say: where it is here, on what data, and whether it holds.

One TOML file per document in experiments/items/, in the order of the document. An item:

    [[item]]
    where = ["§2.3", "(12)"]        # its section, and the numbers of the document that it stands for
    claim = "storage factor B(b) = b k Var"
    ours = "theory.bbit.storage_factor"
    data = "formula"                # what the proof ran on; for stand-ins: what they stand for
    verdict = "agrees"              # or "corrected" (says by which erratum), or "differs" (says why)
    why = ""                        # needed for the last two
    proof = ["a-storage", "tests/theory/test_bbit.py::test_storage"]   # sections, tests
"""

from __future__ import annotations

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
    title: str
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


def _proof(item: Item, pages: dict[str, str]) -> str:
    """Return links to the sections, and the names of the tests."""
    links = [f"[{key}](experiments/{pages[key]}.md#{key})" for key in item.sections]
    return ", ".join([*links, *(f"`{name.removeprefix('tests/')}`" for name in item.tests)])


def table_page(items: list[Item], sections: Iterable[Ran], words: str) -> str:
    """Return the page of all items; an item whose sections do not hold says so, whatever its verdict."""
    failed = {section.key: section.failures for section in sections if section.failures}
    pages = {key: known.page for paper, known in PAPERS.items() for item in items for key in item.sections if key[0] == paper}
    counts = {verdict: sum(item.verdict == verdict for item in items) for verdict in VERDICTS}
    lines = [
        "# What the papers say, and what holds",
        "",
        f"{words} {len(items)} items: {counts['agrees']} agree, {counts['corrected']} hold in a corrected form, {counts['differs']} "
        "do not agree or only in part, with the reason. Each item hangs on checks that compare measured values with theory in standard errors, "
        "and fail for a wrong formula (`make teeth`).",
        "",
    ]
    for document, name in NAMES.items():
        lines += [f"## {name}", "", "| where | claim | here | data | verdict | proof |", "|---|---|---|---|---|---|"]
        for item in items:
            if item.document == document:
                broken = any(key in failed for key in item.sections)
                verdict = "**✗ does not hold**" if broken else item.verdict + (f": {item.why}" if item.why else "")
                cells = (", ".join(item.where), item.claim, item.ours, item.data, verdict, _proof(item, pages))
                lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        lines.append("")
    return "\n".join(lines)
