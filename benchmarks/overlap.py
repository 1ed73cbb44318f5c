"""What ``overlap`` misses and what it finds by chance; prints the tables of docs/how-to/two-corpora.md.

Usage: python benchmarks/overlap.py [DATA]    (default: ../shared/data beside the repository)
"""

import json
import random
import re
import sys
from pathlib import Path

import lookalike as la

ROOT = Path(__file__).parents[1]
RULES = ({"threshold": 0.8}, {"threshold": 0.5}, {"width": 13, "passage": 1})
SIZE = 1000


def copies(texts: list[str], words: int, replaced: int, rng: random.Random) -> tuple[list[str], list[str]]:
    """Return passages of some words, and pages that hold them with some words replaced."""
    passages, pages = [], []
    for text in texts:
        page = text.split()
        if len(page) < words + 40 or len(pages) == SIZE:
            continue
        begin = rng.randrange(len(page) - words)
        passages.append(" ".join(page[begin : begin + words]))
        for place in rng.sample(range(words), replaced):
            page[begin + place] = "replaced"
        pages.append(" ".join(page))
    return passages, pages


def beginnings(texts: list[str], words: int, rng: random.Random) -> list[str]:
    """Return the distinct first words of some sentences."""
    sentences = (sentence.split() for text in texts for sentence in re.split(r"(?<=[.!?])\s+", text))
    long = [" ".join(sentence[:words]) for sentence in sentences if len(sentence) >= words]
    return sorted(set(rng.sample(long, 2 * SIZE)))


def main() -> None:
    """Print both tables."""
    data = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT.parent / "shared/data"
    rng = random.Random(1)
    news = [json.loads(line)["text"] for line in (data / "news_planted/articles_2500.jsonl").read_text().splitlines()]
    for words, replaced in ((10, 0), (10, 1), (20, 0), (20, 1), (20, 2), (40, 1), (40, 2), (80, 2)):
        passages, pages = copies(news, words, replaced, rng)
        row = []
        for rule in RULES:
            found = la.overlap(pages, against=passages, **rule).matches
            own = sum(a == b for a, b in zip(found["id"].to_pylist(), found["reference"].to_pylist(), strict=True))
            row.append(f"{100 * own / len(pages):.0f} %")
        print(f"| {words} | {replaced} | {' | '.join(row)} |", flush=True)
    print()
    for words in (5, 6, 7, 8, 10, 13, 20):
        references = beginnings(news, words, rng)
        row = []
        for rule in RULES:
            matched = (
                la.overlap(data / "policies.parquet", against=references, **rule).matches["reference"].unique().to_pylist()
            )
            row.append(f"{len(matched):,} of {len(references):,}")
            print(rule, [references[i] for i in sorted(matched)[:3]], file=sys.stderr)
        print(f"| {words} | {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
