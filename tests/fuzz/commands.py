"""Command lines of all commands with values that nobody should give: each ends with 0, 1 or 2, and says why."""

import contextlib
import io
import json
import os
import shutil
from random import Random

import click
from json_lines import write_lines
from judging import expect

from lookalike.cli.main import main, program

NUMBERS = ("0", "1", "-1", "0.5", "1.0", "0.9999999999", "2", "7", "64", "nan", "inf", "-inf", "1e-9", "1e400", "", " ", "x", "1_0", "١", "0x10",
           "99999999999999999999999", "-0.0", "1e3", "8")  # fmt: skip
SIZES = ("0", "1", "-5GB", "500MB", "1GB", "1e400", "nan", "4 GiB", "GB", "", "10000000000000GB", "1.5.5GB", "512MiB")
NAMES = ("text", "id", "n", "nope", "", "keep", "duplicate_of", "text,id", "te\nxt", "'", "\x1b[31m", "é", "x" * 300)
POLICIES = ("first", "last", "longest", "shortest", "largest:n", "smallest:n", "largest:", "largest", "largest:nope", "smallest:text", "", "best", "n:1,2; longest", "n:", "n:1;;last", "last; n:1",
            "largest:id:n")  # fmt: skip


def corpus(folder):
    rows = [{"id": f"d{i}", "text": f"one two three four five six seven {i % 3}", "n": i} for i in range(6)]
    for name in ("notes", "empty"):
        (folder / name).mkdir()
    write_lines(folder / "a.jsonl", rows)
    files = {
        "empty.jsonl": "", "broken.jsonl": '{"text": "one two\n',
        "b.csv": "id,text,n\n" + "".join(f"{r['id']},{r['text']},{r['n']}\n" for r in rows),
        "overrides.jsonl": '{"id": "d1", "action": "keep"}\n', "notes/image.png": "\x89PNG\r\n\x1a\n\x00\x00", "binary.txt": "".join(map(chr, range(256))),
    }  # fmt: skip
    for name, text in (files | {f"notes/{row['id']}.txt": row["text"] for row in rows}).items():
        (folder / name).write_bytes(text.encode("latin-1"))
    (folder / "link.jsonl").symlink_to("nowhere")
    (folder / "loop").symlink_to("loop")


PATHS = ("a.jsonl", "b.csv", "notes", "empty.jsonl", "empty", "broken.jsonl", "binary.txt", "link.jsonl", "loop", "nope.jsonl", "*.jsonl", "**/*", "",
         "a.jsonl/x", "/dev/null", "a.jsonl", "notes", "\x00", "x" * 300, "ix", "out", ".", "..")  # fmt: skip
OUTPUTS = ("out.jsonl", "out.jsonl.gz", "out.jsonl.zst", "out.csv", "out.parquet", "out", "out/", "a.jsonl", "notes", "notes/out", "no/such/out.csv",
           "out.txt", "out.json", "", "x" * 300, "/dev/null", "a.jsonl/out", "out\n.jsonl", "link.jsonl", "loop")  # fmt: skip


ODD = {  # values of options, and what stands for an index, a saved result, a folder of generations, and what is in them
    **dict.fromkeys(("output", "matches", "listed", "report", "save", "save_sketches"), OUTPUTS),
    **dict.fromkeys(("against", "source", "overrides", "trust", "history", "ignore"), PATHS),
    **dict.fromkeys(("text", "within", "across", "key", "against_text", "against_id", "glob"), (*NAMES, "*.txt", "**", "/abs/*", "[")),
    "work": ("work", "notes", "a.jsonl", "", "work/deeper", "loop", "empty"), "keep": POLICIES, "memory": SIZES,
    "path": ("new", "notes", "a.jsonl", "", "nope"), "result": ("new", "notes", "a.jsonl", "", "nope", "ix"),
    "folder": ("new", "notes", "a.jsonl", "", "nope", "ix", "history/000001"), "name": ("nope", "", "..", "\x1b[31m"),
    "id": (*NAMES, "*.txt", "[", "d", "-1"),
}  # fmt: skip
SOUND = {
    "threads": "1", "output": "out.jsonl", "against": "b.csv", "matches": "matches.csv", "listed": "listed.csv", "within": "n", "across": "n", "ignore": "notes/d0.txt", "key": "n",
    "id": "id", "keep": "largest:n", "memory": "500MB", "work": "work", "source": "notes/d0.txt", "glob": "*",
    "report": "page.html", "save": "saved", "save_sketches": "sketched", "trust": ".", "history": "history", "overrides": "overrides.jsonl", "fail_if_removed": "1", "query": "select * from t", "permutations": "64", "format": "jsonl", "preset": "web", "config": "empty.jsonl", "set": "width=3",
    "path": "ix", "result": "job", "folder": "history", "name": "000001", "left": "notes/d0.txt", "right": "notes/d1.txt",
}  # fmt: skip


def given_for(r, parameter, odd):
    name = parameter.name
    if parameter.param_type_name == "argument":
        if name == "ids":
            return r.sample(["d1", "d2", "nope", "", "-1"], 2)
        if odd:
            return [r.choice(ODD[name])] if name in ODD else r.choices(PATHS, k=r.choice([1, 2]))
        return [r.choice(["d1", "d4"]) if name == "id" else SOUND.get(name) or r.choice(["a.jsonl", "b.csv", "notes"])]
    if parameter.is_flag and not parameter.hidden:
        return [r.choice(parameter.opts)]
    choices = tuple(getattr(parameter.type, "choices", ())) or ("true", "false") * parameter.is_flag
    if choices and r.random() < 0.9:
        value = r.choice(choices)
    elif odd:
        value = r.choice(ODD.get(name, NUMBERS))
    else:
        value = SOUND.get(name) or ("2" if isinstance(parameter.type, click.types.IntParamType) else r.choice(["1", "0.5"]))
    return ["--set", f"{name}={value}"] if parameter.hidden else [r.choice(parameter.opts), value]


def arguments(r, path, command):
    odd = {parameter.name for parameter in r.choices(command.params or [None], k=r.choice([0, 1, 1, 2, 3])) if parameter}
    likely = {} if path == ["show"] else {"threads": 1.0, "output": 0.5, "force": 0.4, "against": 0.3}
    out = list(path)
    for parameter in command.params:
        if parameter.name == "help":
            continue
        spare = (*path, parameter.name) in (("show", "id"), ("plan", "inputs")) and r.random() < 0.5
        optional = parameter.param_type_name == "option" or spare
        needed = parameter.required or parameter.name in odd or not optional
        if needed or r.random() < likely.get(parameter.name, min(0.06, 2 / len(command.params))):
            out += given_for(r, parameter, parameter.name in odd)
    return [argument for argument in out if "\x00" not in argument]


def commands():
    for name, command in program.commands.items():
        for below, one in getattr(command, "commands", {}).items():
            yield [name, below], one
        if not hasattr(command, "commands") and name not in ("info", "serve"):  # these take long
            yield [name], command


def call(line):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(line)
        except SystemExit as stop:
            return int(stop.code or 0), out.getvalue(), err.getvalue()
    raise AssertionError("the program did not end")


class Commands:
    def __init__(self, folder):
        folder.mkdir(parents=True)
        corpus(folder)
        self.folder, self.commands = folder, list(commands())
        os.environ["XDG_CACHE_HOME"], os.environ["XDG_STATE_HOME"] = str(folder / "cache"), str(folder / "state")
        with contextlib.chdir(folder):
            for line in (
                "dedup a.jsonl --id id --save job", "dedup b.csv --history history -o kept.jsonl --set counts=true",
                "index create ix --keep-text", "index add ix a.jsonl --id id",
            ):  # fmt: skip
                call(line.split())

    def judge(self, seed, folder):
        shutil.copytree(self.folder, folder, symlinks=True, dirs_exist_ok=True)
        r = Random(seed)
        words, command = r.choice(self.commands)
        line = arguments(r, words, command)
        sound = {
            path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and not {"ix", "history"} & {*path.parts}
        }
        with contextlib.chdir(folder):
            code, out, err = call(line)
        expect(code in (0, 1, 2), f"exit status {code}", line, err)
        expect(code == 0 or err.strip(), "a failure without a message", line)
        if "--json" in line and "--print-config" not in line and code == 0:
            for said in out.splitlines() if words in (["show"], ["history", "list"], ["history", "counts"]) else [out]:
                json.loads(said)
        named = [word.removeprefix("save_sketches=") for word in line]
        outputs = {folder / word for word in named} | {folder / f"{word}_lookalike.json" for word in named}
        for path, data in sound.items():
            replaced = "--force" in line and any(path == o or o in path.parents for o in outputs)
            expect(replaced or (path.exists() and path.read_bytes() == data), "a file was changed", str(path), line)
        return " ".join(words), "result" if code == 0 else f"refused: {code}"
