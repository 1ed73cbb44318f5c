import contextlib
import doctest
import glob
import importlib
import io
import pkgutil
import random
import re
import shlex
import shutil
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli.commands import status
from document_files import pdf
from notebooks import notebook
from row_files import lines, write

import lookalike as la
from lookalike.cli.main import program

ROOT = Path(__file__).parents[1]
NOT_HERE = ("__main__", "core_v1", "core_v3", "core_v4")  # a program, and modules that not every processor can load
MODULES = [m.name for m in pkgutil.walk_packages(la.__path__, "lookalike.") if not m.name.endswith(NOT_HERE)]


@pytest.mark.parametrize("name", [*MODULES, "decontamination", "quickstart", "weekly_crawl"])
def test_examples_in_docstrings(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_pictures(monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")
    known = {}
    exec(notebook("pictures"), known)
    assert 0.6 < known["within"] < 0.76  # of a normal distribution 0.68


def test_every_public_name_exists_and_is_documented():
    for part in (la, la.integrations, la.search, la.sketches):
        assert part.__all__ == sorted(part.__all__) and dir(part) == part.__all__
        assert all(getattr(part, name).__doc__ for name in part.__all__)
    with pytest.raises(AttributeError):
        _ = la.no_such_name


PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```([a-z]*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
ELSEWHERE = ("make ", "pip install ", "python tools/", "python benchmarks/", "curl ")  # shell commands that are not for a test


@pytest.fixture(scope="session")
def stage(tmp_path_factory):
    folder, rng = tmp_path_factory.mktemp("stage"), random.Random(1)
    notes = [" ".join(rng.choices([f"w{i}" for i in range(500)], k=60)) for _ in range(8)]
    rows = [
        {"id": f"i{n}", "url": f"http://example.org/{n}", "text": text, "lang": "en"}
        for n, text in enumerate([*notes, f"{notes[0]} and more"])
    ]
    for name in ("pages", "train", "crawl", "code", "logs", "notes", "site", "papers", "corpus/documents", "evals", "books"):
        (folder / name).mkdir(parents=True)
    for name in ("corpus.jsonl", "new.jsonl", "today.jsonl", "evals/easy.jsonl", "pages.jsonl", "corpus.jsonl.gz", "dump.jsonl.gz",
                 "corpus/documents/0.json.gz", "crawl/2026-11-01.jsonl.zst"):  # fmt: skip
        write(folder / name, lines(rows))
    pages = [f"<html><head><title>t</title></head><body><article><p>{text}</p></article></body></html>" for text in notes]
    for name, made in (
        ("overrides", [{"id": "i8", "action": "keep"}, {"id": "i3", "action": "remove"}]),
        ("nested", [{"doc": {"text": row["text"], "meta": {"id": row["id"]}}} for row in rows]),
        ("qa", [{"question": text, "choices": ["w1 w2", "w3"], "answer": "w3"} for text in notes]),
        ("reviews", [{"text": "a fine hotel", "author": name} for name in "aab"]),
    ):
        write(folder / f"{name}.jsonl", lines(made))
    table = pa.Table.from_pylist(rows).drop("lang")
    for n in range(2):
        pq.write_table(table.rename_columns(["id", "url", "body"]).slice(5 * n, 5), folder / f"pages/{n}.parquet")
        pq.write_table(table.slice(5 * n, 5), folder / f"train/{n}.parquet")
    pq.write_table(table, folder / "archive.parquet")
    pq.write_table(pa.table({"text": pages}), folder / "crawl.parquet")
    with contextlib.chdir(folder):
        exec(BLOCK.search((ROOT / "docs/tutorial.md").read_text())[2], {})
    (folder / "people.csv").write_text("name,country\nAnna Schmidt,de\nAnna Schmitd,de\nAnna Schmidt,at\n")
    (folder / "papers/a.pdf").write_bytes(pdf(notes[0]))
    for name in ("site/index.html", "papers/b.html"):
        (folder / name).write_text(pages[0])
    for name in ("template.txt", "a.txt", "b.txt", "code/x.py", "logs/x.log", "notes/x.md", "books/x.txt"):
        (folder / name).write_text(notes[0])
    return folder


def run(line):
    words = shlex.split(line, comments=True)[1:]
    words = [found for word in words for found in (sorted(glob.glob(word)) if "*" in word and "/" in word else [word])]
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert status(*words) == 0, line
    return out.getvalue()


def run_console(block):
    """The line of times and sizes is left out."""
    for command in block.removeprefix("$ ").split("\n$ "):
        line, _, shown = command.partition("\n")
        printed = [text for text in run(line).splitlines() if "peak memory" not in text]
        assert not shown or shown.splitlines() == printed, line


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_code_in_the_documents_runs(page, stage, tmp_path, monkeypatch):
    """All blocks of a page, in their order, in one folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    shutil.copytree(stage, tmp_path, dirs_exist_ok=True)
    scope = {}
    for language, block in BLOCK.findall(page.read_text()):
        if language == "python":
            exec(block, scope)
        elif language == "console":
            run_console(block)
        elif language == "sql":
            duckdb.execute(block).fetchall()
        elif language == "toml":
            Path("lookalike.toml").write_text(block)
        elif language == "py":  # needs a cluster
            compile(block, page.name, "exec")
        elif not (language in ("text", "mermaid") or block.startswith("$ lookalike dedup policies.parquet")):  # not from here
            for line in block.splitlines():
                assert line.startswith(("lookalike ", *ELSEWHERE)), f"nothing runs this: {line}"
                if line.startswith("lookalike "):
                    run(line)
    if page.name == "README.md":
        assert scope["result"].keep.tolist() == [True, False, True]


def commands(group):
    for name, command in group.commands.items():
        yield from (
            (((name, *rest), c) for rest, c in commands(command)) if hasattr(command, "commands") else [((name,), command)]
        )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_options_in_the_documents_exist(page):
    known = dict(commands(program))
    text = page.read_text()
    lines = re.findall(r"^(?:\$ )?lookalike (.*)$", text, re.MULTILINE) + re.findall(r"`lookalike ([a-z][^`]*)`", text)
    assert len(lines) > 5 or page.name != "README.md"
    for line in lines:
        words = line.split()
        command = known.get(tuple(words[:1])) or known.get(tuple(words[:2]))
        if command is None:
            assert words[0] in program.commands or words[0].startswith("-"), line
            continue
        options = {option for p in command.params for option in p.opts}
        for option in re.findall(r"(?<= )--?[a-z][a-z-]*", line.partition("#")[0]):
            assert option in options, line


def test_the_version_is_the_same_everywhere():
    for file in ("CITATION.cff", "packaging/recipe.yaml"):
        assert f"version: {la.__version__}\n" in (ROOT / file).read_text()
    heading = "Unreleased" if ".dev" in la.__version__ else f"{la.__version__} - "
    assert f"\n## {heading}" in (ROOT / "CHANGELOG.md").read_text()


def test_the_curves_in_the_documents_are_those_of_the_planner():
    text = (ROOT / "docs/how-to/choosing-parameters.md").read_text()
    rows = re.findall(r"recall ([0-9.]+) \((\d+) bands of (\d+) rows\) \| (.*?) \|\n", text)
    assert len(rows) == 2
    for recall, bands, rows_each, shown in rows:
        plan = la.plan(threshold=0.8, recall=float(recall))
        assert (plan.bands, plan.rows) == (int(bands), int(rows_each))
        for value, exact in zip(shown.split(" | "), plan.curve.values(), strict=True):
            assert abs(float(value) - exact) <= 0.6 * 10 ** -len(value.partition(".")[2])
