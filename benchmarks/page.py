"""What pages of measurements say alike: the machine, and tables; and the page of ``end_to_end.py``, made of its raw figures.

Usage: python benchmarks/page.py   writes docs/benchmarks.md and the marked figures of README.md again, from raw figures
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks/results/end_to_end.jsonl"
PHASES = ("read", "compute", "write")
ONE_PASS = 1000.0  # MB a second of a core, which no loop over all bytes that does anything can beat by much
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
    """Render the contestants of a corpus, and what share of our time nothing can save."""
    ours, rows = found["lookalike"], []
    for name, r in found.items():
        if name == "floor":
            continue
        bands, width = BANDS.get(name) or BANDS.get(name.partition(",")[0] if name.startswith("lookalike") else "", (0, 0))
        spent = [median(run[phase][0] for run in r["runs"]) if phase in r["runs"][0] else None for phase in PHASES]
        most = [max(run[key] for run in r["runs"]) / 1e6 for key in ("peak", "increase")]
        rows.append([
            label(r), f"{rate(r):.1f}", *("" if x is None else f"{x:.2f}" for x in spent),
            "" if r is ours else f"{times(r, ours):.1f}", *(f"{x:,.0f}" for x in most), f"{r['recall']:.4f}", f"{r['precision']:.4f}",
            f"{1 - (1 - THRESHOLD**width) ** bands:.3f}" if bands else "not known", f"{r['kept']:,}",
        ])  # fmt: skip
    names = ["tool", "MB/s", "reading, CPU s", "computing, CPU s", "writing, CPU s", "CPU time, times lookalike's", "peak memory, MB",
             "increase over idle, MB", "recall", "precision", "P(candidate at the threshold)", "kept"]  # fmt: skip
    decoding, passing = median(run["read"][0] for run in found["floor"]["runs"]), ours["mb"] / ONE_PASS
    spent = median(to_flags(run, 0) for run in ours["runs"])
    return table(names, rows) + (
        f"\nFloor: {decoding:.2f} s to decode the file and {passing:.2f} s for one pass at 1 GB/s, which is "
        f"{(decoding + passing) / spent:.0%} of the {spent:.2f} s that lookalike takes.\n"
    )


def end_to_end(records: list[Record]) -> str:
    """Render the tables of contestants, and all that is said about them."""
    found = {name: of_corpus(records, name) for name in ("whole", "part", "short", "edited", "drawn")}
    about = {
        name: f"{ours['documents']:,} documents, {ours['mb']:.0f} MB"
        for name, rows in found.items()
        for ours in [rows["lookalike"]]
    }
    stages = found["whole"]["lookalike"]["runs"][0]["stages"]
    return TEMPLATE.format(
        machine=records[0]["machine"], stages=table(["stage", "seconds"], [[name, f"{x:.2f}"] for name, x in stages.items()]),
        **{name: contestants(rows) for name, rows in found.items()}, **{f"about_{name}": text for name, text in about.items()},
    )  # fmt: skip


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


def written() -> dict[Path, str]:
    """Return the pages that the raw figures make, by path."""
    records = [json.loads(line) for line in RESULTS.read_text().splitlines()]
    first = ROOT / "README.md"
    return {
        ROOT / "docs/benchmarks.md": (end_to_end(records) + "\n" + records[-1]["sections"]).rstrip() + "\n",
        first: filled(first.read_text(), readme(records)),
    }


TEMPLATE = """# Benchmarks

One of the tools is ours. Written by `make bench` on {machine}, from the figures of each run, which are in
`benchmarks/results/end_to_end.jsonl`. Each tool runs in a process of its own, on one thread, in turns on the same Parquet file,
corpus by corpus, after a tiny job that does not count: three runs each (datasketch and datatrove: one), of which medians are shown. Five-word
shingles, threshold 0.8.

*MB/s* is wall time from the file to duplicate flags, reading and shingling included. Processor time is that of the process and its
children, in seconds: *reading* makes the file a list of texts, or the tool's own data set (it is a part of *computing* for tools that
read as they compute: lookalike, datatrove); *writing* writes the rows that are kept, which datatrove reads and text-dedup filters for
it. The ratio is that of processor time from the file to the flags, each run beside the run of lookalike in the same turn.

*Recall* and *precision* are of removals, on 1,500 documents drawn at random, against exact resemblances with all others: a
removal is right if a document that the tool kept resembles the removed one by the threshold; a duplicate is missed if the
tool kept it although it had kept such a document before. rensa's rho way flags all members of a set of near-duplicates; for it
the figures are of flags on documents that have a near-duplicate. lookalike verifies each removal exactly; the peers do not.

text-dedup is the command `python -m text_dedup.minhash` with its defaults (250 permutations), but for the threshold and one process;
datatrove is the pipeline of four stages of its example (64-bit hashes, 14 buckets of 8), of one task on this machine. Both come with
`pip install '.[bench]'`. Both remove all but one of whatever hangs together by shared bands, and compare nothing; datatrove also takes all
numbers for the same word. These are not here: duplodocus (its source is not on a package index), fast-dedup 0.1.0 (it has sketches, but no
index or job for a corpus), semhash 0.5.0 (it compares meanings by a model that it downloads, not shingles), and text-dedup 0.4.1 (it needs
Python 3.12, and is configured in another way).

*Floor*: no job can take less than decoding the file and one pass over the bytes of the texts, which one core does at 1 GB/s.

## policies.parquet, whole ({about_whole})

{whole}
Stages of lookalike, seconds of the first run:

{stages}
## policies.parquet, its first part ({about_part})

{part}
## Short licences ({about_short})

Texts shorter than 6,000 characters.

{short}
## Licences with edits ({about_edited})

Each licence four times, with one word in 20, 60 or 300 changed (`benchmarks/generated.py`).

{edited}
## Generated documents ({about_drawn})

Words by Zipf's law; a third are near-duplicates of earlier ones, of five kinds (`benchmarks/generated.py`), resembling them by about
0.4 to 0.98.

{drawn}"""

if __name__ == "__main__":
    for path, text in written().items():
        path.write_text(text)
