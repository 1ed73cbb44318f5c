"""A page of sections with figures and checks; a stated agreement that does not hold makes the run fail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

mpl.use("Agg")
import matplotlib.pyplot as plt

ROOT = Path(__file__).parents[1]
FIGURES = ROOT / "docs/figures"


@dataclass
class Section:
    """A part of the page: text, a table, figures, checks."""

    title: str
    lines: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def say(self, text: str) -> None:
        """Add a paragraph."""
        self.lines += [text, ""]

    def table(self, names: list[str], rows: list[list[Any]]) -> None:
        """Add a table."""
        self.lines += ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
        self.lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
        self.lines.append("")

    def check(self, holds: bool, claim: str) -> None:
        """State an agreement and whether it holds."""
        self.lines += [f"- {'✓' if holds else '✗ **does not hold:**'} {claim}"]
        if not holds:
            self.failures.append(f"{self.title}: {claim}")

    def figure(self, name: str, columns: int, rows: int, draw: Callable[[Any], None], caption: str) -> None:
        """Draw axes into docs/figures/NAME.png and show them."""
        figure, axes = plt.subplots(rows, columns, figsize=(4.2 * columns, 3.2 * rows), squeeze=False, layout="constrained")
        draw(axes.ravel())
        FIGURES.mkdir(parents=True, exist_ok=True)
        figure.savefig(FIGURES / f"{name}.png", dpi=80, metadata={"Software": None})
        plt.close(figure)
        self.lines += ["", f"![{caption}](figures/{name}.png)", "", f"*{caption}*", ""]


def within(found: float, expected: float, error: float, times: float = 5.0) -> bool:
    """Tell whether a value lies within some standard errors."""
    return bool(abs(found - expected) <= times * error + 1e-12)


def variance_agrees(found: float, expected: float, replicates: int, times: float = 5.0) -> bool:
    """Tell whether an empirical variance agrees with theory within some standard errors sqrt(2 / n)."""
    return bool(abs(found / expected - 1.0) <= times * (2.0 / replicates) ** 0.5)


def minima(rng: np.random.Generator, resemblance: float, left: float, right: float, shape: Any) -> tuple[Any, Any]:
    """Minima of two sets of given densities and resemblance under random permutations of a large universe."""
    common = resemblance / (1 + resemblance) * (left + right)
    union = left + right - common
    z = rng.geometric(union, shape) - 1
    u = rng.random(shape) * union
    one = np.where(u < left, z, z + rng.geometric(left, shape))
    other = np.where((u < common) | (u >= left), z, z + rng.geometric(right, shape))
    return one, other
