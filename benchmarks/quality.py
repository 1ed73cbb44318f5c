"""Precision and recall on labeled real corpora; writes docs/quality.md.

Usage: python benchmarks/quality.py [DATA]    (default: ../shared/data beside the repository)
"""

import json
import re
import sys
import time
from collections import defaultdict
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
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
    """Yield (name, texts, same: pair -> bool or None, labeled pairs or None, settings, thresholds, note)."""
    for n in (1000, 2500):
        rows = rows_of(data / f"news_planted/articles_{n}.jsonl")
        labels = listed_pairs(data / "news_planted", f"truth_{n}.json", rows)
        yield f"news_planted/{n}", [r["text"] for r in rows], labels, {}, (0.5, 0.8, 0.9), "planted near-copies"
    for name in ("febrl1", "febrl3", "dblp_acm", "cora"):
        rows = rows_of(data / f"records/{name}.jsonl")
        labels = listed_pairs(data / "records", name, rows)
        yield f"records/{name}", [r["text"] for r in rows], labels, {"unit": "char", "width": 3}, (0.4, 0.5, 0.6, 0.7), (
            "true pairs of short records")  # fmt: skip
    for name in ("stroke", "digital_work"):
        rows = rows_of(data / f"citations/{name}.jsonl")
        labels = listed_pairs(data / "citations", name, rows)
        yield f"citations/{name}", [r["text"] for r in rows], labels, {"unit": "char", "width": 3}, (0.4, 0.5, 0.6, 0.7), (
            "clusters of bibliographic records")  # fmt: skip
    for name in ("policies", "webpages_html"):
        rows = rows_of(data / f"{name}.parquet")
        yield name, [r["text"] for r in rows], group_pairs([r["path"] for r in rows]), {}, (0.7, 0.8, 0.9), (
            "label: versions of the same page, however far apart")  # fmt: skip
    split = [licence_key(r["text"]) for r in rows_of(data / "licences.parquet")]
    labels = group_pairs([key for key, _ in split])
    yield "licences", [text for _, text in split], labels, {"width": 3}, (0.7, 0.8, 0.9), (
        "label: same licence expression, a coarse one (rules of one licence share no wording)")  # fmt: skip
    rows = rows_of(data / "poems_zh.parquet")
    yield (
        "poems_zh",
        [r["text"] for r in rows],
        None,
        {"width": 3},
        (0.5, 0.7, 0.9),
        "no labels; Chinese, one word a character",
    )


def main() -> None:
    """Run all sets and write the page."""
    data = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT.parent / "shared/data"
    if not data.is_dir():
        sys.exit(f"{data}: the corpora are not there; name their folder")
    rng = np.random.default_rng(1)
    lines = []
    for name, texts, labels, settings, thresholds, note in cases(data):
        la.pairs(texts[:50], **settings)
        shingles = la.shingle(texts, **settings)
        sample = rng.permutation(len(texts))[:SAMPLE]
        truth = exact_pairs(shingles, sample, min(thresholds))
        exact = {p: shingles.resemblance(*p) for p in truth}
        inside = set(sample.tolist())
        for threshold in thresholds:
            start = time.perf_counter()
            table = la.pairs(texts, threshold=threshold, **settings)
            seconds = time.perf_counter() - start
            found = set(zip(table["left_id"].to_pylist(), table["right_id"].to_pylist(), strict=True))
            above = {p for p, r in exact.items() if r >= threshold}
            sampled = {p for p in found if p[0] in inside or p[1] in inside}
            recall = recall_on_sample(found, above)
            wrong = len(sampled - above)
            cells = [name, threshold, f"{len(texts):,}", f"{len(found):,}", f"{recall:.4f} of {len(above):,}", wrong]
            if labels is None:
                cells += ["", ""]
            else:
                true = len(found & labels)
                cells += [f"{true / len(found):.4f}" if found else "", f"{true / len(labels):.4f}"]
            cells.append(f"{seconds:.2f}")
            print(" | ".join(map(str, cells)), flush=True)
            lines.append("| " + " | ".join(map(str, cells)) + " |")
        lines[-len(thresholds)] += f" {note} |"
        for i in range(1, len(thresholds)):
            lines[-i] += " |"
    page = TEMPLATE.format(version=la.__version__, sample=SAMPLE, table="\n".join(lines))
    path = ROOT / "docs/quality.md"
    _, heading, section = path.read_text().partition("\n## Boilerplate at scale\n")  # what follows is made by others
    path.write_text(page + heading + section)


TEMPLATE = """# Quality on labeled corpora

Written by `make quality` with lookalike {version}; recall 0.99 asked for, all else at its default except the unit.

Two questions are kept apart:

- **Does the search find what it promises?** *Recall of the pairs above the threshold* is measured against brute force:
  the exact resemblances of {sample} documents drawn at random (all, where there are fewer) with all others. *Wrong* counts
  listed pairs that are not at or above the threshold; it must be 0, since every pair is verified.
- **Is resemblance what the labels mean?** *Precision* and *recall against the labels* treat the labels as truth. They
  depend on the data and the threshold more than on any search: an exhaustive comparison would score the same within the
  recall of the column before.

| corpus | threshold | documents | pairs found | recall of the pairs above the threshold | wrong | precision, labels | recall, labels | seconds | note |
|---|---|---|---|---|---|---|---|---|---|
{table}

Records (`febrl`, `dblp_acm`, `cora`) and citations are compared by shingles of 3 characters, licences and poems by shingles
of 3 words, all others by the default of 5 words.
"""

if __name__ == "__main__":
    main()
