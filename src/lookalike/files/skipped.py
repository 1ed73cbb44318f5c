"""Files that were not read, and why: how many, and the first names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from ..wording import printable
from .names import PACKED, shown

REASONS = {
    "other_suffix": "of no known text format",
    "not_matched": "not matched by the glob",
    "hidden": "hidden (named .x)",
    "hidden_folder": "hidden folders",
    "marker": "kept by lookalike or Spark beside data",
    "binary": "binary",
    "linked_twice": "links to files that are read",
    "broken_link": "broken links",
    "linked_folder": "links to folders",
    "folder": "folders",
    "not_regular": "pipes, sockets or devices",
    "odd_name": "named with an empty part (//), which cannot be read",
}
_PER_REASON, _NAMED = 3, 10
_SUFFIXES = 8  # that are listed


@dataclass(eq=False)
class Skipped:
    """Files that were left out, by reason: how many, and the first names; those of no known format by their suffixes."""

    counts: Counter[str] = field(default_factory=Counter)
    names: dict[str, list[str]] = field(default_factory=dict)
    suffixes: Counter[str] = field(default_factory=Counter)

    def add(self, reason: str, name: str) -> None:
        """Count a file; ``reason`` is one of ``REASONS``."""
        self.counts[reason] += 1
        if reason == "other_suffix":
            *_, before, last = ["", "", *PurePath(name.lower()).suffixes]
            self.suffixes[before + last if last in PACKED else last] += 1
        some = self.names.setdefault(reason, [])
        if len(some) < _PER_REASON:
            some.append(shown(name))

    def update(self, other: Skipped) -> None:
        """Count what another counted, too."""
        self.counts.update(other.counts)
        self.suffixes.update(other.suffixes)
        for reason, names in other.names.items():
            self.names[reason] = (self.names.get(reason, []) + names)[:_PER_REASON]

    def to_dict(self) -> dict[str, Any]:
        """Return ``files``, ``by_reason``, ``by_suffix`` (of those of no known format) and the first ``names``."""
        names = [name for reason in sorted(self.names, key="binary".__ne__) for name in self.names[reason]]
        suffixes = dict(sorted(self.suffixes.items(), key=lambda one: (-one[1], one[0])))
        return {
            "files": self.counts.total(), "by_reason": dict(self.counts), "by_suffix": suffixes, "names": names[:_NAMED],
        }  # fmt: skip


def describe_reasons(skipped: dict[str, Any]) -> str:
    """Say why files were left out: "12 .pdf, 3 .docx: of no known text format; 1 binary"."""
    known = [f"{n:,} {printable(suffix) or 'without suffix'}" for suffix, n in skipped.get("by_suffix", {}).items()]
    more = [f"{len(known) - _SUFFIXES:,} more suffixes"] if len(known) > _SUFFIXES else []
    reasons = [
        f"{n:,} {REASONS[reason]}" for reason, n in skipped["by_reason"].items() if reason != "other_suffix" or not known
    ]
    listed = f"{', '.join(known[:_SUFFIXES] + more)}: {REASONS['other_suffix']}" if known else ""
    return "; ".join(filter(None, (listed, ", ".join(reasons))))


def describe_skipped(skipped: dict[str, Any]) -> str:
    """Say what ``Skipped.to_dict`` counted: "3 (1 .pdf, 1 .docx: of no known text format; 1 broken links: a, b, c)"."""
    names = ", ".join(map(printable, skipped["names"])) + (", ..." if skipped["files"] > len(skipped["names"]) else "")
    return f"{skipped['files']:,} ({describe_reasons(skipped)}: {names})"


class Inputs(list[Any]):
    """Sources, and what was left out."""

    def __init__(self, sources: Sequence[Any] = (), skipped: Skipped | None = None) -> None:
        super().__init__(sources)
        self.skipped = skipped or Skipped()


def skipped_in(*inputs: Any) -> dict[str, Any]:
    """Return what was left out of several inputs, as a dictionary."""
    together = Skipped()
    for some in inputs:
        if isinstance(some, Inputs):
            together.update(some.skipped)
    return together.to_dict()
