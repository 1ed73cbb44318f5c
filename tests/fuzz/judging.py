"""Holds all that a job on made files says and writes against the twin of ``dedup``."""

import csv
import json
import re
import traceback
from pathlib import Path
from random import Random

import pyarrow.parquet as pq
from making import make
from naive.dedup import UnorderedError, all_scores, dedup
from naive.files import UndecidedError, UnreadableError, lines_of, read
from naive.groups import group_rules
from naive.values import untyped

import lookalike as la

ADDED = re.compile(rb',? "n_exact": \d+, "n_duplicates": \d+, "n_sources": \d+}$')
WIDTHS = {"word": 5, "char": 5, "line": 1}
EXCUSES = ("order", "cannot be grouped", "NUL", "lone surrogate", "a carriage return outside quotes")
"""Words of a refusal that the input deserves."""


class WrongAnswerError(AssertionError):
    """An answer with exit status 0 that is not the right one."""


def expect(holds, message, *details):
    if not holds:
        raise WrongAnswerError(f"{message}: {details!r:.400}" if details else message)


def same(what, found, wanted):
    expect(found == wanted, f"other {what}", found, wanted)


def place(error):
    """The innermost lines of ours in a traceback."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "lookalike" in f.filename or "fuzz" in f.filename]
    return " < ".join(f"{Path(f.filename).name}:{f.lineno}" for f in reversed(frames[-4:]))


def refused(action):
    try:
        return action(), None
    except la.LookalikeError as error:
        expect(str(error).strip(), "an error without a message")
        return None, error


def judge(seed, folder):
    case = make(seed, folder)
    before = {path: path.read_bytes() for path in [*case.inputs, *case.against]}
    twin, decided, unread = None, None, "what cannot be read"
    try:
        twin, unread = Twin(case), "values without an order"
        decided = twin.decide()
    except UndecidedError:
        return case.kind, "refused by the oracle"
    except (UnreadableError, UnorderedError):
        pass
    result, error = refused(lambda: la.dedup(case.inputs, against=case.against or None, **case.settings))
    if error is not None:
        if not case.damaged and decided is not None:
            ids = {str(row.id) for row in twin.rows if row.id}
            excused = len(ids) not in (0, len(twin.rows)) or any(word in str(error) for word in EXCUSES)
            expect(excused, "a sound input is refused", str(error))
        return case.kind, f"refused: {type(error).__name__}"
    expect(decided is not None, f"a result for {unread}")
    check_result(case, result, twin, decided)
    check_files(case, result, twin.rows)
    check_rest(case, result, twin)
    same("inputs", {path: path.read_bytes() for path in before}, before)
    return case.kind, "result"


class Twin:
    def __init__(self, case):
        self.settings = settings = case.settings
        with_n = bool({"within", "across", "key"} & {*settings} or ":" in settings["keep"])
        how = {"errors": settings["encoding_errors"], "with_id": "id" in settings, "with_n": with_n}
        self.rows, references = (read(paths, **how) for paths in (case.inputs, case.against))
        self.first, self.all = len(references), references + self.rows
        self.texts, self.values = [row.data for row in self.all], [row.n for row in self.all]
        self.how = {name: settings[name] for name in ("unit", "normalization", "threshold")} | {"references": self.first}
        self.how |= {"width": settings["width"] or WIDTHS[settings["unit"]]}
        self.how |= {name: settings[name] for name in ("measure", "floor") if name in settings}
        self.how |= {name: self.values for name in ("within", "across") if name in settings}
        self.how |= {"ignore": [text.encode() for text in settings.get("ignore", ())]}

    def decide(self, **other):
        how = {name: self.settings[name] for name in ("keep", "empty")} | {"columns": {"n": self.values}}
        how |= {"key": [(value,) for value in self.values]} if "key" in self.settings else {}
        how |= {"sample": 1 << 40, "least": 1} if "measure" in self.settings else {"recall": 1}
        return dedup(self.texts, **self.how | how | other)


def check_result(case, result, twin, decided):
    settings, keep = case.settings, [found.keeper == d for d, found in enumerate(decided)][twin.first :]
    same("kept documents", result.keep.tolist(), keep)
    removed, table = [d for d, stays in enumerate(keep, twin.first) if not stays], result.removed.to_pylist()
    same("number of removed documents", len(table), len(removed))
    for d, row in zip(removed, table, strict=True):
        keeper = decided[d].keeper
        if keeper is None:
            expect(row["duplicate_of"] is None, "a dropped document has a keeper", row)
            continue
        same("score", row[settings.get("measure", "resemblance")], decided[d].score)
        same("corpus of the keeper", row.get("duplicate_is_reference"), keeper < twin.first if case.against else None)
        expect("id" not in settings or str(row["duplicate_of"]) == str(twin.all[keeper].id), "another keeper", row)
    if "counts" in settings:
        _, wanted = group_rules(decided, range(len(decided)), [row.file for row in twin.all])
        found = result.decisions.select(["n_exact", "n_duplicates", "n_sources"]).to_pylist()
        same("counts", {d: tuple(found[d].values()) for d in wanted}, wanted)
    same("counts", (result.summary.kept, result.summary.documents, len(result)), (sum(keep), len(twin.rows), len(twin.rows)))


def check_files(case, result, rows):
    keep, out = result.keep.tolist(), case.folder / "out"
    kept = [row for row, stays in zip(rows, keep, strict=True) if stays]
    out.mkdir()
    suffix = "jsonl" if case.kind == "txt" else case.kind

    def write(name, **how):
        return refused(lambda: result.write(out / name, **how))[1]

    error = write(f"kept.{suffix}")
    fine = error is None or len(case.inputs) > 1 or case.kind == "txt" or (case.damaged and case.kind == "parquet")
    expect(fine, "kept rows cannot be written", str(error))
    if error is None and case.kind.startswith("jsonl"):
        found, wanted = (
            [line.removesuffix(b"\r") for line in some]
            for some in (lines_of(out / f"kept.{suffix}"), (row.raw for row in kept))
        )
        if "counts" in case.settings:  # what is added comes last
            found, wanted = [ADDED.sub(b"}", line.rstrip()) for line in found], [line.rstrip() for line in wanted]
        same("kept lines", found, wanted)
    elif error is None:
        check_values(out / f"kept.{suffix}", kept, case.kind == suffix)
    if write(f"all.{suffix}", annotate=True) is None:
        same("annotations", [row["keep"] in (True, "true") for row in values_in(out / f"all.{suffix}")], keep)
    other = Random(case.seed).choice([kind for kind in ("jsonl", "csv", "parquet", "jsonl.gz") if kind != suffix])
    if write(f"converted.{other}") is None:
        check_values(out / f"converted.{other}", kept, False)
    expect(not [p.name for p in out.iterdir() if ".tmp" in p.name], "a temporary file is left")


def records_of(path, strict=False):
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as stream:
        return [record for record in csv.reader(stream, strict=strict) if record]


def values_in(path):
    if path.name.endswith(".parquet"):
        return pq.ParquetFile(path).read().to_pylist()
    if path.name.endswith(".csv"):
        header, *records = records_of(path, strict=True) or [[]]
        expect(all(len(record) == len(header) for record in records), "rows of unlike length in CSV")
        return [dict(zip(header, record, strict=True)) for record in records]
    return [json.loads(line.decode("utf-8", "replace")) for line in lines_of(path)]


def text_in(value):
    return (value.decode("utf-8", "replace") if isinstance(value, bytes) else value) or ""


def check_values(path, kept, same_format):
    if path.name.endswith(".csv") and same_format:
        expect(len(records_of(path)) == len(kept) + 1 or not kept, "another number of CSV records")
        return
    found = values_in(path)
    same("number of rows", len(found), len(kept))
    for row, record in zip(kept, found, strict=True):
        if row.fields is None:
            continue
        text, wanted, number = text_in(record.get("text")), text_in(row.fields["text"]), row.fields.get("n")
        expect(text == wanted or re.search("[\ud800-\udfff]", wanted), "a text changed", text, wanted)
        if type(number) in (int, float) and record.get("n") is not None:
            written = untyped(record["n"]) if isinstance(record["n"], str) else record["n"]
            same("number", float(written) if isinstance(number, float) else written, number)


def check_rest(case, result, twin):
    settings = case.settings
    higher = Random(case.seed + 1).choice([settings["threshold"], 0.9, 1.0])
    if higher >= settings["threshold"]:
        wanted = [found.keeper == d for d, found in enumerate(twin.decide(threshold=higher))][twin.first :]
        same("documents kept at a higher threshold", result.rethreshold(higher).keep.tolist(), wanted)
    for_pairs = {name: value for name, value in settings.items() if name not in ("keep", "empty", "key", "counts")}
    table, error = refused(lambda: la.pairs(case.inputs, against=case.against or None, **for_pairs))
    if error is None:
        same("pairs", sorted(table[settings.get("measure", "resemblance")].to_pylist()), all_scores(twin.texts, **twin.how))
