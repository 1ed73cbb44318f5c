"""What `teeth.py` tells: the page of the changes, and the experiments that kill what no test does."""

from __future__ import annotations

from typing import Any

SECTION_SECONDS = 300


def page(known: dict[str, Any]) -> str:
    return ""


def tried_by_experiments(found: dict[str, dict[str, str | None]]) -> None:
    pass
