"""What ``decontaminate`` finds of items that are planted in documents, changed or not, and what it finds by chance; prints tables,
some rows of which are in docs/how-to/decontamination.md.

Usage: python benchmarks/decontamination.py [DATA]    (default: ../shared/data beside the repository)
"""

import json
import random
import re
import sys
from pathlib import Path

import pyarrow.parquet as pq

import lookalike as la

ROOT = Path(__file__).parents[1]
RULES = {
    "default": {}, "`-t 0.5`": {"threshold": 0.5}, "`--measure ngram:8`": {"measure": "ngram:8"},
    "`--measure ngram:13`": {"measure": "ngram:13"}, "`--width 8 -t 0.7`": {"width": 8, "threshold": 0.7},
}  # fmt: skip
SIZE, PAGES, COPIES = 200, 1500, 40
FIELDS = ["question", "choices", "answer"]


class Sentences:
    """Sentences of articles, in any order, each given out once, whole or its beginning."""

    def __init__(self, texts: list[str], rng: random.Random) -> None:
        found = dict.fromkeys(one for text in texts for one in re.split(r"(?<=[.!?])\s+", text))
        self.left, self.rng = rng.sample(list(found), len(found)), rng

    def take(self, least: int, most: int, pattern: str = "") -> str:
        """Return one of some words that a pattern matches."""
        for place, sentence in enumerate(self.left):
            wanted = self.rng.randint(least, most)
            kept = " ".join(sentence.split()[:wanted])
            if len(re.findall(r"[^\W_]+", kept)) == wanted and re.search(pattern, kept):
                del self.left[place]
                return kept
        raise LookupError(f"no sentence of {least} to {most} words is left")


def replaced(text: str, rng: random.Random) -> str:
    """Replace a word in the middle half."""
    words = text.split()
    words[rng.randrange(len(words) // 4, 3 * len(words) // 4)] = "otherwise"
    return " ".join(words)


def planted(pool: Sentences, rng: random.Random) -> list[tuple[str, dict[str, object], list[str]]]:
    """Return (kind, item, pieces to put into a page, apart from each other)."""
    found: list[tuple[str, dict[str, object], list[str]]] = []

    def add(kind: str, question: str, *pieces: str, **more: object) -> None:
        found.append((kind, dict.fromkeys(FIELDS) | {"question": question} | more, list(pieces)))

    for _ in range(SIZE):
        for least, most in ((3, 3), (4, 4), (5, 7), (8, 12), (15, 30)):
            text = pool.take(least, most)
            add(f"as it is, {least}{f' to {most}' if most > least else ''} words", text, text)
        text, answer = pool.take(8, 12), pool.take(2, 4)
        add("question (8 to 12 words) and answer apart", text, text, answer, answer=answer)
        text, choices = pool.take(8, 12), [pool.take(2, 4) for _ in range(4)]
        add("choices in another order", text, text + " " + ", ".join(rng.sample(choices, 4)), choices=choices)
        for least, most in ((8, 12), (15, 30)):
            text = pool.take(least, most)
            add(f"one word replaced, {least} to {most} words", text, replaced(text, rng))
        text = pool.take(15, 30)
        add("case and punctuation changed", text, re.sub(r"[^\w\s']", ";", text.upper()))
        text = pool.take(15, 30)
        add("line breaks and blanks in it", text, text.replace(" ", "\n", 3).replace(" ", "  "))
    for least, most, size in ((4, 4, SIZE // 4), (15, 30, SIZE)):
        for _ in range(size):
            text = pool.take(least, most, r"\d")
            changed = re.sub(r"\d", lambda m: str((int(m[0]) + 3) % 10), text)
            add(f"numbers changed, {least}{f' to {most}' if most > least else ''} words", text, changed)
    return found


def plant(pages: list[str], plants: list[tuple[str, dict[str, object], list[str]]], rng: random.Random) -> list[str]:
    """Return pages with all pieces in them, each between two words of a page."""
    words = [re.split("( )", page) for page in pages]
    places: list[dict[int, list[str]]] = [{} for _ in pages]
    for _, _, pieces in plants:
        at = rng.randrange(len(pages))
        for piece in pieces:
            places[at].setdefault(rng.randrange(0, len(words[at]), 2), []).append(piece)
    for page, some in zip(words, places, strict=True):
        for place, pieces in some.items():
            page[place] = " ".join([*pieces, page[place]])
    return ["".join(page) for page in words]


def grams(text: str) -> set[tuple[str, ...]]:
    """Return what a plain script compares: 13 words in a row, in lower case, without punctuation."""
    words = re.sub(r"[^\w\s]", "", text.lower()).split()
    return {tuple(words[i : i + 13]) for i in range(len(words) - 12)}


def found_by_script(pages: list[str], items: list[dict[str, object]]) -> set[int]:
    """Return the items of which a page has 13 words in a row."""
    owners: dict[tuple[str, ...], list[int]] = {}
    for number, item in enumerate(items):
        for gram in grams(str(item["question"])):
            owners.setdefault(gram, []).append(number)
    return {number for page in pages for gram in grams(page) & owners.keys() for number in owners[gram]}


def recall(pages: list[str], news: list[str], rng: random.Random) -> None:
    """Print how many planted items are found, and how many that are not there."""
    pool = Sentences(news, rng)
    plants = planted(pool, rng)
    texts = plant(pages, plants, rng)
    for text in [pool.take(12, 14) for _ in range(SIZE)]:
        for at in rng.sample(range(len(texts)), COPIES):
            texts[at] += f"\n{text}"
        plants.append((f"as it is, 12 to 14 words, in {COPIES} documents", dict.fromkeys(FIELDS) | {"question": text}, []))
    absent = [dict.fromkeys(FIELDS) | {"question": pool.take(5, 30)} for _ in range(10 * SIZE)]
    items = [item for _, item, _ in plants] + absent
    rows = {}
    for name, rule in RULES.items():
        result = la.decontaminate([{"text": text} for text in texts], against=items, against_text=FIELDS, **rule)
        found = {}
        for match in result.matches.to_pylist():
            whole = all(match[f"{field}_found"] in (1.0, None) for field in FIELDS[1:])
            found[match["reference"]] = found.get(match["reference"], False) or whole
        rows[name] = {number for number, whole in found.items() if whole}
        print(name, result.summary, file=sys.stderr)
    rows["13-gram script"] = found_by_script(texts, items)
    print(f"| planted | {' | '.join(rows)} |\n|---|{'---|' * len(rows)}")
    kinds: dict[str, list[int]] = {}
    for number, (kind, *_) in enumerate(plants):
        kinds.setdefault(kind, []).append(number)
    for kind, numbers in kinds.items():
        print(f"| {kind} | {' | '.join(f'{sum(n in one for n in numbers) / len(numbers):.0%}' for one in rows.values())} |")
    wrong = [sum(n >= len(plants) for n in one) for one in rows.values()]
    print(f"| not planted, 5 to 30 words | {' | '.join(f'{n} of {len(absent):,}' for n in wrong)} |\n")


def chance(data: Path, news: list[str], rng: random.Random) -> None:
    """Print how many beginnings of sentences of unrelated articles are found, if common phrases count and if they do not."""
    rules = {"all count": {"common": 1 << 40}, "default": {}, "`-t 0.5`, all count": {"common": 1 << 40, "threshold": 0.5},
             "`-t 0.5`": {"threshold": 0.5}}  # fmt: skip
    print(f"| words | items | {' | '.join(rules)} |\n|---|---|{'---|' * len(rules)}")
    for words in (1, 2, 3, 4, 5, 6, 7, 8, 10, 13, 20):
        pool, row = Sentences(news, rng), []
        items = list({pool.take(words, words).lower(): None for _ in range(2000)})
        for rule in rules.values():
            told = la.decontaminate(data / "policies.parquet", against=items, min_tokens=1, **rule).summary
            row.append(f"{told['contaminated_references']:,}")
            if rule == {}:
                row[-1] += f" ({told['common_references']:,} common)"
        print(f"| {words} | {len(items):,} | {' | '.join(row)} |", flush=True)


def main() -> None:
    """Print both tables."""
    data = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT.parent / "shared/data"
    rng = random.Random(1)
    news = [json.loads(line)["text"] for line in (data / "news_planted/articles_2500.jsonl").read_text().splitlines()]
    pages = rng.sample(pq.read_table(data / "policies.parquet", columns=["text"])["text"].to_pylist(), PAGES)
    recall(pages, news, rng)
    chance(data, news, rng)


if __name__ == "__main__":
    main()
