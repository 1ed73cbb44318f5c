"""Deduplicate a crawl every week: each job writes only pages that no earlier week had.

>>> main()
week 0: 10 pages, 10 of them new
week 1: 10 pages, 5 of them new
week 2: 10 pages, 5 of them new
"""

import json
import random
import tempfile
from pathlib import Path

import lookalike as la

WORDS = ["river", "mill", "town", "hill", "sea", "barge", "lock", "weir", "bridge", "ferry", "tide", "heron"]


def crawl(week: int, folder: Path) -> Path:
    """Write the pages of a week: half of them were in the week before, printed in that week."""
    path = folder / f"week{week}.jsonl"
    with path.open("w") as file:
        for page in range(5 * week, 5 * week + 10):
            story = " ".join(random.Random(page).choices(WORDS, k=120))
            row = {"url": f"https://example.org/{page}?{week}", "text": f"{story} printed in week {week}"}
            file.write(json.dumps(row) + "\n")
    return path


def main() -> None:
    """Run three weekly jobs with one history."""
    with tempfile.TemporaryDirectory() as name:
        for week in range(3):
            fresh = Path(name, f"fresh{week}.jsonl")
            la.dedup(crawl(week, Path(name)), id="url", history=Path(name, "history"), output=fresh)
            print(f"week {week}: 10 pages, {len(fresh.read_text().splitlines())} of them new")


if __name__ == "__main__":
    main()
