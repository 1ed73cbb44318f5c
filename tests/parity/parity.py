"""What every row was decided to be, over corpora and settings, as digests: a change of structure must change none of them.

``parity.py check [NAME ...]`` compares with the record and names the blocks of rows that differ; ``parity.py record`` writes it anew;
``parity.py rows NAME`` prints the decisions of one entry, so that those of two versions of the program can be compared.
"""

import gzip
import json
import sys
import tempfile
from contextlib import closing
from hashlib import blake2b
from itertools import zip_longest
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

import lookalike as la

sys.path[:0] = [str(Path(__file__).parent)]
from made import MADE, REAL, corpus  # noqa: E402

RECORD = Path(__file__).with_name("record.json")
BLOCK = 1024
EVERYWHERE = {
    "default": {},
    "half": {"threshold": 0.5},
    "longest": {"threshold": 0.7, "keep": "longest"},
    "against": {"against": True, "threshold": 0.7},
}
ON_MADE = {
    "last": {"keep": "last"},
    "shortest": {"keep": "shortest"},
    "largest": {"keep": "largest:score"},
    "smallest": {"keep": "smallest:score", "threshold": 0.9},
    "within": {"within": "site"},
    "within and against": {"within": "site", "against": True, "keep": "longest"},
    "drop": {"empty": "drop"},
    "sketch": {"verify": "sketch"},
    "simhash": {"method": "simhash", "radius": 6, "threshold": 0.9},
    "simhash sketch": {"method": "simhash", "verify": "sketch", "threshold": 0.9},
    "characters": {"unit": "char", "width": 4, "threshold": 0.6},
    "lines": {"unit": "line", "threshold": 1.0},
    "NFKC": {"normalization": "NFKC", "fold_case": False, "width": 2},
    "bands": {"bands": 20, "rows": 3, "threshold": 0.4, "seed": 7},
    "disk": {"memory": "390MB", "work": True},
}


def entries():
    """{name: (corpus, settings)}"""
    found = {f"{c} · {s}": (c, EVERYWHERE[s]) for c in (*MADE, *REAL) for s in EVERYWHERE}
    made = list(MADE)
    for i, (name, settings) in enumerate(ON_MADE.items()):
        for c in (made[i % len(made)], made[(i + 2) % len(made)]):
            found[f"{c} · {name}"] = (c, settings)
    return found | {f"scripts · {name}": ("scripts", {"file": name}) for name in ("jsonl", "jsonl.gz", "csv", "parquet", "txt")}


def there():
    return [name for name, (which, _) in entries().items() if corpus(which) is not None]


def write(data, form, folder):
    """Text files hold the texts alone, and are named by their rows."""
    path = folder / f"corpus.{form}"
    if form == "parquet":
        pq.write_table(data, path)
    elif form == "csv":
        pc.write_csv(data, path)
    elif form == "txt":
        path.mkdir()
        for i, text in enumerate(data["text"].to_pylist()):
            (path / f"{i:05}.txt").write_text(text, newline="")
    else:
        lines = b"".join(json.dumps(row).encode() + b"\n" for row in data.to_pylist())
        path.write_bytes(gzip.compress(lines) if form.endswith("gz") else lines)
    return path


def decide(name, threads=1):
    which, given = entries()[name]
    data, settings, reference = corpus(which), dict(given), None
    if settings.pop("against", False):
        reference, data = data.slice(0, len(data) // 4), data.slice(len(data) // 4)
    form = settings.pop("file", "parquet" if "work" in settings else None)
    with tempfile.TemporaryDirectory(prefix="lookalike-parity-") as folder:
        if "work" in settings:
            settings["work"] = Path(folder) / "work"
        settings |= {"threads": threads, "id": None if form == "txt" else "id"}
        source = write(data, form, Path(folder)) if form else data
        with closing(la.dedup(source, against=reference, **settings)) as result:
            removed, keep = result.removed, result.keep
    ids, names = data["id"].to_pylist(), removed["duplicate_of"].to_pylist()
    if form == "txt":
        names = [ids[int(Path(name).stem)] for name in names]
    score = next(c for c in ("resemblance", "estimated_resemblance", "cosine", "estimated_cosine") if c in removed.column_names)
    of_removed = zip(names, removed[score].to_pylist(), strict=True)
    of, scores = zip(*((None, float("nan")) if stays else next(of_removed) for stays in keep.tolist()), strict=True)
    return pa.table(
        {"id": ids, "keep": keep, "duplicate_of": pa.array(of, pa.string()), "score": pa.array(scores, pa.float64())}
    )


def digests(decisions):
    lines = [f"{r['id']}\t{r['keep']}\t{r['duplicate_of']}\t{r['score'].hex()}\n" for r in decisions.to_pylist()]
    blocks = ("".join(lines[first : first + BLOCK]) for first in range(0, len(lines), BLOCK))
    return [blake2b(block.encode(), digest_size=6).hexdigest() for block in blocks]


def differences(name, threads=1):
    pairs = enumerate(zip_longest(json.loads(RECORD.read_text())[name], digests(decide(name, threads))))
    places = [f"{i * BLOCK}-{(i + 1) * BLOCK - 1}" for i, (wanted, found) in pairs if found != wanted]
    return [f"{name}: rows {', '.join(places)} differ"] if places else []


def main(arguments):
    match arguments:
        case ["record"]:
            record = {name: digests(decide(name)) for name in there()}
            RECORD.write_text(json.dumps(record, indent=0, ensure_ascii=False) + "\n")
        case ["check", *names]:
            names = names or there()
            found = [line for name in names for line in differences(name)]
            print("\n".join(found) or f"{len(names)} entries, no row differs")
            return bool(found)
        case ["rows", name]:
            print(*decide(name).to_pylist(), sep="\n")
        case _:
            print(__doc__)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
