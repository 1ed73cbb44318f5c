"""Recall 1 against plans: what plans promise and find of all pairs, what deduplication misses, and time and memory of each.

python reproduction/experiments/exact_recall.py FILE... [unit=char] [width=3] [memory=2GB] [thresholds=0.5,0.8]
                                                                                 a row for each file and threshold
python reproduction/experiments/exact_recall.py made=100000 unit=char width=3                 the same for so many records that are made here
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

import lookalike as la
from lookalike.engines.memory import peak_memory
from lookalike.recipes.pairs import find_pairs
from lookalike.settings.settings import PairSettings
from lookalike.theory.banding import candidate_probability

THRESHOLDS, RECALLS = (0.5, 0.7, 0.8, 0.9), (0.95, 0.99)


def job(path: str, threshold: float, recall: float, given: dict[str, Any]) -> dict[str, Any]:
    """List the pairs of a file; say how many there are, how many plans promise of them, and what it took."""
    how = {"threshold": threshold, "recall": recall, "threads": 1} | given
    la.pairs(["a b c d", "a b c e"], **how)  # kernels are compiled by now
    began = process_time()
    found = find_pairs(path, PairSettings(**how))
    scores = np.asarray(found.table["resemblance"])
    said = {"seconds": process_time() - began, "peak": peak_memory(), "pairs": len(scores)}
    plans = [la.plan(threshold=threshold, recall=some) for some in RECALLS]
    said["promised"] = [float(candidate_probability(scores, plan.bands, plan.rows).mean()) for plan in plans if len(scores)]
    return said | {"compared": found.summary["candidate_pairs"]}


def missed(path: str, threshold: float, given: dict[str, Any]) -> dict[str, Any]:
    """Deduplicate with a plan and with recall 1; count the kept documents that an earlier kept one resembles."""
    how = {"threshold": threshold, "threads": 1} | given
    planned, every = la.dedup(path, **how), la.dedup(path, recall=1, **how)
    row = {name: i for i, name in enumerate(planned.decisions["id"].to_pylist())}
    pairs = la.pairs(path, recall=1, **how)
    left, right = ([row[name] for name in pairs[side].to_pylist()] for side in ("left_id", "right_id"))
    kept, s = planned.keep, planned.summary
    n_missed = len(set(np.array(right)[kept[left] & kept[right]].tolist())) if left else 0
    return {
        "removed": s.near_duplicates, "missed": n_missed, "kept": s.kept, "kept_of_1": every.summary.kept,
        "planned": s.recall_planned, "vouched": s.recall_vouched, "crowded": s.crowded,
    }  # fmt: skip


def records(n: int, path: Path) -> None:
    """Write records of ten fields, words of Zipf frequencies and numbers; some have copies with a few letters changed."""
    generator = np.random.default_rng(7)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    words = ["".join(generator.choice(letters, int(size))) for size in generator.integers(3, 11, 20_000)]
    texts: list[str] = []
    while len(texts) < n:
        places = np.minimum(generator.zipf(1.2, 7) - 1, len(words) - 1)
        fields = [words[place] for place in places] + [
            str(number) for number in generator.integers(0, 10 ** np.array([3, 4, 8]))
        ]
        text = list(" ".join(fields))
        texts.append("".join(text))
        while generator.random() < 0.25 and len(texts) < n:
            for place in generator.integers(0, len(text), generator.integers(1, 9)).tolist():
                text[place] = str(generator.choice(letters))
            texts.append("".join(text))
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))


def apart(*task: Any) -> dict[str, Any]:
    """Do a task in a process of its own, so that its peak of memory is known."""
    done = subprocess.run([sys.executable, __file__, "--task", json.dumps(task)], stdout=subprocess.PIPE, check=True, text=True)
    said: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return said


def show(path: str, given: dict[str, Any], thresholds: Sequence[float] = THRESHOLDS) -> None:
    """Print the rows of a file."""
    for threshold in thresholds:
        *plans, every = (apart("job", path, threshold, recall, given) for recall in (*RECALLS, 1))
        kept = apart("missed", path, threshold, given)
        shares = [
            f"{plan['pairs'] / max(1, every['pairs']):.4f} ({promised:.4f})"
            for plan, promised in zip(plans, every["promised"] or [1.0, 1.0], strict=True)
        ]
        both = kept["removed"] + kept["missed"]
        every_job = (*plans, every)
        times = " / ".join(f"{some['seconds']:.1f}" for some in every_job)
        peaks = " / ".join(f"{some['peak'] / 1e6:,.0f}" for some in every_job)
        print(
            f"| {Path(path).stem} | {threshold:g} | {every['pairs']:,} | {' | '.join(shares)} | {every['compared']:,} | "
            f"{times} | {peaks} | "
            f"{kept['kept']:,} / {kept['kept_of_1']:,} | {kept['missed']:,} | {kept['removed'] / max(1, both):.4f} | "
            f"{kept['vouched']:.4f} | {kept['crowded']:,} |",
            flush=True,
        )


if __name__ == "__main__":
    if sys.argv[1] == "--task":
        name, *rest = json.loads(sys.argv[2])
        print(json.dumps({"job": job, "missed": missed}[name](*rest)))
    else:
        options = dict(one.split("=") for one in sys.argv[1:] if "=" in one)
        chosen: dict[str, Any] = {name: options[name] for name in ("unit", "memory") if name in options}
        chosen |= {"width": int(options["width"])} if "width" in options else {}
        thresholds = [float(one) for one in options["thresholds"].split(",")] if "thresholds" in options else THRESHOLDS
        files = [one for one in sys.argv[1:] if "=" not in one]
        with tempfile.TemporaryDirectory() as folder:
            if "made" in options:
                files.append(f"{folder}/made.jsonl")
                records(int(options["made"]), Path(files[-1]))
            for file in files:
                show(file, chosen, thresholds)
