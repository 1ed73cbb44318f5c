"""Draw the steps of a job and the tables between them as docs/images/steps.svg; all names and sentences come from the code.

Run this after a change of a recipe; a test compares the picture with the code.
"""

import textwrap
from html import escape
from pathlib import Path

from follow_steps import Box, boxes_of

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs/images/steps.svg"
COLOURS = ("#3b78c3", "#c2571a", "#2c8a57", "#9a4fb5", "#b3871b", "#c13b62", "#2a8c9c", "#7d7a35")

# The picture: a row for each box, and to its right a line down for each table, from the first row that has to do with it to the last

WIDTH, ROW, HEAD, TOP = 900, 34, 34, 64
BOX, BOX_WIDTH, NAMES, FIRST_LINE = 318, 104, 430, 512
STYLE = """
  .ground { fill: #ffffff; stroke: #d5d9e0 }  .lane { fill: #f3f5f8 }  .box { fill: #ffffff; stroke: #4a5568 }
  text { font-family: ui-sans-serif, system-ui, "Segoe UI", "DejaVu Sans", sans-serif; fill: #1f2937; font-size: 11px }
  .name { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-weight: 600; font-size: 12px; text-anchor: middle }
  .by, .key { fill: #5b6675; font-size: 9.5px }  .by { text-anchor: middle }  .title { font-weight: 700; font-size: 13px }
  .table { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: 11px }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #171a21; stroke: #3a4150 }  .lane { fill: #1f242e }  .box { fill: #2a303c; stroke: #a3adbd }
    text { fill: #e5e9f0 }  .by, .key { fill: #a9b3c2 }
  }"""


def columns_of(boxes: list[Box]) -> dict[str, tuple[int, int, int]]:
    """Return for each table (its column, its first row, its last row); tables in one column have no row in common."""
    rows: dict[str, list[int]] = {}
    for number, box in enumerate(boxes):
        for name in (*box.gives, *box.reads):
            rows.setdefault(name, []).append(number)
    ends: list[int] = []
    found = {}
    for name, at in sorted(rows.items(), key=lambda item: (min(item[1]), -max(item[1]))):
        free = [column for column, end in enumerate(ends) if end < min(at)]
        column = free[0] if free else len(ends)
        ends[column : column + 1] = [max(at)]
        found[name] = column, min(at), max(at)
    return found


def draw(boxes: list[Box]) -> str:
    """Return the picture."""
    columns = columns_of(boxes)
    lanes = list(dict.fromkeys(box.lane for box in boxes))
    at = {id(box): TOP + HEAD * (1 + lanes.index(box.lane)) + ROW * number + ROW // 2 for number, box in enumerate(boxes)}
    middle = [at[id(box)] for box in boxes]
    step = (WIDTH - 30 - FIRST_LINE) / max(1, max(column for column, _, _ in columns.values()))
    height = middle[-1] + ROW
    line_at = {name: round(FIRST_LINE + column * step, 1) for name, (column, _, _) in columns.items()}
    colour = {name: COLOURS[number % len(COLOURS)] for number, name in enumerate(columns)}
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img">',
           "<title>The steps of a job and the tables between them</title>", f"<style>{STYLE}\n</style>",
           f'<rect class="ground" x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="6"/>',
           '<text class="key" x="16" y="24">A row for each step. An arrow into a box is a table that the step reads, a line out of it, '
           "with a name, the table that it gives; the</text>",
           '<text class="key" x="16" y="38">same table has the same line from top to bottom, and dots where it is joined. In a box: '
           "what rows have in common that come together. Dashed:</text>",
           '<text class="key" x="16" y="52">done by the engine itself.</text>']  # fmt: skip
    for lane in lanes:
        own = [at[id(box)] for box in boxes if box.lane == lane]
        top = own[0] - ROW // 2 - HEAD + 8
        out.append(f'<rect class="lane" x="8" y="{top}" width="{WIDTH - 16}" height="{own[-1] + ROW // 2 - top + 2}" rx="4"/>')
        out.append(f'<text class="title" x="16" y="{top + 17}">{lane}</text>')
    for name, (_, first, last) in columns.items():
        ends = [middle[row] + (6 if name in boxes[row].gives else -6) for row in (first, last)]
        if first < last:
            path = f"M{line_at[name]} {ends[0]}V{ends[1]}"
            out.append(f'<path d="{path}" stroke="{colour[name]}" stroke-width="1.8" fill="none"/>')
    given = {name for box in boxes for name in box.gives}
    for name in columns.keys() - given:  # the input
        x, y = line_at[name], middle[columns[name][1]] - 6
        out.append(f'<text class="table" x="{x + 8}" y="{y + 4}" style="fill:{colour[name]}">{name}</text>')
    for box in boxes:
        out += drawn(box, at[id(box)], line_at, colour, columns)
    return "\n".join([*out, "</svg>", ""])


def drawn(
    box: Box, y: int, line_at: dict[str, float], colour: dict[str, str], columns: dict[str, tuple[int, int, int]]
) -> list[str]:
    """Return the box, what it says, and its lines to and from tables."""
    out = []
    right = BOX + BOX_WIDTH
    for name in sorted(box.reads, key=lambda name: -line_at[name]):  # the farthest first: nearer ones are drawn over its line
        x, paint = line_at[name], colour[name]
        out.append(f'<path d="M{x} {y - 6}H{right + 7}" stroke="{paint}" stroke-width="1.3" fill="none"/>')
        out.append(f'<circle cx="{x}" cy="{y - 6}" r="3" fill="{paint}"/>')
    if box.reads:
        nearest = min(box.reads, key=lambda name: line_at[name])
        out.append(f'<path d="M{right + 1} {y - 6}l8 -4v8z" fill="{colour[nearest]}"/>')
    for name in box.gives:
        x, paint = line_at[name], colour[name]
        alone = columns[name][1] == columns[name][2]
        width = 6.7 * len(name)
        out.append(f'<path d="M{right} {y + 6}h6" stroke="{paint}" stroke-width="1.8"/>')
        out.append(f'<text class="table" x="{NAMES}" y="{y + 10}" style="fill:{paint}">{name}</text>')
        if not alone:
            out.append(f'<path d="M{NAMES + width + 3:.1f} {y + 6}H{x}" stroke="{paint}" stroke-width="1.8" fill="none"/>')
            out.append(f'<circle cx="{x}" cy="{y + 6}" r="3" fill="{paint}"/>')
    dashed = ' stroke-dasharray="4 3"' if box.engine else ""
    out.append(f'<rect class="box" x="{BOX}" y="{y - 14}" width="{BOX_WIDTH}" height="28" rx="5"{dashed}/>')
    by = ", ".join(sorted(box.by))
    label = box.name.partition(":")[0]
    out.append(f'<text class="name" x="{BOX + BOX_WIDTH / 2}" y="{y - 1 if by else y + 4}">{label}</text>')
    if by:
        out.append(
            f'<text class="by" x="{BOX + BOX_WIDTH / 2}" y="{y + 10}">{by if by.startswith("all") else "equal " + by}</text>'
        )
    lines = textwrap.wrap(box.says, 49)
    lines = lines if len(lines) < 3 else [lines[0], lines[1] + " …"]
    for number, line in enumerate(lines):
        out.append(f'<text x="16" y="{y + 4 - 6 * (len(lines) - 1) + 13 * number}">{escape(line)}</text>')
    return out


if __name__ == "__main__":
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(draw(boxes_of(ROOT / "src/lookalike")))
