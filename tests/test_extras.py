import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

EXTRAS = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]["optional-dependencies"]
# What is imported of each package that an extra brings, and what else is optional; "" is nothing missing.
OPTIONAL = {
    "": [], "jinja2": ["report"], "markupsafe": ["report"], "resiliparse": ["html", "warc"], "zstandard": ["warc"], "pypdfium2": ["pdf"],
    "pyspark": ["spark"], "pandas": ["spark"], "starlette": ["serve"], "uvicorn": ["serve"], "uvloop": ["serve"], "httptools": ["serve"],
    "mcp": ["mcp"], "sklearn": [], "snowballstemmer": ["features"], "stop_words": ["features"], "scipy": ["sklearn"], "polars": [], "duckdb": ["duckdb"], "requests": ["remote"], "huggingface_hub": ["remote"], "datasets": [],
    "deltalake": ["delta"], "pyiceberg": ["iceberg"],
}  # fmt: skip
BLOCKED = """
import sys
from importlib.abc import MetaPathFinder

class Block(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == sys.argv[1]:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

if sys.argv[1]:
    sys.meta_path.insert(0, Block())
    assert sys.argv[1] not in sys.modules
"""
ENTRIES = """
import contextlib, io, json, os, traceback
import lookalike as la
from lookalike.cli.main import main

open("in.jsonl", "w").write('{"text": "a b c d e f"}\\n' * 2 + '{"text": "<p>g h i j k l</p>"}\\n')
open("paper.pdf", "w").write("%PDF")
open("web.html", "w").write("<p>a b c")
open("crawl.warc", "w").write("WARC/1.0\\r\\nWARC-Type: conversion\\r\\nContent-Length: 3\\r\\n\\r\\na b\\r\\n\\r\\n")
open("crawl.warc.zst", "wb").write(bytes.fromhex("5d2a4d180000000028b52ffd"))
open("table.duckdb", "w").write("looked into only where DuckDB is")
os.makedirs("delta/_delta_log")
os.makedirs("iceberg/metadata")
open("iceberg/metadata/v1.metadata.json", "w").write("{}")
for name in ("a.txt", "b.txt"):
    open(name, "w").write("a b c d e f")
parts = [la, la.integrations, la.search, la.sketches]
names = {name: (lambda part=part, name=name: getattr(part, name)) for part in parts for name in part.__all__}
calls = {
    "html_to_text": lambda: la.html_to_text("<p>a</p>"), "WordTokenizer": lambda: la.sketches.WordTokenizer()("a house"),
    "features": lambda: la.integrations.BBitFeatures().transform(["a b"]),
    "report": lambda: la.dedup(["a b", "a b"]).report("python.html"),
    "decontaminate report": lambda: la.decontaminate(["a b"], against=["a b"]).report("overlap.html"),
}
if sys.argv[1] in ("pyspark", "pandas"):  # else a session would be started
    calls["spark"] = lambda: la.dedup("in.jsonl", engine="spark")
lines = [
    "dedup in.jsonl -o out.jsonl", "dedup in.jsonl --report page.html", "dedup in.jsonl --html", "dedup in.jsonl --save saved",
    "pairs in.jsonl --report p.html", "decontaminate in.jsonl --against a.txt --report o.html", "compare a.txt b.txt --diff",
    "show saved", "show saved in.jsonl:2", "index create i.idx", "index add i.idx in.jsonl", "index query i.idx in.jsonl",
    "serve there-is-none", *(["serve --mcp"] if sys.argv[1] == "mcp" else []), "plan", "info", "dedup paper.pdf", "dedup web.html", "dedup crawl.warc", *(["dedup crawl.warc.zst"] if sys.argv[1] == "zstandard" else []), "plan in.jsonl", "--help", "dedup --help", "serve --help", "index add --help",
    *(["dedup in.jsonl --engine spark -o spark"] if sys.argv[1] in ("pyspark", "pandas") else []),
    *(["dedup table.duckdb"] if sys.argv[1] == "duckdb" else []),
    *(["dedup https://localhost:9/a.jsonl"] if sys.argv[1] == "requests" else []),
    *(["dedup hf://datasets/o/n"] if sys.argv[1] == "huggingface_hub" else []),
    *(["dedup delta"] if sys.argv[1] == "deltalake" else []), *(["dedup iceberg"] if sys.argv[1] == "pyiceberg" else []),
]
said = {}
for name, call in (names | calls).items():
    try:
        call()
        said[name] = [0, ""]
    except la.errors.MissingExtraError as error:
        said[name] = [1, str(error) + "\\n"]
    except BaseException as error:
        said[name] = [70, traceback.format_exc()]
for line in lines:
    told = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(told):
        try:
            main(line.split())
            code = 0
        except SystemExit as end:
            code = end.code or 0
    said[line] = [code, told.getvalue()]
print(json.dumps(said))
"""


def told_by(package, folder):
    command = [sys.executable, "-c", BLOCKED + ENTRIES, package]
    known = {name: value for name, value in os.environ.items() if name != "PYTHONWARNINGS"}
    done = subprocess.run(command, cwd=folder, env=known, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


FIRST = ("", "jinja2", "pandas")  # the others take minutes together


@pytest.mark.parametrize(
    "package", [name if name in FIRST else pytest.param(name, marks=pytest.mark.slow) for name in OPTIONAL]
)
def test_a_missing_package_is_one_sentence_with_the_command_that_installs_it(tmp_path, package):
    missing = set()
    for entry, (code, text) in told_by(package, tmp_path).items():
        assert code in (0, 1) and "Traceback" not in text, (entry, code, text)
        if code and "there-is-none: neither" not in text:
            assert text.count("\n") == 1, (entry, text)
            extra = re.search(r"pip install 'lookalike\[(\w+)\]'", text)
            assert extra is not None, (entry, text)
            missing.add(extra[1])
    assert missing == set(OPTIONAL[package])


def test_all_brings_every_extra_that_users_have_a_use_for():
    inner = re.fullmatch(r"lookalike\[(.*)\]", *EXTRAS["all"])[1].split(",")
    assert set(inner) == EXTRAS.keys() - {"all", "test", "docs", "experiments", "bench"}
