"""A section of the reproduction: what would refute it, tables, figures, and checks whose tolerance comes from theory.

A check compares what was measured with what theory says, in standard errors. The limit is set by how many values are compared:
that any of them lies beyond it by chance has a probability of at most ``CHANCE``. Seeds are fixed, so a run holds or fails for ever.
Times are never checked: ``observe`` writes them down.

A check has a name, which items cite as SECTION.NAME; checks of one name hold together. It also has a sense: that it holds supports the
claims that rest on it, excludes them, or shows where they end. Its line on the page carries the name, the sense, and the value measured
with its standard error where that is one number, so that the table of verdicts is made of the pages alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from scipy import stats

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared/data"
CHANCE = 1e-4
SENSES = ("supports", "excludes", "limits")  # what a check that holds does to a claim that rests on it


def limit(values: int, chance: float = CHANCE) -> float:
    """Return how many standard errors so many normal values stay within, but for a small chance."""
    return float(stats.norm.isf(chance / (2 * max(values, 1))))


def mean_error(samples: np.ndarray, axis: int = -1) -> tuple[np.ndarray, np.ndarray]:
    """Return (mean, its standard error) over an axis of independent repetitions."""
    n = samples.shape[axis]
    return samples.mean(axis), samples.std(axis, ddof=1) / n**0.5


def variance_error(samples: np.ndarray, axis: int = -1) -> tuple[np.ndarray, np.ndarray]:
    """Return (variance, its standard error) over an axis of independent repetitions; the error from the fourth moment."""
    n = samples.shape[axis]
    apart = samples - samples.mean(axis, keepdims=True)
    second, fourth = (apart**2).mean(axis), (apart**4).mean(axis)
    return second * n / (n - 1), np.sqrt(np.maximum(fourth - second**2, 0.0) / n)


@dataclass
class Section:
    """A section of the page.

    ``refuted_by`` says before the first measurement what would refute what the section claims.
    """

    key: str
    title: str
    refuted_by: str
    figure_folder: ClassVar[Path] = ROOT / "reproduction/figures"
    lines: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    checks: int = 0
    named: dict[str, str] = field(default_factory=dict)

    def _line(
        self,
        mark: str,
        text: str,
        name: str,
        found: Any = None,
        error: Any = 0.0,
        sense: str = SENSES[0],
        turns: tuple[float, float] | None = None,
    ) -> None:
        """Add a line that says what it is called, its sense, and the value that it has, if any."""
        own = f"{self.key}.{name}"
        if sense not in SENSES or self.named.get(own, sense) != sense:
            raise ValueError(f"{own} {sense} claims, but all checks of a name have one sense of {', '.join(SENSES)}")
        if self.lines and not self.lines[-1].startswith("- "):
            self.lines.append("")
        first = "" if own in self.named else f' id="{own}"'
        value = "" if sense == SENSES[0] else f' data-sense="{sense}"'
        if found is not None:
            value += f' data-found="{float(found):.6g}"'
            value += f' data-error="{float(error):.2g}"' if turns is None else f' data-turns="{turns[0]:g} to {turns[1]:g}"'
        self.named[own] = sense
        self.lines.append(f'- {mark} <a{first} data-check="{own}"{value}></a>{text}')

    def say(self, text: str) -> None:
        """Add a paragraph."""
        self.lines += ["", text, ""]

    def table(self, names: list[str], rows: list[list[Any]]) -> None:
        """Add a table."""
        self.lines += ["", "| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
        self.lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
        self.lines.append("")

    def holds(
        self, claim: str, true: bool, *, name: str = "rest", found: Any = None, error: Any = 0.0, sense: str = SENSES[0]
    ) -> None:
        """State something that is true or not whatever the sample: a count, an enumeration, an order beyond doubt."""
        self.checks += 1
        self._line("✓" if true else "✗ **does not hold:**", claim, name, found, error, sense)
        if not true:
            self.failures.append(f"{self.key}: {claim}")

    def equals(
        self, claim: str, found: Any, expected: Any, tolerance: float = 0.0, *, name: str = "rest", sense: str = SENSES[0]
    ) -> None:
        """State that computed values are the expected ones, within a tolerance: half a unit of the last printed digit, say."""
        apart = np.abs(np.asarray(found, float) - np.asarray(expected, float))
        claim = f"{claim} (largest difference {apart.max():.2g}, at most {tolerance:.2g})"
        self.holds(claim, bool((apart <= tolerance).all()), name=name, found=found if apart.ndim == 0 else None, sense=sense)

    def agrees(self, claim: str, found: Any, expected: Any, error: Any, *, name: str = "rest", sense: str = SENSES[0]) -> None:
        """State that measured values agree with theory: all within the limit of standard errors."""
        found, expected, error = np.broadcast_arrays(*(np.asarray(v, float) for v in (found, expected, error)))
        z = np.abs(found - expected) / error
        most = limit(z.size)
        values = "" if z.size == 1 else f" of {z.size} values"
        value = (found.ravel()[0], error.ravel()[0]) if z.size == 1 else (None, 0.0)
        told = f"{float(found.ravel()[0]):.4g}, theory {float(expected.ravel()[0]):.4g}; " if z.size == 1 else ""
        claim = f"{claim} ({told}off by at most {z.max():.1f} standard errors{values}, limit {most:.1f})"
        self.holds(claim, bool((z <= most).all()), name=name, found=value[0], error=value[1], sense=sense)

    def refutes(self, claim: str, found: Any, wrong: Any, error: Any, *, name: str = "rest", sense: str = SENSES[0]) -> None:
        """State that measured values exclude a formula, of the papers or not: some lie beyond the limit of standard errors."""
        found, wrong, error = np.broadcast_arrays(*(np.asarray(v, float) for v in (found, wrong, error)))
        z = np.abs(found - wrong) / error
        most = limit(z.size)
        claim = f"{claim} (off by up to {z.max():.1f} standard errors, limit {most:.1f})"
        value = (found.ravel()[0], error.ravel()[0]) if z.size == 1 else (None, 0.0)
        self.holds(claim, bool((z > most).any()), name=name, found=value[0], error=value[1], sense=sense)

    def below(self, claim: str, smaller: Any, larger: Any, error: Any, *, name: str = "rest", sense: str = SENSES[0]) -> None:
        """State that each of some measured values is below another, by more than the limit of standard errors of the difference."""
        smaller, larger, error = np.broadcast_arrays(*(np.asarray(v, float) for v in (smaller, larger, error)))
        z = (larger - smaller) / error
        most = limit(z.size)
        told = f"{claim} (by at least {z.min():.1f} standard errors, needed {most:.1f})"
        self.holds(told, bool((z > most).all()), name=name, sense=sense)

    def observe(
        self,
        text: str,
        *,
        name: str = "observed",
        found: Any = None,
        error: Any = 0.0,
        turns: tuple[float, float] | None = None,
    ) -> None:
        """Write down what depends on the machine and its load, or a value that an item compares with a printed one.

        Times have no standard error but the least and the largest of their ``turns``.
        """
        self._line("measured:", text, name, found, error, turns=turns)

    def figure(self, name: str, panels: tuple[int, int], draw: Callable[[Any], None], caption: str) -> None:
        """Draw (rows, columns) of panels, at most two columns, and show them with a caption that says what to see."""
        from figures import draw_figure  # here: pages are checked without what draws

        draw_figure(self.figure_folder / f"{name}.png", panels, draw)
        self.lines += ["", f"![{caption}](FIGURES/{name}.png)", "", f"*{caption}*", ""]

    def left_out(self, corpus: str) -> Section:
        """Say that the corpus is not there, and return the section."""
        self.say(f"Left out: the corpus of {corpus} is not there.")
        return self
