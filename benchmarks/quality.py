"""Precision and recall on labeled real corpora; writes benchmarks/results/quality.jsonl and the table of docs/quality.md.

Usage: python benchmarks/quality.py [DATA]    (default: ../shared/data beside the repository)
"""

import json
import re
import sys
from collections import defaultdict
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from page import LABELED, written
from truth import exact_pairs, recall_on_sample

import lookalike as la

ROOT = Path(__file__).parents[1]
SAMPLE = 1500
HEAD = re.compile(r"\A---\n(.*?)\n---\n", re.DOTALL)


def rows_of(path: Path) -> list[dict]:
    """Read JSON lines or parquet."""
    if path.suffix == ".parquet":
        return pq.read_table(path).to_pylist()
    return [json.loads(line) for line in path.read_text().splitlines()]


def group_pairs(keys: list) -> set[tuple[int, int]]:
    """All pairs of rows with equal keys."""
    groups = defaultdict(list)
    for row, key in enumerate(keys):
        if key is not None:
            groups[key].append(row)
    return {pair for rows in groups.values() for pair in combinations(rows, 2)}


def listed_pairs(data: Path, name: str, rows: list[dict]) -> set[tuple[int, int]]:
    """True pairs from the file of labels beside a set."""
    place = {row["id"]: i for i, row in enumerate(rows)}
    for suffix in (".pairs.json", ".clusters.json"):
        labels = data / f"{name}{suffix}"
        if labels.exists():
            groups = json.loads(labels.read_text())
            found = {tuple(sorted((place[a], place[b]))) for g in groups for a, b in combinations(g, 2)
                     if a in place and b in place}  # fmt: skip
            return found
    truth = json.loads((data / name).read_text())
    return {tuple(sorted((place[a], place[b]))) for a, b in truth}


def licence_key(text: str) -> tuple[str | None, str]:
    """Split a licence into its label and its text without the head."""
    head = HEAD.match(text)
    if not head:
        return None, text
    label = re.search(r"^(?:license_expression|key): *(.+)$", head[1], re.MULTILINE)
    return (label[1].strip() if label else None), text[head.end() :]


def cases(data: Path):
    """Yield (name, texts, labeled pairs or None, settings, thresholds)."""
    for n in (1000, 2500):
        rows = rows_of(data / f"news_planted/articles_{n}.jsonl")
        labels = listed_pairs(data / "news_planted", f"truth_{n}.json", rows)
        yield f"news_planted/{n}", [r["text"] for r in rows], labels, {}, (0.5, 0.8, 0.9)
    for name in (
        "records/febrl1",
        "records/febrl3",
        "records/dblp_acm",
        "records/cora",
        "citations/stroke",
        "citations/digital_work",
    ):
        rows = rows_of(data / f"{name}.jsonl")
        labels = listed_pairs(data / name.partition("/")[0], name.partition("/")[2], rows)
        yield name, [r["text"] for r in rows], labels, {"unit": "char", "width": 3}, (0.4, 0.5, 0.6, 0.7)
    for name in ("policies", "webpages_html"):
        rows = rows_of(data / f"{name}.parquet")
        yield name, [r["text"] for r in rows], group_pairs([r["path"] for r in rows]), {}, (0.7, 0.8, 0.9)
    split = [licence_key(r["text"]) for r in rows_of(data / "licences.parquet")]
    labels = group_pairs([key for key, _ in split])
    yield "licences", [text for _, text in split], labels, {"width": 3}, (0.7, 0.8, 0.9)
    rows = rows_of(data / "poems_zh.parquet")
    yield "poems_zh", [r["text"] for r in rows], None, {"width": 3}, (0.5, 0.7, 0.9)


def main() -> None:
    """Run all sets and write the page."""
    data = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT.parent / "shared/data"
    if not data.is_dir():
        sys.exit(f"{data}: the corpora are not there; name their folder")
    rng = np.random.default_rng(1)
    lines = []
    for name, texts, labels, settings, thresholds in cases(data):
        shingles = la.shingle(texts, **settings)
        sample = rng.permutation(len(texts))[:SAMPLE]
        truth = exact_pairs(shingles, sample, min(thresholds))
        exact = {p: shingles.resemblance(*p) for p in truth}
        inside = set(sample.tolist())
        for threshold in thresholds:
            table = la.pairs(texts, threshold=threshold, **settings)
            found = set(zip(table["left_id"].to_pylist(), table["right_id"].to_pylist(), strict=True))
            above = {p for p, r in exact.items() if r >= threshold}
            sampled = {p for p in found if p[0] in inside or p[1] in inside}
            wrong = sampled - above
            if wrong:
                raise SystemExit(f"{name}: {len(wrong)} listed pairs are below {threshold}")
            true = None if labels is None else len(found & labels)
            line = {
                "corpus": name, "threshold": threshold, "documents": len(texts), "pairs": len(found),
                "recall_above": round(recall_on_sample(found, above), 4), "above": len(above), "wrong": len(wrong),
                "precision": round(true / len(found), 4) if true is not None and found else None,
                "recall": None if true is None else round(true / len(labels), 4),
            }  # fmt: skip
            print(line, flush=True)
            lines.append(json.dumps(line) + "\n")
    LABELED.write_text("".join(lines))
    for path, text in written().items():
        path.write_text(text)


if __name__ == "__main__":
    main()
