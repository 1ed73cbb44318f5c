"""What pages of measurements say alike: the machine, and tables; and pages that are made of raw figures.

Usage: python benchmarks/page.py   writes docs/benchmarks.md and the marked figures of docs/quality.md and README.md again, from raw figures
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks/results/end_to_end.jsonl"
LABELED = ROOT / "benchmarks/results/quality.jsonl"
SCRIPTS = ROOT / "benchmarks/results/scripts.jsonl"  # its section is on the page once it is there
WEB_PAGES = ROOT / "benchmarks/results/web_pages.md"
SHOWN = ("## Start-up",)  # sections that are on the page
PHASES = ("read", "compute", "write")
THRESHOLD = 0.8
BANDS = {  # bands and rows by each tool's own choice; how rensa's deduplicator chooses is not documented
    "lookalike": (16, 6), "rensa, rho": (16, 8), "gaoya": (16, 8), "FastSketchLSH": (16, 8), "datasketch": (9, 13),
    "text-dedup": (16, 15), "datatrove": (14, 8),
}  # fmt: skip
Record = dict[str, Any]


def processor() -> str:
    """Return the name of this machine's processor."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.split(":")[1].strip() for line in lines if "model name" in line), "?")


def table(names: list[str], rows: list[list[str]]) -> str:
    """Render a Markdown table."""
    return "\n".join("| " + " | ".join(row) + " |" for row in [names, ["---"] * len(names), *rows]) + "\n"


def to_flags(run: Record, which: int) -> float:
    """Seconds from the file to the flags; which: 0 of the processor, 1 of the clock."""
    return sum(run[phase][which] for phase in PHASES[:2] if phase in run)


def rate(record: Record) -> float:
    """Megabytes of text a second from the file to the flags, the median of the runs."""
    return record["mb"] / median(to_flags(run, 1) for run in record["runs"])


def times(record: Record, ours: Record) -> float:
    """How many times our processor time a tool takes: the median over the turns, each tool beside us in the same turn."""
    return median(to_flags(a, 0) / to_flags(b, 0) for a, b in zip(record["runs"], ours["runs"], strict=False))


def of_corpus(records: list[Record], corpus: str) -> dict[str, Record]:
    """Return the contestants of a corpus by name."""
    return {record["name"]: record for record in records if record.get("corpus") == corpus}


def label(record: Record) -> str:
    """Return the name of a contestant with its version."""
    name, _, way = record["name"].partition(", ")
    return f"{name} {record['version']}" + (f", {way}" if way else "")


def contestants(found: dict[str, Record]) -> str:
    """Render the contestants of a corpus."""
    ours, rows = found["lookalike"], []
    for name, r in found.items():
        if name == "floor":
            continue
        rows.append([
            label(r), f"{rate(r):.1f}", "" if r is ours else f"{times(r, ours):.1f}",
            f"{max(run['peak'] for run in r['runs']) / 1e6:,.0f}", f"{r['recall']:.4f}", f"{r['precision']:.4f}",
        ])  # fmt: skip
    return table(["tool", "MB/s", "x", "peak MB", "recall", "precision"], rows)


def chances() -> str:
    """Render the probability that a pair at the threshold is a candidate, by each tool's own choice of bands and rows."""
    met: dict[str, list[str]] = {}
    for name, (bands, width) in BANDS.items():
        met.setdefault(f"{1 - (1 - THRESHOLD**width) ** bands:.3f}", []).append(name.replace("rensa, rho", "rensa's rho"))
    return table(["tool", "P(candidate)"], [[", ".join(names), chance] for chance, names in met.items()])


def end_to_end(records: list[Record]) -> str:
    """Render the tables of contestants, and all that is said about them."""
    found = {name: of_corpus(records, name) for name in ("whole", "part", "short", "edited", "drawn")}
    about = {
        name: f"{ours['documents']:,} documents, {ours['mb']:.0f} MB"
        for name, rows in found.items()
        for ours in [rows["lookalike"]]
    }
    return TEMPLATE.format(
        machine=records[0]["machine"], chances=chances(), **{name: contestants(rows) for name, rows in found.items()},
        **{f"about_{name}": text for name, text in about.items()},
    )  # fmt: skip


def scripts(records: list[Record]) -> str:
    """Render the tables of other scripts: each tool beside us, and shingles alone."""
    beside, alone = [], []
    for name in dict.fromkeys(r["corpus"] for r in records[1:]):
        found = {tool.partition(",")[0]: record for tool, record in of_corpus(records, name).items()}
        ours, others = found["lookalike"], [found["gaoya"], found["rensa"]]
        shares = [f"{r[share]:.4f}" for share in ("recall", "precision") for r in (ours, *others)]
        size = [f"{ours['documents']:,}", f"{ours['mb']:.0f}", f"{rate(ours):.0f}"]
        beside.append([name, *size, *(f"{times(r, ours):.1f}" for r in others), *shares])
        alone.append([name, *(f"{value:.0f}" for value in ours["shingling"].values())])
    heads = [f"{share}, {tool}" for share in ("recall", "precision") for tool in ("lookalike", "gaoya", "rensa")]
    return SECTION.format(machine=records[0]["machine"], alone=table(["MB/s", "words", "words, under a key", "characters"], alone),
                          beside=table(["", "documents", "MB", "MB/s", "gaoya, x", "rensa, x", *heads], beside))  # fmt: skip


def readme(records: list[Record]) -> dict[str, str]:
    """Return what the README says, by the mark that it has there."""
    corpora = {
        "policies": "whole", "policies, first part": "part", "licences with edits": "edited", "generated": "drawn", "short licences": "short",
    }  # fmt: skip
    found = {title: of_corpus(records, name) for title, name in corpora.items()}
    ways = {"lookalike": "**lookalike**", "lookalike, estimates": "lookalike, `--set verify=sketch`"}
    rows = []
    for name in (*ways, "gaoya", "rensa", "datasketch", "text-dedup", "datatrove"):
        met = {title: (tools[name], tools["lookalike"]) for title, tools in found.items() if name in tools}
        one = next(iter(met.values()))[0]
        said = (f"{rate(a):.0f} MB/s" if a is b else f"{times(a, b):.1f} x" for a, b in met.values())
        cells = dict(zip(met, said, strict=True))
        worst = (f"{max(1 - a[share] for a, _ in met.values()):.1%}" for share in ("recall", "precision"))
        rows.append([ways.get(name, label(one)), *(cells.get(title, "") for title in corpora), *worst])
    heads = (f"{title}, {tools['lookalike']['mb']:.0f} MB" for title, tools in found.items())
    return {"contestants": table(["", *heads, "missed, at most", "wrong, at most"], rows)}


def filled(text: str, regions: dict[str, str]) -> str:
    """Put text between ``<!-- NAME -->`` and ``<!-- /NAME -->``; a region of a table is on lines of its own."""
    for name, new in regions.items():
        space = "\n" if "\n" in new else ""
        text, n = re.subn(
            rf"(<!-- {name} -->).*?(<!-- /{name} -->)",
            lambda m, new=new, space=space: m[1] + space + new + m[2],
            text,
            flags=re.S,
        )
        if n != 1:
            raise ValueError(f"the text has {n} regions {name}, not one")
    return text


def labeled(records: list[Record]) -> dict[str, str]:
    """Return the table of labeled corpora, by the mark that it has on its page: the lowest and the highest threshold of each."""
    rows = []
    for name in dict.fromkeys(r["corpus"] for r in records):
        met = [r for r in records if r["corpus"] == name]
        shares = (", ".join("" if r[key] is None else f"{r[key]:.4f}" for r in (met[0], met[-1])).strip(", ")
                  for key in ("recall_above", "precision", "recall"))  # fmt: skip
        rows.append([name, f"{met[0]['documents']:,}", f"{met[0]['threshold']}, {met[-1]['threshold']}", *shares])
    heads = ["corpus", "documents", "thresholds", "recall above the threshold", "precision, labels", "recall, labels"]
    return {"labeled": table(heads, rows)}


def of_file(path: Path) -> list[Record]:
    """Return the records of a file of results."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def written() -> dict[Path, str]:
    """Return the pages that the raw figures make, by path."""
    records = of_file(RESULTS)
    parts = [part.strip() + "\n" for part in re.split(r"^(?=## )", records[-1]["sections"], flags=re.MULTILINE) if part]
    shown = [part for part in parts if part.startswith(SHOWN)]
    others = [scripts(of_file(SCRIPTS))] if SCRIPTS.exists() else []
    others += [WEB_PAGES.read_text()] if WEB_PAGES.exists() else []
    first, quality = ROOT / "README.md", ROOT / "docs/quality.md"
    return {
        ROOT / "docs/benchmarks.md": "\n".join([end_to_end(records), *others, *shown]),
        RESULTS.with_name("parts.md"): "\n".join(
            ["# Parts of lookalike beside others\n", *(p for p in parts if p not in shown)]
        ),
        first: filled(first.read_text(), readme(records)),
        quality: filled(quality.read_text(), labeled(of_file(LABELED))),
    }


TEMPLATE = """# Benchmarks

Written by `make bench` on {machine}. One of the tools is ours.
`benchmarks/results/end_to_end.jsonl` has the figures of each run, also for reading, writing and stages; `benchmarks/results/parts.md` compares
sketches, packed signatures and candidates alone, and shows how time grows.

- Five-word shingles, threshold 0.8; one thread and one process per tool, in turns on the same Parquet file; medians of three runs (datasketch and
  datatrove: one).
- *MB/s* is wall time from the file to duplicate flags; *x* is the ratio of processor time for the same to lookalike's in the same turn.
- *Recall* and *precision* of removals are measured on 1,500 random documents, against exact resemblances with all others. A removal is right if
  the tool kept a document that resembles the removed one; a duplicate is missed if the tool kept it although it had kept such a document before.
  For rensa's rho, which flags all members of a set, they are those of flags.
- text-dedup is `python -m text_dedup.minhash` with its defaults, apart from the threshold and one process; datatrove is its example's
  pipeline. Both keep one document of all connected by shared bands; datatrove reads all numbers as one word.
- [The yardstick](how-to/yardstick.md) compares these tools, or yours, on your machine and your corpus.
- Not included: duplodocus (not on a package index), fast-dedup 0.1.0 (no job for a corpus), semhash 0.5.0 (compares meanings),
  text-dedup 0.4.1 (needs Python 3.12).

A pair exactly at the threshold is a candidate with this probability, by each tool's choice of bands (rensa's own is not documented):

{chances}
## Policies ({about_whole})

{whole}
## Policies, first part ({about_part})

{part}
## Short licences ({about_short})

Texts shorter than 6,000 characters.

{short}
## Licences with edits ({about_edited})

Each licence four times, with one word in 20, 60 or 300 changed.

{edited}
## Generated documents ({about_drawn})

Words by Zipf's law; a third are near-duplicates of earlier ones, of five kinds, with resemblances of about 0.4 to 0.98.

{drawn}"""
SECTION = """## Other scripts

Measured on {machine}, as above. Generated texts: words of syllables of the script by Zipf's law, with the punctuation, numbers and spaces (Chinese,
Japanese and Thai: none) of the language; a third are near-duplicates of earlier ones, and all of them count for recall and precision.
Resemblance is that of tokens made in Python. The poems are real, of classical Chinese.
rensa is given the same tokens; gaoya makes its own, words at ASCII punctuation and spaces, or characters where there are no spaces.

{beside}
Shingles alone, megabytes of text a second of one processor:

{alone}"""

if __name__ == "__main__":
    for path, text in written().items():
        path.write_text(text)
