"""What a job must decide, from its definition, slowly: files read by the standard library, decisions of the naive twin."""

import csv
import gzip
import io
import json
import re
import sys
import zlib
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import pyarrow as pa
import pyarrow.parquet as pq
from naive.dedup import dedup, differ, shingles

csv.field_size_limit(sys.maxsize)
MARKS = {b"\xff\xfe\0\0": "utf-32", b"\0\0\xfe\xff": "utf-32", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
WIDTHS = {"word": 5, "char": 5, "byte": 8, "line": 1}


class UnreadableError(Exception):
    """The file is not what its name says, by the strictest reading: the program has to refuse it, or explain itself."""


class UndecidedError(Exception):
    """Values that Python's reader cannot show; nothing is said of the case."""


@dataclass
class Row:
    """A document as its file states it."""

    data: bytes
    id: object
    n: object
    raw: bytes | None
    fields: dict[str, object] | None
    file: str = ""


def unpacked(path):
    """The bytes of a file, decompressed by its suffix; text with a mark of the order of bytes as UTF-8."""
    data = path.read_bytes()
    try:
        if path.name.endswith(".gz"):
            data = gzip.decompress(data)
        elif path.name.endswith(".zst") and data:
            data = pa.input_stream(pa.BufferReader(data), compression="zstd").read()
        marked = next((name for mark, name in MARKS.items() if data.startswith(mark)), None)
        return data if marked is None else data.decode(marked, "surrogatepass").encode("utf-8", "surrogatepass")
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise UnreadableError(str(error)) from None


def read_jsonl(path, settings):
    """An object a line; the last of repeated names counts."""
    errors = settings["encoding_errors"]
    for number, line in enumerate(unpacked(path).split(b"\n")):
        line = line.removeprefix(b"\xef\xbb\xbf") if number == 0 else line
        if not line.strip():
            continue
        try:
            value = json.loads(line.decode("utf-8", "surrogateescape" if errors == "strict" else errors))
            text = value["text"]
            if text is not None and not isinstance(text, str):
                raise UnreadableError("no text")
            lone = "[\ud800-\udfff]"  # a surrogate that was escaped: one replaced character
            data = (re.sub(lone, "\ufffd", text or "") if errors == "replace" else text or "").encode()
            known = value["id"] if "id" in settings else None
            str(known).encode()  # bytes that are not UTF-8 are of matter where they are asked for
            yield Row(data, known, value.get("n"), line, value)
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            if "int_max_str_digits" in str(error):
                raise UndecidedError(str(error)) from None
            raise UnreadableError(repr(error)) from None


def bounded(digits):
    """A number as a fraction; one with thousands of digits as the largest or smallest of its sign."""
    mantissa, _, exponent = digits.lower().partition("e")
    if len(exponent.lstrip("+-0")) > 3 and any(digit in mantissa for digit in "123456789"):
        largest = Fraction(10) ** 5000
        return (-1 if digits[0] == "-" else 1) * (1 / largest if exponent[0] == "-" else largest)
    return Fraction(mantissa) if len(exponent.lstrip("+-0")) > 3 else Fraction(digits)


def untyped(cell):
    """A cell of CSV as a value: an empty one is null, one that reads as a number or truth value of JSON is that."""
    if not cell:
        return None
    try:
        value = json.loads(cell, parse_float=bounded)
    except (ValueError, RecursionError):
        return cell
    return value if isinstance(value, (bool, int, Fraction)) else cell


def read_csv(path, settings):
    """Records below a header."""
    try:
        text = unpacked(path).decode("utf-8", settings["encoding_errors"]).removeprefix("\ufeff")
        records = [record for record in csv.reader(io.StringIO(text, newline=""), strict=True) if record]
    except (ValueError, csv.Error) as error:
        raise UnreadableError(str(error)) from None
    header = records[0] if records else []
    for record in records[1:]:
        try:
            value = dict(zip(header, record, strict=False))
            data = value["text"].encode("utf-8", "strict" if settings["encoding_errors"] == "strict" else "surrogatepass")
            yield Row(data, value["id"] if "id" in settings else None, untyped(value.get("n")), None, value)
        except (KeyError, ValueError) as error:
            raise UnreadableError(repr(error)) from None


def read_parquet(path, settings):
    """Rows of a table."""
    wanted = [
        "text",
        *(["id"] if "id" in settings else []),
        *(["n"] if {"within", "across", "key"} & {*settings} or ":" in settings["keep"] else []),
    ]
    try:
        table = pq.ParquetFile(path).read(columns=wanted)
    except (pa.ArrowException, OSError) as error:
        raise UnreadableError(str(error)) from None
    with suppress(pa.ArrowException, OSError):  # damage elsewhere shows when rows are written
        table = pq.ParquetFile(path).read()
    try:
        found = table.to_pylist()
    except UnicodeDecodeError as error:
        raise UndecidedError(str(error)) from None
    for row in found:
        text = row["text"]
        data = text if isinstance(text, bytes) else (text or "").encode()
        yield Row(data, row.get("id") if "id" in settings else None, row.get("n"), None, row)


def read(paths, settings):
    """All rows of some files, in order."""
    out = []
    for path in paths:
        name = path.name
        if name.endswith(".txt"):
            out.append(Row(unpacked(path), None, None, None, None))
            if settings["encoding_errors"] == "strict":
                check_text(out[-1].data)
        else:
            reader = read_csv if name.endswith(".csv") else read_parquet if name.endswith(".parquet") else read_jsonl
            out += reader(path, settings)
        for row in out:
            row.file = row.file or str(path)
    return out


def check_text(data):
    """A text file is UTF-8."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        raise UnreadableError(str(error)) from None


def value_key(value):
    """What tells values of ``within`` apart: the kind, and the value."""
    if value is None or value != value:
        return None
    if isinstance(value, bool):
        return "bool", value
    if isinstance(value, (int, float, Fraction)):
        return "number", value if abs(value) == float("inf") else Fraction(value)
    if isinstance(value, str):
        return "text", value
    return "other", json.dumps(value, sort_keys=True)


def priorities(rows, keep):
    """What each row is ordered by, smaller first; None where a column has no order."""
    of_each = [by_policy(rows, policy.strip()) for policy in keep.split(";")]
    return None if None in of_each else list(zip(*of_each, strict=True))


def by_policy(rows, policy):
    """The same of one policy."""
    name, _, column = policy.partition(":")
    if name == "last":
        return [(0, -d) for d in range(len(rows))]
    if name == "n":
        listed = [{("text", text.strip()), value_key(untyped(text.strip()))} for text in column.split(",")]
        keys = [value_key(row.n) for row in rows]
        places = [next((i for i, some in enumerate(listed) if key in some), len(listed)) for key in keys]
        return [(1, 0) if key is None else (0, place) for key, place in zip(keys, places, strict=True)]
    if not column:
        size = {"longest": -1, "shortest": 1}.get(name, 0)
        return [(0, size * len(row.data)) for row in rows]
    keys = [value_key(row.n) for row in rows]
    kinds = {key[0] for key in keys if key is not None}
    if len(kinds) > 1 or "other" in kinds:
        return None
    ranks = {value: rank for rank, value in enumerate(sorted({key[1] for key in keys if key is not None}))}
    sign = -1 if name == "largest" else 1
    return [(1, 0) if key is None else (0, sign * ranks[key[1]]) for key in keys]


@dataclass
class Decided:
    """For each row (references first) why it was decided, and the row kept for it, or None if it is dropped, and their score."""

    reason: list
    keeper: list
    score: list
    n_reference: int


def name_of(value):
    """A text that tells values apart; None for null."""
    key = value_key(value)
    return None if key is None else repr(key)


def shingling(settings):
    """How texts are shingled."""
    unit = settings["unit"]
    return {"unit": unit, "width": settings["width"] or WIDTHS[unit], "normalization": settings["normalization"]}


def decide(references, rows, settings, threshold=None):
    """What the twin of ``dedup`` decides where all pairs are candidates."""
    everything = [*references, *rows]
    priority = priorities(everything, settings["keep"])
    if priority is None:
        return None
    ranks = sorted({*priority})
    names = [name_of(row.n) for row in everything]
    how = {name: names for name in ("within", "across") if name in settings} | shingling(settings)
    if "key" in settings:
        how["key"] = [(name,) for name in names]
    how |= (
        {"measure": "containment", "floor": settings["floor"], "sample": 1 << 40, "least": 1}
        if "measure" in settings
        else {"recall": 1}
    )
    decisions = dedup(
        [row.data for row in everything], references=len(references), keep="smallest:rank", empty=settings["empty"],
        columns={"rank": [ranks.index(one) for one in priority]}, ignore=[text.encode() for text in settings.get("ignore", ())],
        threshold=settings["threshold"] if threshold is None else threshold, **how,
    )  # fmt: skip
    return Decided(*map(list, zip(*decisions, strict=True)), len(references)) if decisions else Decided([], [], [], 0)


def counts(decided, files):
    """{kept document: (exact copies, duplicates, sources)} of all that stand for themselves; files of all rows."""
    members = {d: [d] for d, keeper in enumerate(decided.keeper) if keeper == d}
    for d, keeper in enumerate(decided.keeper):
        if keeper is not None and keeper != d:
            members[keeper].append(d)
    reasons = decided.reason
    return {
        d: (sum(reasons[e] == "exact" for e in some), len(some) - 1, len({files[e] for e in some if reasons[e] != "key"}))
        for d, some in members.items()
    }


def all_pairs(first, everything, settings):
    """All pairs at or above the threshold, of rows counted from the first reference: {(left, right): score}."""
    how, out = shingling(settings), {}
    ignored = {one for text in settings.get("ignore", ()) for one in shingles(text.encode(), **how)}
    whole = [{*shingles(row.data, **how)} for row in everything]
    names = [name_of(row.n) for row in everything]
    for left, right in combinations(range(len(everything)), 2):
        together = "within" not in settings or names[left] == names[right]
        if right < first or not together or ("across" in settings and not differ(names[left], names[right])):
            continue
        a, b = whole[left] - ignored, whole[right] - ignored
        if "across" not in settings and whole[left] and everything[left].data == everything[right].data:
            out[left, right] = 1.0  # copies, also where nothing of them counts
        elif a and b:
            common, alike = len(a & b), len(a & b) / len(a | b)
            found = alike if "measure" not in settings else common / min(len(a), len(b)) if alike >= settings["floor"] else -1
            if found >= settings["threshold"]:
                out[left, right] = found
    return out
