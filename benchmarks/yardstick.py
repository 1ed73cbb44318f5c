"""A yardstick for tools that remove near-duplicates: recall, wrong removals, processor time, wall time and memory of each.

Each installed tool gets the same texts and threshold, on one thread, in a process of its own, in turns, after a tiny job that loads
its modules. Two documents are near-duplicates if the Jaccard similarity of their sets of five-word shingles reaches the threshold.
The truth comes from sets in Python, not from any of the tools: all pairs of up to 3,000 documents; in larger corpora, all pairs of
3,000 random documents with any document.

An adapter is a Python file, named like the tool, with a function ``keep(texts, threshold)``, which returns a bool per document, or
``pairs(texts, threshold)``, which yields pairs of positions, of which the earlier one is kept. ``PACKAGE`` names the package whose
version is shown. ``docs/how-to/yardstick.md`` has an example.

Usage: python benchmarks/yardstick.py [--tool FILE.py] [--only NAME] [--corpus FILE [--column NAME]] [--json FILE] [--help]
"""

from __future__ import annotations

import argparse
import ast
import gzip
import hashlib
import json
import os
import platform
import subprocess
import sys
import sysconfig
import tempfile
import warnings
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any

import contestants
import numpy as np
import pyarrow.parquet as pq
from contestants import ALONE, ONCE, WARM, WORD, Clock, peak, word_shingles, write_texts
from page import table

Adapter = Callable[[list[str], float], Any]
EXACT, LEAST_WORDS = 3000, 5
HEADS = ("corpus", "tool", "recall", "missed", "wrong", "removed", "CPU s", "wall s", "peak MB")


def nothing(texts: list[str], threshold: float) -> np.ndarray:
    """No tool: all is kept; its memory is that of Python, NumPy, PyArrow and the texts."""
    return np.ones(len(texts), np.bool_)


def lookalike(texts: list[str], threshold: float) -> np.ndarray:
    """Our defaults, on one thread."""
    import lookalike as la

    return la.dedup(texts, threshold=threshold, threads=1).keep


def of_file(run: Callable[..., np.ndarray]) -> Adapter:
    """Adapt a tool that reads a file; writing that file counts, too."""

    def keep(texts: list[str], threshold: float) -> np.ndarray:
        with tempfile.TemporaryDirectory() as folder:
            return run(write_texts(Path(folder) / "corpus.parquet", texts), Path(folder), Clock(), threshold)

    return keep


TOOLS: dict[str, Adapter] = {  # by the name of the package, whose module has "_" instead of "-"
    "lookalike": lookalike, "gaoya": contestants.gaoya, "rensa": contestants.rensa, "datasketch": contestants.datasketch,
    "FastSketchLSH": contestants.fast_sketch_lsh, "text-dedup": of_file(contestants.text_dedup),
    "datatrove": of_file(lambda *given: contestants.datatrove(*given[:3])),  # its example's buckets, whatever the threshold
}  # fmt: skip


def first_of_pairs(pairs: Callable[[list[str], float], Any]) -> Adapter:
    """Turn a function that yields pairs into one that keeps each document that has no earlier, kept partner."""

    def keep(texts: list[str], threshold: float) -> np.ndarray:
        kept = np.ones(len(texts), np.bool_)
        for left, right in sorted({(max(pair), min(pair)) for pair in pairs(texts, threshold)}):
            kept[left] &= not (left != right and kept[right])
        return kept

    return keep


def adapter(tool: str) -> tuple[Adapter, str]:
    """Return the adapter of a tool, or of a file, and the name of its package."""
    if not tool.endswith(".py"):
        return TOOLS.get(tool, nothing), tool
    spec = spec_from_file_location(f"adapter_{Path(tool).stem}", tool)
    module = sys.modules[spec.name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    keep = getattr(module, "keep", None) or first_of_pairs(module.pairs)
    return keep, getattr(module, "PACKAGE", "")


def work(tool: str, corpus: str, threshold: str, out: str) -> None:
    """Run one tool in this process, after a tiny job, and write its decisions and what it took."""
    texts, (keep, package) = pq.read_table(corpus)["text"].to_pylist(), adapter(tool)
    keep(WARM, float(threshold))
    clock = Clock()
    with clock("all"):
        kept = np.asarray(keep(texts, float(threshold)))
    if kept.dtype != np.bool_ or kept.shape != (len(texts),):
        raise TypeError(f"the adapter must return a bool per document ({len(texts)}); got {kept.dtype}, shape {kept.shape}")
    try:
        made = version(package)
    except (PackageNotFoundError, ValueError):  # no package, or one on PYTHONPATH
        made = getattr(sys.modules.get(package), "__version__", "")
    cpu, wall = clock.phases["all"]
    Path(out).write_text(json.dumps({"cpu": cpu, "wall": wall, "peak": peak(), "version": made, "keep": kept.tolist()}))


def run(tool: str, corpus: Path, threshold: float, limit: float) -> dict[str, Any]:
    """Run one tool in a process of its own; return its result, or why there is none."""
    with tempfile.TemporaryDirectory() as folder, open(f"{folder}/errors", "w+", errors="replace") as errors:
        out = Path(folder) / "result.json"
        command = [sys.executable, __file__, "--work", tool, str(corpus), str(threshold), str(out)]
        try:
            status = subprocess.run(command, env={**os.environ, **ALONE, "HF_HOME": folder}, stdout=errors, stderr=errors,
                                    timeout=limit, check=False).returncode  # fmt: skip
        except subprocess.TimeoutExpired:
            return {"failed": f"not finished after {limit:.0f} s"}
        if status == 0 and out.exists():
            return json.loads(out.read_text())
        errors.seek(0)
        said = (errors.read().strip().splitlines() or [""])[-1]
        return {"failed": f"killed by signal {-status}" if status < 0 else said[:200] or f"exit status {status}"}


def truth(texts: list[str], threshold: float) -> dict[int, list[int]]:
    """Return the near-duplicates of each document, or of each of a random sample, by counting common shingles."""
    rows = np.sort(np.random.default_rng(1).permutation(len(texts))[:EXACT]).tolist()
    numbers: dict[str, int] = {}
    for row in rows:
        for shingle in word_shingles(texts[row]):
            numbers.setdefault(shingle, len(numbers))
    sizes, known = np.zeros(len(texts), np.int64), []
    for row, text in enumerate(texts):
        shingles = word_shingles(text)
        sizes[row] = len(shingles)
        known.append(np.array([numbers[one] for one in shingles if one in numbers], np.int64))
    flat, ends = np.concatenate(known), np.cumsum([0, *map(len, known)])
    neighbours = {}
    for row in rows:
        inside = np.zeros(len(numbers), np.bool_)
        inside[known[row]] = True
        before = np.concatenate([[0], np.cumsum(inside[flat], dtype=np.int32)])
        common = before[ends[1:]] - before[ends[:-1]]
        near = np.flatnonzero(common / np.maximum(1, sizes + sizes[row] - common) >= threshold)
        neighbours[row] = [other for other in near.tolist() if other != row]
    return neighbours


def docstrings() -> Iterator[str]:
    """Yield the docstrings of Python's standard library, without its tests: real text on every machine."""
    root = Path(sysconfig.get_paths()["stdlib"])
    warnings.simplefilter("ignore", SyntaxWarning)
    for file in sorted(root.rglob("*.py")):
        if not {"site-packages", "dist-packages", "test", "tests", "idle_test", "lib2to3"} & set(file.relative_to(root).parts):
            for node in ast.walk(ast.parse(file.read_bytes())):
                if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                    yield ast.get_docstring(node) or ""


def of_user(path: Path, column: str) -> Iterator[str]:
    """Yield the texts of a Parquet file, or of JSON lines, compressed by gzip or not."""
    if path.suffix == ".parquet":
        if column not in pq.read_schema(path).names:
            sys.exit(f"{path} has no column {column}. Use --column with one of {', '.join(pq.read_schema(path).names)}.")
        for batch in pq.ParquetFile(path).iter_batches(1000, columns=[column]):
            yield from batch[column].to_pylist()
    else:
        with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                yield json.loads(line).get(column)


def corpora(given: argparse.Namespace, folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield (name, texts): those of the user, or three that need no download."""

    def some(texts: Iterator[str], least: int = LEAST_WORDS) -> list[str]:
        plain = (text.replace("_", " ") for text in texts if text)  # tools do not agree whether it separates words
        return list(islice((text for text in plain if len(WORD.findall(text)) >= least), given.documents))

    if given.corpus:
        yield given.corpus.name, some(of_user(given.corpus, given.column))
        return
    import generated

    generated.write(str(folder / "generated.parquet"), given.documents or EXACT)
    yield "generated", some(of_user(folder / "generated.parquet", "text"))
    real = list(docstrings())
    yield "docstrings", some(iter(real))
    yield "edited", some(iter(generated.retouched(some(iter(real), 50))))


def row(corpus: str, tool: str, runs: list[dict[str, Any]], neighbours: dict[int, list[int]]) -> dict[str, Any]:
    """Judge a tool on a corpus; times are medians, memory is the most."""
    from end_to_end import counts

    failed = next((one for one in runs if "failed" in one), None)
    if failed:
        return {"corpus": corpus, "tool": tool, **failed}
    right, missed, wrong = counts(np.array(runs[0]["keep"]), neighbours)
    return {"corpus": corpus, "tool": f"{tool} {runs[0]['version']}".strip(), "recall": right / max(1, right + missed),
            "missed": missed, "wrong": wrong, "removed": right + wrong, "peak MB": max(one["peak"] for one in runs) / 1e6,
            **{f"{time} s": median(one[key] for one in runs) for time, key in (("CPU", "cpu"), ("wall", "wall"))}}  # fmt: skip


def shown(rows: list[dict[str, Any]]) -> str:
    """Render a table whose columns are as wide as their cells."""
    styles = {"recall": ".4f", "CPU s": ".2f", "wall s": ".2f", "peak MB": ",.0f"}
    cells = [[format(one[head], styles.get(head, "")) if head in one else "" for head in HEADS] for one in rows]
    for one, line in zip(rows, cells, strict=True):
        line[2] = f"failed: {one['failed']}" if "failed" in one else line[2]
    widths = [max(map(len, column)) for column in zip(HEADS, *(line for line in cells if "failed" not in line[2]), strict=True)]
    padded = [[cell.ljust(width) for cell, width in zip(line, widths, strict=True)] for line in (list(HEADS), *cells)]
    return table(padded[0], padded[1:])


def main(arguments: list[str] | None = None) -> None:
    """Run all tools on all corpora, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", action="append", default=[], metavar="FILE.py", help="add the tool of an adapter")
    parser.add_argument("--only", action="append", metavar="NAME", help=f"run this tool, not all: {', '.join(TOOLS)}")
    parser.add_argument("--corpus", type=Path, help="a Parquet file or JSON lines, instead of the built-in corpora")
    parser.add_argument("--column", default="text", help="the column of its texts (default: text)")
    parser.add_argument("--documents", type=int, help="use at most this many documents per corpus")
    parser.add_argument("--threshold", type=float, default=contestants.THRESHOLD, help="default: %(default)s")
    parser.add_argument(
        "--turns", type=int, default=3, help=f"run each tool this often, {' and '.join(ONCE)} once (default: %(default)s)"
    )
    parser.add_argument("--limit", type=float, default=1800, help="stop a tool after this many seconds (default: %(default)s)")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    given = parser.parse_args(arguments)
    if absent := [str(file) for file in (given.corpus, *map(Path, given.tool)) if file and not file.is_file()]:
        parser.error(f"there is no file {', '.join(absent)}")
    if unknown := [name for name in given.only or [] if name not in TOOLS]:
        parser.error(f"no tool is named {', '.join(unknown)}; use --tool for an adapter")
    chosen = given.only if given.only is not None else list(TOOLS)
    tools = [name for name in chosen if find_spec(name.replace("-", "_"))]
    if missing := [name for name in chosen if name not in tools]:
        print(f"Not installed: {', '.join(missing)}. Run pip install '.[bench]' to add them.\n")
    rows, about = [], []
    with tempfile.TemporaryDirectory() as folder:
        for corpus, texts in corpora(given, Path(folder)):
            if not texts:
                parser.error(f"{corpus} has no text of {LEAST_WORDS} words in column {given.column}")
            path = write_texts(Path(folder) / "corpus.parquet", texts)
            runs: dict[str, list[dict[str, Any]]] = {tool: [] for tool in ("nothing", *tools, *given.tool)}
            for turn in range(given.turns):
                for tool, done in runs.items():
                    if turn == 0 or not (tool in ONCE or any("failed" in one for one in done)):
                        print(f"{corpus}, turn {turn + 1}: {tool}", file=sys.stderr, flush=True)
                        done.append(run(tool, path, given.threshold, given.limit))
            neighbours = truth(texts, given.threshold)
            rows += [row(corpus, Path(tool).stem, done, neighbours) for tool, done in runs.items()]
            digest = hashlib.sha256("\0".join(texts).encode()).hexdigest()[:12]
            about.append({"corpus": corpus, "documents": len(texts), "judged": len(neighbours), "sha256": digest})
            print("{corpus}: {documents:,} documents, {judged:,} judged, SHA-256 {sha256}…".format(**about[-1]))
    print(f"\nThreshold {given.threshold}, {platform.platform()}, Python {platform.python_version()}\n\n{shown(rows)}", end="")
    if given.json:
        given.json.write_text(json.dumps({"threshold": given.threshold, "corpora": about, "rows": rows}, indent=1))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(*sys.argv[2:6])
    else:
        main()
