"""Pictures of a page, as SVG: numbers in, markup out. Colours come from the style sheet, by class."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markupsafe import Markup

WIDTH, HEIGHT = 560, 230
LEFT, RIGHT, TOP, BOTTOM = 52, 14, 14, 34
Scale = Callable[[float], float]


def _ticks(low: float, high: float, n: int = 6) -> list[float]:
    """Return round numbers between two."""
    span = max(high - low, 1e-9)
    step = 10.0 ** math.floor(math.log10(span / n))
    step = next(step * m for m in (1, 2, 5, 10, 20) if span / (step * m) <= n)
    first = math.ceil(low / step - 1e-9)
    return [round((first + i) * step, 10) for i in range(int((high - first * step) / step + 1e-9) + 1)]


def _label(value: float) -> str:
    """Return a number as an axis says it."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:g}{unit}"
    return f"{value:g}"


def _linear(low: float, high: float, begin: float, end: float) -> Scale:
    return lambda value: begin + (value - low) / (high - low or 1.0) * (end - begin)


def _frame(title: str, body: str, width: int = WIDTH, height: int = HEIGHT) -> Markup:
    """Return a picture with its title, which is also read aloud."""
    from markupsafe import Markup  # of the extra report, without which this module must load

    name = escape(title)
    return Markup(f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{name}"><title>{name}</title>{body}</svg>')


def _text(x: float, y: float, text: str, kind: str = "", anchor: str = "middle") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{f" class={kind!r}" if kind else ""}>{escape(text)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>'


def _rect(x: float, y: float, width: float, height: float, kind: str, title: str = "") -> str:
    box = f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 1):.1f}" height="{max(height, 0.5):.1f}" class="{kind}"'
    return f"{box}><title>{escape(title)}</title></rect>" if title else f"{box}/>"


def _x_axis(x: Scale, ticks: Sequence[float], label: str) -> str:
    base = HEIGHT - BOTTOM
    parts = [_line(LEFT, base, WIDTH - RIGHT, base, "axis")]
    parts += [_text(x(tick), base + 14, _label(tick)) for tick in ticks]
    return "".join([*parts, _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 4, label, "name")])


def _y_axis(y: Scale, ticks: Sequence[float]) -> str:
    return "".join(
        _line(LEFT, y(tick), WIDTH - RIGHT, y(tick), "grid") + _text(LEFT - 6, y(tick) + 4, _label(tick), anchor="end")
        for tick in ticks
    )


def _bars(parts: Sequence[tuple[str, Sequence[float], Sequence[int]]], x: Scale, y: Scale) -> str:
    """Return bars: of each part its class, the bounds of its bins and their counts."""
    out = []
    for kind, bins, counts in parts:
        for low, high, n in zip(bins, bins[1:], counts, strict=False):
            if n:
                top, said = y(n), f"{low:.3f} to {high:.3f}: {n:,}"
                out.append(_rect(x(low) + 0.5, top, x(high) - x(low) - 1, max(HEIGHT - BOTTOM - top, 1), kind, said))
    return "".join(out)


def histogram(title: str, parts: Sequence[tuple[str, Sequence[float], Sequence[int]]], threshold: float, label: str) -> Markup:
    """Draw counts by resemblance, the threshold marked: once with a linear scale, once with a logarithmic one."""
    low, high = min(bins[0] for _, bins, _ in parts), 1.0
    most = max([5, *(n for _, _, counts in parts for n in counts)])
    x, base = _linear(low, high, LEFT, WIDTH - RIGHT), HEIGHT - BOTTOM
    linear = _linear(0, most, base, TOP)
    top = math.log10(most * 1.3)

    def logarithmic(n: float) -> float:
        return base - math.log10(max(n, 0.7) / 0.7) / (top - math.log10(0.7)) * (base - TOP)

    powers = [10.0**i for i in range(int(top) + 1)]
    scales = (("lin", linear, _ticks(0, most, 5)), ("log", logarithmic, powers))
    body = "".join(f'<g class="{name}">{_y_axis(y, ticks)}{_bars(parts, x, y)}</g>' for name, y, ticks in scales)
    mark = _line(x(threshold), TOP - 8, x(threshold), base, "mark")
    side = "start" if x(threshold) < WIDTH / 2 else "end"
    mark += _text(x(threshold) + (4 if side == "start" else -4), TOP - 2, f"threshold {threshold:g}", "said", side)
    return _frame(title, body + _x_axis(x, _ticks(low, high), label) + mark)


def curve(
    title: str, found: Callable[[float], float], threshold: float, label: str,
    levels: Sequence[tuple[str, str, float, tuple[float, float] | None]],
) -> Markup:  # fmt: skip
    """Draw the probability of finding a pair by resemblance, and ``levels``: class, name, value, interval if there is one."""
    low = max(0.0, min(threshold - 0.4, 0.6))
    x, base = _linear(low, 1.0, LEFT, WIDTH - RIGHT), HEIGHT - BOTTOM
    y = _linear(0, 1, base, TOP)
    points = [low + (1.0 - low) * i / 80 for i in range(81)]
    path = " ".join(f"{x(p):.1f},{y(min(max(found(max(p, 1e-3)), 0), 1)):.1f}" for p in points)
    parts = [_y_axis(y, (0, 0.2, 0.4, 0.6, 0.8, 1)), _x_axis(x, _ticks(low, 1.0), label)]
    parts.append(_line(x(threshold), TOP - 8, x(threshold), base, "mark"))
    parts.append(f'<polyline points="{path}" class="curve"/>')
    for number, (kind, name, value, interval) in enumerate(levels):
        if interval is not None:
            top, bottom = y(interval[1]), y(interval[0])
            parts.append(_rect(x(threshold), top, x(1.0) - x(threshold), bottom - top, f"{kind} band"))
        parts.append(_line(x(threshold), y(value), x(1.0), y(value), f"{kind} level"))
        row = base - 10 - 15 * (len(levels) - 1 - number)
        parts.append(_line(x(1.0) - 172, row - 4, x(1.0) - 152, row - 4, f"{kind} level"))
        parts.append(_text(x(1.0) - 146, row, f"{name} {value:.4f}", "said", "start"))
    return _frame(title, "".join(parts))


def spark(title: str, counts: Sequence[int]) -> Markup:
    """Draw a small histogram without axes."""
    most, width = max([1, *counts]), 120 / max(1, len(counts))
    bars = "".join(_rect(i * width, 26 - 24 * n / most, width - 0.5, 24 * n / most, "near") for i, n in enumerate(counts) if n)
    return _frame(title, bars + '<line x1="0" y1="26.5" x2="120" y2="26.5" class="axis"/>', 120, 28)


def lengths(title: str, parts: Sequence[tuple[str, Sequence[int]]], names: Sequence[str], label: str) -> Markup:
    """Draw counts by class of length, the parts on top of each other."""
    totals = [sum(column) for column in zip(*(counts for _, counts in parts), strict=True)]
    most, base = max([5, *totals]), HEIGHT - BOTTOM
    y, step = _linear(0, most, base, TOP), (WIDTH - LEFT - RIGHT) / max(1, len(names))
    out = [_y_axis(y, _ticks(0, most, 5))]
    for i, name in enumerate(names):
        below = 0
        for kind, counts in parts:
            if counts[i]:
                top, bottom = y(below + counts[i]), y(below)
                said = f"{name}, {kind}: {counts[i]:,}"
                out.append(_rect(LEFT + i * step + 1, top, step - 2, bottom - top, kind, said))
                below += counts[i]
        if len(names) <= 14 or i % 2 == 0:
            out.append(_text(LEFT + (i + 0.5) * step, base + 14, name))
    out.append(_line(LEFT, base, WIDTH - RIGHT, base, "axis"))
    return _frame(title, "".join([*out, _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 4, label, "name")]))


def shares(title: str, values: Sequence[tuple[str, float]]) -> Markup:
    """Draw bars that lie, each with its name and its seconds."""
    most, height = max([1e-9, *(value for _, value in values)]), 22
    out = []
    for i, (name, value) in enumerate(values):
        y = i * height
        out.append(_text(180, y + 15, name, anchor="end"))
        out.append(_rect(188, y + 4, 270 * value / most, 14, "kept"))
        out.append(_text(196 + 270 * value / most, y + 15, f"{value:,.2f} s", "said", "start"))
    return _frame(title, "".join(out), WIDTH, height * len(values) + 4)
