"""Jobs as data: files of facts, in the language of ``tests/jobs/README.md``."""

import gc
import importlib
import json
import os
import shlex
import shutil
import sqlite3
import zlib
from contextlib import closing, nullcontext, suppress
from glob import glob
from itertools import takewhile
from pathlib import Path

import object_store
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli import commands
from document_files import archive, pdf_of, record, stream
from engine_kinds import WORK, prepare
from row_files import read, write

KINDS = ("local", "spilled", "slices", "rounds", "store")
"""How a job is run: by one of them, which its name draws, on a push; by all of them at night. ``disk`` leaves the store out."""
AT_STORE = ("dedup", "pairs", "repeats", "decontaminate", "plan")
ROWS = (".jsonl", ".jsonl.gz", ".jsonl.zst", ".parquet")


def parse(text):
    """Yield (fact, number of the line, steps) of each job; a step is (number of the line, word, rest, block)."""
    lines, names, first, job = enumerate(text.splitlines(), 1), {}, [], None

    def named(content):
        for name, value in names.items():
            content = content.replace(f"{{{name}}}", value)
        return content

    for number, line in lines:
        word, _, rest = line.partition(" ")
        if word == "#":
            if job:
                yield job
            job = (rest, number, [*first])
        elif word == "let":
            name, _, value = named(rest).partition(" = ")
            names[name] = value
        elif word in STEPS:
            block = [named(some) for _, some in takewhile(lambda one: one[1], lines)] if word in BLOCKS else []
            block = ["" if some == "\\" else some for some in block]
            assert block or word not in ("refused", "says"), f"line {number}: nothing is held"
            (job[2] if job else first).append((number, word, named(rest), block))
        else:
            assert not line, f"line {number}: {word!r} is none of {', '.join(STEPS)}, let, #"
    yield job


def rows_of(path):
    if path.is_dir():
        return [row for one in sorted(path.rglob("*")) if one.name.endswith(ROWS) for row in rows_of(one)]
    return pq.read_table(path).to_pylist() if path.suffix == ".parquet" else [*map(json.loads, read(path).splitlines())]


def hold_rows(wanted, rows):
    for line, row in zip(wanted, rows, strict=True):
        known = json.loads(line.removesuffix(" ..."))
        assert ({name: row[name] for name in known if name in row} if line.endswith(" ...") else row) == known


def hold_lines(wanted, lines):
    at = 0
    for place, line in enumerate(wanted):
        if place and wanted[place - 1] == "..." and line in lines[at:]:
            at = lines.index(line, at)
        if line != "...":
            assert lines[at : at + 1] == [line], lines
            at += 1
    assert at == len(lines) or wanted[-1] == "...", lines


def unescaped(block):
    return "".join(block).encode().decode("unicode_escape").encode("latin-1")


def made(name):
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    return Path(name)


class Steps:
    def __init__(self, captured):
        self.captured = captured

    def told(self, words):
        return commands.run(self.captured, *shlex.split(words))

    def file(self, name, block):
        path = made(name)
        if path.suffix == ".parquet":
            pq.write_table(pa.Table.from_pylist([json.loads(line) for line in block]), path)
        else:
            write(path, [f"{line}\n".encode() for line in block])

    def bytes(self, name, block):
        write(made(name), [unescaped(block)])

    def equals(self, name, block):
        assert read(Path(name)) == unescaped(block)

    def zip(self, name, block):
        members = (line.split(": ", 1) for line in block)
        made(name).write_bytes(archive({member: unescaped([content]) for member, content in members}))

    def pdf(self, name, block):
        parts = (line.partition(b">>stream ") for line in unescaped(["\\n".join(block)]).split(b"\n"))
        made(name).write_bytes(pdf_of(*(stream(content, head[2:]) if found else head for head, found, content in parts)))

    def warc(self, name, block):
        lines = (line.split(": ", 1) for line in block)
        kinds = ((head.split(" ", 2), unescaped([content])) for head, content in lines)
        write(made(name), [record(kind, uri, content, *more) for (kind, uri, *more), content in kinds])

    def sql(self, name, block):
        if name.endswith(".duckdb"):
            opened = importlib.import_module("duckdb").connect(name)
            opened.execute("set enable_progress_bar = false")  # which would print in processes of tests
        else:
            opened = sqlite3.connect(name, isolation_level=None)
        with closing(opened):
            for statement in block:
                opened.execute(statement)

    def disk(self, why, block):
        assert why

    def needs(self, names, block):
        for name in names.split():
            pytest.importorskip(name, reason=f"needs the package {name}")

    def run(self, words, block, status=0):
        code, out, err = self.told(words)
        said, texts = [line for line in block if line.startswith(("err: ", "out: "))], {"err": err, "out": out}
        assert code == status and all(line[5:] in texts[line[:3]] for line in said), texts
        wanted = [line for line in block if line not in said]
        if wanted and wanted[0].startswith("{"):
            hold_rows(wanted, [json.loads(out)] if len(wanted) == 1 else [json.loads(line) for line in out.splitlines()])
        elif wanted:
            hold_lines(wanted, out.splitlines())

    def refused(self, words, block):
        before = commands.contents(Path())
        for line in block:
            more, _, wanted = line.rpartition(" => ")
            status, *said = wanted.split(" ", 1)
            code, out, err = self.told(f"{words} {more}")
            assert (str(code), out) == (status, "") and all(some in err for text in said for some in text.split(" ... ")), err
            assert commands.contents(Path()) == before

    def ends(self, words, block):
        status, words = words.split(" ", 1)
        self.run(words, block, int(status))
        gc.collect()  # as if a process had ended, and with it its locks

    def silent(self, words, block):
        assert self.told(words) == (0, "", "")

    def says(self, name, block):
        text = Path(name).read_text()
        assert not [words for words in block if words not in text], text

    def holds(self, name, block):
        path = Path(name)
        if path.is_dir() or name.endswith(ROWS):
            hold_rows(block, rows_of(path))
        else:
            hold_lines(block, read(path).decode().splitlines())

    def same(self, names, block):
        assert len({read(Path(name)) for name in names.split()}) == 1

    def absent(self, names, block):
        assert not [name for name in names.split() if os.path.lexists(name)]

    def remove(self, name, block):
        shutil.rmtree(name) if os.path.isdir(name) else os.remove(name)


class StepsAtStore(Steps):
    """Inputs, and folders that are written, lie in a bucket while a command runs; what it says is of names in the folder again."""

    def __init__(self, captured):
        super().__init__(captured)
        self.bucket = object_store.new_bucket()
        self.root = f"{self.bucket}".rstrip("/") + "/"

    def addressed(self, word, before):
        is_input = glob(word) and (not before.startswith("-") or before == "--against")
        is_folder = before in ("-o", "--save-sketches") and not {*".:-"} & {*word}
        return f"{self.root}{word}" if is_input or is_folder else word

    def told(self, words):
        given = shlex.split(words)
        here = {str(path): content for path, content in commands.contents(Path()).items()}
        there = object_store.held(self.bucket)
        for name in here.keys() | there.keys():
            if name not in here:
                (self.bucket / name).unlink()
            elif here[name] != there.get(name):
                (self.bucket / name).write_bytes(here[name])
        code, *texts = commands.run(self.captured, *map(self.addressed, given, ["", *given]))
        after = object_store.held(self.bucket)
        for name in here.keys() - after.keys():
            os.unlink(name)
            with suppress(OSError):
                os.removedirs(os.path.dirname(name))
        for name, content in after.items():
            if content != here.get(name):
                made(name).write_bytes(content)
        for path, content in commands.contents(Path()).items():
            if self.root.encode() in content and path.suffix in (".jsonl", ".csv"):
                path.write_bytes(content.replace(self.root.encode(), b""))
        return code, *(text.replace(self.root, "") for text in texts)


STEPS = (
    "file", "bytes", "sql", "zip", "pdf", "warc", "run", "ends", "refused", "holds", "says", "equals",
    "silent", "same", "absent", "remove", "needs", "disk",
)  # fmt: skip
BLOCKS = STEPS[:12]


def job_of(kind, steps):
    def job(tmp_path, monkeypatch, capfd):
        prepare(kind, monkeypatch)
        (tmp_path / WORK).mkdir()
        monkeypatch.chdir(tmp_path / WORK)
        with object_store.environment() if kind == "store" else nullcontext():
            doing = (StepsAtStore if kind == "store" else Steps)(capfd)
            for line, word, rest, block in steps:  # noqa: B007 -- a failure shows the line
                getattr(doing, word)(rest, block)

    return job


def is_for_stores(step):
    _, word, rest, block = step
    ran = {"run": [rest], "silent": [rest], "ends": [rest.partition(" ")[2]], "refused": [f"{rest} {line}" for line in block]}
    return word not in ("disk", "sql") and all(
        one.split()[0] in AT_STORE and not {"--history", "--overrides"} & {*one.split()} for one in ran.get(word, ())
    )


class JobFile(pytest.File):
    def collect(self):
        for fact, _, steps in parse(self.path.read_text()):
            kinds = KINDS if all(map(is_for_stores, steps)) else KINDS[:-1]
            for place, kind in enumerate(kinds):
                made = pytest.Function.from_parent(self, name=f"{fact} [{kind}]", callobj=job_of(kind, steps))
                if (zlib.crc32(fact.encode()) + place) % len(kinds):
                    made.add_marker(pytest.mark.slow)
                yield made


def pytest_collect_file(parent, file_path):
    return JobFile.from_parent(parent, path=file_path) if file_path.suffix == ".job" else None
