"""Folders as a stranger could write them: one value is another, all checksums fit."""

import copy
import json
import os
import shutil
from contextlib import closing
from hashlib import blake2b
from zlib import crc32

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from commands import call
from json_lines import write_lines
from judging import expect
from stores import Folders, left_by_a_dead

import lookalike as la
from lookalike.files.descriptions import encoded
from lookalike.serve.desk_job import Desk, Wanted

BASE = " ".join(f"w{i}" for i in range(30))
ROWS = [{"id": f"d{i}", "text": f"{BASE}{' x' * (i % 4)} y{i % 5}", "n": i} for i in range(12)]
ROWS += [{"id": f"e{i}", "text": "" if i else "else", "n": i} for i in range(3)]
WHOLE = (-1, 0, 1, 2, 7, 1 << 31, 1 << 40, (1 << 63) - 1, -(1 << 63), 1 << 70)
ODD = (*WHOLE, None, True, False, 0.5, -1.5, 1e308, float("nan"), float("inf"), "", "x", "\0", "é\u202e", "../x", "/dev/zero", "s3://no-bucket-of-ours/x",
       "9" * 400, "exact", [], [[]], {}, {"x": 1}, [1, "x"])  # fmt: skip
JOBS = {
    "keepers": {"id": "id", "empty": "drop"}, "all": {"id": "id", "evidence": "all", "overrides": [{"id": "d2", "action": "keep"}]},
    "sketch": {"verify": "sketch"}, "simhash": {"method": "simhash", "radius": 12, "threshold": 0.6},
}  # fmt: skip


def places_in(value, path=()):
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield (*path, key)
        yield from places_in(inner, (*path, key))


def other_json(r, said):
    said = copy.deepcopy(said)
    *way, last = r.choice(list(places_in(said)))
    inside = said
    for key in way:
        inside = inside[key]
    match r.randrange(5):
        case 0:
            del inside[last]
        case 1 if isinstance(inside, list):
            inside.append(copy.deepcopy(inside[last]))
        case 1 | 2 if type(inside[last]) is int:
            inside[last] += r.choice([-1, 1, 1000])
        case _:
            inside[last] = r.choice(ODD)
    return said


OTHER_TYPES = (
    (pa.string(), "zz"), (pa.int32(), 1), (pa.float64(), 0.5), (pa.bool_(), True), (pa.large_binary(), b"\xff"),
    (pa.list_(pa.int64()), [1]), (pa.timestamp("us"), 1), (pa.decimal128(5, 2), 1),
)  # fmt: skip


def other_column(r, column):
    n, kind = len(column), column.type
    one = r.randrange(max(n, 1))
    match r.randrange(8):
        case 0:
            return pa.nulls(n, kind)
        case 1:
            return pc.if_else(pa.array([i == one for i in range(n)]), pa.nulls(n, kind), column)
        case 2:
            return column.take(pa.array(r.choices(range(n), k=n), pa.int64())) if n else column
        case 3 if pa.types.is_integer(kind):
            return pa.array([r.choice(WHOLE[:-1]) if i == one else v for i, v in enumerate(column.to_pylist())], kind)
        case 4 if pa.types.is_floating(kind):
            return pa.array(r.choices([float("nan"), -1.0, 2.0, float("inf")], k=n), kind)
        case 5 if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            offsets = np.arange(n + 1, dtype=np.int32)
            return pa.Array.from_buffers(pa.string(), n, [None, pa.py_buffer(offsets), pa.py_buffer(b"\xff" * n)])
        case 6 if pa.types.is_fixed_size_binary(kind):
            width = r.choice([kind.byte_width - 1, kind.byte_width + 8, 8])
            return pa.array([r.randbytes(width) for _ in range(n)], pa.binary(width))
    kind, value = r.choice(OTHER_TYPES)
    return pa.array([value] * n, kind)


def other_table(r, table):
    n, at = table.num_rows, r.randrange(table.num_columns)
    match r.randrange(10):
        case 0:
            return table.slice(r.randrange(n + 1))
        case 1:
            return pa.concat_tables([table, table.slice(0, 1)])
        case 2:
            return table.take(pa.array(r.sample(range(n), n), pa.int64()))
        case 3:
            return table.remove_column(at)
        case 4:
            return table.append_column(r.choice([table.schema.names[at], "more"]), table.column(at))
    return table.set_column(at, table.schema.names[at], other_column(r, table.column(at).combine_chunks()))


class Crafted(Folders):
    kinds = (*JOBS, *JOBS, *["week", "work", "made index"], *["history"] * 3, *["history texts"] * 2)

    def __init__(self, folder):
        super().__init__(folder)
        os.environ["XDG_STATE_HOME"] = str(folder / "state")
        self.new = folder / "new.jsonl"
        for name in ("in", "notes"):
            (folder / name).mkdir()
        write_lines(folder / "in/a.jsonl", ROWS)
        write_lines(self.new, (row | {"id": f"n{row['id']}"} for row in ROWS[::2]))
        for i, row in enumerate(ROWS[:5]):
            (folder / f"notes/{i}.txt").write_text(row["text"])
        for name, given in JOBS.items():
            data = [folder / "in"] if "id" in given else [folder / "in", folder / "notes"]
            la.dedup(data, against=self.new if name == "keepers" else None, threads=1, **given).save(folder / name)
        la.dedup([folder / "in", folder / "notes"], threads=1, counts=True).save_sketches(folder / "history")
        la.dedup(pa.Table.from_pylist(ROWS), id="id", threads=1).save_sketches(folder / "history texts")
        la.dedup(self.new, against=folder / "history", threads=1).save(folder / "week")
        with la.Index.create(folder / "made index", threshold=0.7) as index:
            index.add([row["id"] for row in ROWS], [row["text"] for row in ROWS])
        left_by_a_dead(lambda: la.dedup(folder / "in", threads=1, work=folder / "work"))

    def change(self, r, kind, target):
        path = target / {"made index": "manifest", "work": "job.json"}.get(kind, "result.json")
        path = path if path.exists() else target / "sketches.json"
        data = path.read_bytes()
        said = json.loads(data[9:] if kind == "made index" else data)
        if kind == "made index":
            body = json.dumps(other_json(r, said)).encode()
            path.write_bytes(b"%08x\n" % crc32(body) + body)
        elif kind == "work":
            said = other_json(r, {name: said[name] for name in ("job", "token")})
            checked = json.dumps([said.get(name) for name in ("job", "token")], sort_keys=True).encode()
            path.write_text(json.dumps(said | {"crc32": crc32(checked)}))
        else:
            said = other_json(r, said) if r.random() < 0.5 else self._change_table(r, target, said)
            said = {name: value for name, value in said.items() if name not in ("checksum", "seal")}
            own = r.random() < 0.7  # the seal of this user, or a wrong one
            path.write_bytes(encoded(said if own else said | {"seal": "0" * 32}, own))
        return True

    @staticmethod
    def _change_table(r, target, said):
        path = r.choice(sorted(path for path in target.iterdir() if path.suffix == ".parquet"))
        try:
            pq.write_table(other_table(r, pq.read_table(path)), path)
        except (pa.ArrowException, OverflowError, ValueError):  # what cannot be written, nobody can send
            return said
        n = pq.read_metadata(path).num_rows
        if (target / "result.json").exists():
            said["files"][path.name]["blake2b"] = blake2b(path.read_bytes()).hexdigest()
        elif path.name.endswith("counts.parquet"):
            said["counts"]["of"][-1]["rows"] = n
        elif r.random() < 0.9:
            said["inputs"][-1]["rows"] += n - said["files"][0]["rows"]
            said["files"][0] |= {"bytes": path.stat().st_size, "rows": n}
        return said

    def _command(self, *line):
        code, _, err = call([str(word) for word in line])
        expect(code in (0, 1, 2), f"exit status {code}", line, err)
        if code:
            expect(err.strip(), "a failure without a message", line)
            raise la.errors.InputDataError(err)

    def _result(self, r, target, *_):
        folder = target.parent
        match r.randrange(6):
            case 0:
                self._command("show", target, *r.choice([[], ["--json"]]))
            case 1:
                name = r.choice(["d1", "d3", "nd2", f"{self.folder}/in/a.jsonl:2", f"{self.folder}/notes/1.txt", "nobody"])
                self._command("show", target, name, "--trust", self.folder, *r.choice([[], ["--json"], ["--no-texts"]]))
            case 2:
                la.Result.load(target, trust=self.folder).report(folder / "page.html", texts=r.choice(["full", "none", "hash"]))
            case 3:
                with closing(Desk(target, [str(self.folder)])) as desk:
                    desk.about()
                    for row in desk.list_removals(Wanted(order=r.choice(["random", "group"])), 0, 20)["rows"][:3]:
                        desk.pair(row["row"])
                    desk.report()
            case _:
                result = la.Result.load(target, trust=r.choice([(), self.folder]))
                for name in ("keep", "kept", "removed", "groups", "pairs", "clusters", "annotations", "decisions"):
                    value = getattr(result, name)
                    if isinstance(value, pa.Table):
                        value.to_pylist()
                result.sample(3), result.least_alike(3), str(result.summary), result._repr_html_(), result.by_input()
                if result.evidence == "all":
                    result.rethreshold(max(result.threshold, 0.9))
                result.save(folder / "again")
                la.Result.load(folder / "again", trust=self.folder)

    _keepers = _all = _sketch = _simhash = _week = _result

    def _history(self, r, target, *_):
        folder = target.parent
        ids = ["--id", "id"] if target.name == "history texts" else []
        job = [self.new, "--against", target, "--set", f"trust={self.folder}", "--quiet", "--threads", "1", *ids]
        if r.random() < 0.3:
            for name in ("1", "2"):
                shutil.copytree(target, folder / "weeks" / name)
            for command in r.choice([["counts"], ["check", "counts"], ["compact", "counts"]]):
                self._command("history", command, folder / "weeks")
        elif r.random() < 0.3:
            self._command("pairs", *job)
        else:
            counts, out = r.choice([[], ["--set", "counts=true"]]), folder / "out.jsonl"
            self._command("dedup", *job, *counts, "--annotate", "-o", out, "--set", f"save_sketches={folder / 'next'}")

    def _work(self, r, target, *_):
        self._command("dedup", self.folder / "in", "--threads", "1", "--work", target, "--quiet")

    def _made(self, r, target, *_):
        with la.Index.open(target, r.choice(["read", "write"])) as index:
            index.query([ROWS[0]["text"]])
            list(index.export())
            index.check()
        self._command("index", r.choice(["info", "check"]), target)
