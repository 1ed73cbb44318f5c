"""Figures that can be read at the width of a page: at most two panels a row, lines named where they end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

mpl.use("Agg")
import matplotlib.pyplot as plt

# Colours that people with any sight tell apart (Okabe & Ito), dark ones first.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
WIDTH, PANEL_HEIGHT, DPI = 8.0, 3.1, 130
STYLE = {
    "axes.prop_cycle": mpl.cycler(color=COLOURS),
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "font.size": 10.0,
    "axes.titlesize": 10.5,
    "lines.linewidth": 1.6,
    "lines.markersize": 4.0,
    "legend.frameon": False,
}


def draw_figure(path: Path, panels: tuple[int, int], draw: Callable[[Any], None]) -> None:
    """Draw (rows, columns) of panels by ``draw(axes)``, row by row, into a PNG."""
    rows, columns = panels
    if columns > 2:
        raise ValueError(f"a row of a figure has at most two panels, to be legible; got {columns}")
    with mpl.rc_context(STYLE):
        figure, axes = plt.subplots(rows, columns, figsize=(WIDTH, PANEL_HEIGHT * rows), squeeze=False, layout="constrained")
        draw(axes.ravel())
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=DPI, metadata={"Software": None})
        plt.close(figure)


def name_lines(axis: Any, names: Sequence[str] | None = None, *, apart: float = 0.065) -> None:
    """Write the label of each line beside its right end, moved apart where they would overlap; in place of a legend.

    ``apart`` is the least distance of two names, as a share of the height of the axis. To be called when all is drawn.
    """
    lines = [line for line in axis.get_lines() if not line.get_label().startswith("_")]
    names = [line.get_label() for line in lines] if names is None else names
    axis.get_xlim(), axis.get_ylim()  # limits that are still to be found move the ends
    ends = []
    for line in lines:
        x, y = (np.asarray(v, float) for v in line.get_data())
        known = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
        last = known[-1]
        ends.append(axis.transAxes.inverted().transform(axis.transData.transform((x[last], y[last])))[1])
    order = np.argsort(ends)
    places = np.clip(np.asarray(ends)[order], 0.0, 1.0)
    for _ in range(200):  # push neighbours apart until none overlap
        gaps = apart - np.diff(places)
        close = np.flatnonzero(gaps > 1e-6)
        if not len(close):
            break
        for i in close:
            push = (apart - (places[i + 1] - places[i])) / 2
            if push > 0:
                places[i] -= push
                places[i + 1] += push
        places += max(0.0, -places[0]) - max(0.0, places[-1] - 1.0)
    for place, at in zip(places, order, strict=True):
        axis.annotate(
            names[at], (1.0, place), xycoords="axes fraction", xytext=(4, 0), textcoords="offset points",
            color=lines[at].get_color(), va="center", fontsize=9, annotation_clip=False,
        )  # fmt: skip


def band(axis: Any, x: Any, middle: Any, error: Any, times: float = 2.0, **style: Any) -> None:
    """Draw points with bars of some standard errors."""
    axis.errorbar(x, middle, yerr=times * np.asarray(error), fmt="o", capsize=2, elinewidth=1, **style)
