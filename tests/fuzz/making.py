"""Small corpora in every format, and the damage that files suffer, from a seed."""

import csv
import gzip
import io
import json
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq

WORDS = [
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "rho", "straße", "ÉCOLE", "東京", "日本語", "々〇",
    "ﬁne", "İ", "ét", "ภาษาไทย", "\u202e", "ab\x00cd", "👍🏽", "naïve", "한", "ガ", "x\ud7ffy",
]  # fmt: skip
VALUES = (1, 1.0, 1.5, None, 10**30, -1, -0.0, "x", "1", "", True, False, [1, 2], {"a": 1}, 1e308, 2**53 + 1, 2.0**53)
KINDS = ("jsonl", "jsonl", "jsonl.gz", "jsonl.zst", "csv", "csv", "txt", "parquet", "parquet")


@dataclass
class Case:
    seed: int
    kind: str
    folder: Path
    inputs: list
    against: list
    settings: dict
    damaged: bool


def text(r):
    if r.random() < 0.15:
        return r.choice(["", " \t\n", "…", "\u00a0"])
    joint = r.choice([" ", " ", "  ", "\n", ", ", "\r\n", "\u3000"])
    return joint.join(r.choices(WORDS, k=r.choice([1, 2, 4, 5, 6, 20, 60])))


def rows(r, n, first=0):
    out, mixed = [], r.random() < 0.3
    for i in range(first, first + n):
        words = r.choice(out)["text"] if out and r.random() < 0.5 else text(r)
        if out and r.random() < 0.3:
            words += r.choice([" extra", "東", "!", " \n", "e"])
        id = r.choice([f"d{i}", f"d{i}", f"id\n{i}", f'q"{i}', f"c\r{i}", f"é,{i}"])
        out.append({"id": id, "text": words, "n": r.choice(VALUES if mixed else [0, 1, 2, 2.5, None])})
    return out


NASTY = (
    b"\x00", b"\\ud800", b"\\udc00\\ud800", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\x80", b"NaN", b"Infinity", b"-0", b"1e999",
    b"9" * 400, b"9" * 5000, b'"', b'""', b",", b"\\", b"[" * 2000, b'{"a":' * 3000, b"\x1a", b"\x0c", b"/*", b"\\u0000", b"\r",
)  # fmt: skip
STARTS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xef\xbb\xbf\xef\xbb\xbf", b"\n", b"\r\n", b"\x00")
BREAKS = (b"\r\n", b"\r", b"\n\n", b"\n \n", b"\x0b\n", b"\xc2\x85", b"\xe2\x80\xa8")
REPLACED = (
    (b'"text"', (b'"text","text"', b'"Text"', b'"te\\u0078t"', b'"keep"', b'"duplicate_of"', b'""', b'"text" ')),
    (
        b"}",
        (b',"keep":1}', b',"text":"again"}', b", }", b"} ", b"}}", b"}\t", b',"cluster":null}', b'} {"text":"x"}', b',"":1}'),
    ),
    (b":", (b" : ", b"\t:", b"::", b':null,"z":')),
)


def damage(r, data):
    for _ in range(r.choice([1, 1, 1, 2])):
        at = r.randrange(len(data) + 1)
        before, after = data[:at], data[at:]
        match r.randrange(13):
            case 0:
                data = before
            case 1 if after:
                data = before + bytes([after[0] ^ (1 << r.randrange(8))]) + after[1:]
            case 2:
                data = before + r.randbytes(r.choice([1, 2, 8])) + after
            case 3:
                data = before + after[r.choice([1, 4, 50]) :]
            case 4:
                data = before + data
            case 5:
                data = r.choice(STARTS) + data
            case 6:
                data = data.replace(b"\n", r.choice(BREAKS))
            case 7:
                data = before + r.choice(NASTY) + after
            case 8 | 9 | 10:
                old, new = r.choice(REPLACED)
                data = data.replace(old, r.choice(new), r.choice([1, -1]))
            case 11 if r.random() < 0.3:
                data = data.decode("utf-8", "replace").encode(r.choice(["utf-16", "utf-16-le", "latin-1", "utf-32"]), "replace")
            case 12:
                data += r.choice([b"\n", b" ", b"\r", b"\x00" * 100, data])
    return data


def as_jsonl(r, records):
    lines = (json.dumps(record, ensure_ascii=r.random() < 0.5).encode("utf-8", "surrogatepass") for record in records)
    return b"".join(line + b"\n" for line in lines)


def as_csv(r, records):
    names, out = r.sample(["id", "text", "n"], 3), io.StringIO()
    how = {"lineterminator": r.choice(["\n", "\r\n"]), "quoting": r.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])}
    writer = csv.DictWriter(out, names, **how)
    writer.writeheader()
    for record in records:
        writer.writerow({name: v.replace("\x00", "") if isinstance(v, str) else v for name, v in record.items()})
    return out.getvalue().encode()


TEXT_TYPES = (
    pa.string(),
    pa.string(),
    pa.large_string(),
    pa.string_view(),
    pa.binary(),
    pa.dictionary(pa.int32(), pa.string()),
)


def write_parquet(r, records, path):
    ids, texts, numbers = ([record[name] for record in records] for name in ("id", "text", "n"))
    texts, kind, columns = pa.array(texts, pa.string()), r.choice(TEXT_TYPES), {"id": pa.array(ids, pa.string())}
    if r.random() < 0.3:  # before the text: the leaves of a nested column shift those after it
        nested = pa.struct([("x", pa.int64()), ("y", pa.list_(pa.int64()))])
        columns["nested"] = pa.array([{"x": i, "y": [i, None]} for i in range(len(records))], nested)
    columns["text"] = texts.dictionary_encode() if pa.types.is_dictionary(kind) else texts.cast(kind)
    small = all(v is None or (type(v) in (int, float) and abs(v) < 2**53) for v in numbers)
    numbers = [None if v is None else float(v) if small else json.dumps(v) for v in numbers]
    columns["n"] = pa.array(numbers, pa.float64() if small else pa.string())
    how = {
        "row_group_size": (1, 2, 100),
        "compression": ("snappy", "none", "zstd", "gzip", "brotli", "lz4"),
        "use_dictionary": (False, True),
        "data_page_version": ("1.0", "2.0"),
    }
    pq.write_table(pa.table(columns), path, **{name: r.choice(values) for name, values in how.items()})


def compressed(r, kind, data):
    at = r.randrange(len(data) + 1) if r.random() < 0.5 else 0
    pack = {"gz": gzip.compress, "zst": partial(pa.Codec("zstd").compress, asbytes=True)}.get(kind.rpartition(".")[2])
    return data if pack is None else (pack(data[:at]) if at else b"") + pack(data[at:])


def settings(r, kind):
    """Bands of one row find every pair of half resemblance but one in 10^19."""
    words = {
        "threads": (1, 1, 1, 2), "threshold": (0.5, 0.6, 0.8, 1.0), "encoding_errors": ("strict", "strict", "replace"),
        "empty": ("keep", "drop"), "unit": ("word", "word", "char", "line"), "width": (None, 1, 3),
        "normalization": ("NFC", "NFC", "none", "NFKC"), "keep": ("first", "last", "longest", "shortest"),
    }  # fmt: skip
    out = {name: r.choice(values) for name, values in words.items()} | {"bands": 64, "rows": 1}
    if kind != "txt":
        if r.random() < 0.25:
            out["keep"] = r.choice(["largest:n", "smallest:n", "n:x,2.5, 1;largest:n", "longest; n:true,0; smallest:n; last"])
        more = (("id", "id", 0.4), ("within", "n", 0.25), ("key", "n", 0.15), ("across", "n", 0.15))
        out |= {name: column for name, column, share in more if r.random() < share}
    if r.random() < 0.35:  # samples of which one shingle is enough, or all are needed, find every pair but one in 10^9
        out |= {"measure": "containment", "recall": 1 - 1e-9, "floor": r.choice([0, 0, 0.3, 0.6])}
        del out["bands"], out["rows"]
    if r.random() < 0.2:
        out["counts"] = True
    return out


def ignored(r, records):
    words = r.choice(records)["text"].split(" ")
    begin = r.randrange(len(words))
    return [" ".join([*words[begin:], r.choice(["alpha", "beta"])]), *([text(r)] if r.random() < 0.3 else [])]


def write_file(r, kind, records, path, damaged):
    if kind == "parquet":
        write_parquet(r, records, path)
        data = path.read_bytes()
    elif kind == "txt":
        data = records[0]["text"].replace("\x00", "").encode("utf-8", "surrogatepass")
    else:
        plain = as_csv(r, records) if kind == "csv" else as_jsonl(r, records)
        inside = damaged and (kind in ("csv", "jsonl") or r.random() < 0.6)
        data, damaged = compressed(r, kind, damage(r, plain) if inside else plain), damaged and not inside
    path.write_bytes(damage(r, data) if damaged else data)


def make(seed, folder):
    r = Random(seed)
    kind = r.choice(KINDS)
    case = Case(seed, kind, folder, [], [], settings(r, kind), damaged=r.random() < (0.2 if kind == "parquet" else 0.5))
    made = rows(r, r.choice([0, 1, 2, 3, 8, 8, 8, 20, 20, 20]))
    if made and r.random() < 0.2:
        case.settings["ignore"] = ignored(r, made)
    places = [("in", made, case.inputs)]
    if r.random() < 0.4:
        again = [dict(record, id=f"r{i}") for i, record in enumerate(made) if r.random() < 0.15]
        places.append(("reference", rows(r, r.choice([0, 1, 4]), 1000) + again, case.against))
    for name, records, paths in places:
        (folder / name).mkdir()
        n_files = min(6, len(records)) if kind == "txt" else r.choice([1, 1, 2]) if name == "in" else 1
        share = 1 if kind == "txt" else -(-len(records) // n_files)
        for i in range(n_files):
            path, damaged = folder / name / f"{i}.{kind}", case.damaged and i == 0 and (name == "in" or kind == "txt")
            write_file(r, kind, records[i * share : (i + 1) * share], path, damaged)
            paths.append(path)
    if not case.inputs:
        (folder / "in" / "0.txt").write_text("one lonely document")
        case.inputs.append(folder / "in" / "0.txt")
    return case
