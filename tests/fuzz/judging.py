"""Runs one job on made files and holds all that it says and writes against the oracle."""

import csv
import io
import json
import re
import shutil
from random import Random

import oracle
import pyarrow.parquet as pq
from making import make
from oracle import UndecidedError, UnreadableError, unpacked

import lookalike as la

ADDED = re.compile(rb',? "n_exact": \d+, "n_duplicates": \d+, "n_sources": \d+}$')


class WrongAnswerError(AssertionError):
    """An answer with exit status 0 that is not the right one."""


def expect(holds, message, *details):
    """Raise WrongAnswerError unless something holds."""
    if not holds:
        raise WrongAnswerError(f"{message}: {details!r:.400}" if details else message)


def refused(action):
    """Return what an action gives, or the error by which it is refused."""
    try:
        return action(), None
    except la.LookalikeError as error:
        expect(str(error).strip(), "an error without a message")
        return None, error


def judge(seed, folder):
    """Make a case, run it, check it; return its kind and how it ended."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    case = make(seed, folder)
    before = {path: path.read_bytes() for path in [*case.inputs, *case.against]}
    rows = references = decided = None
    try:
        rows, references = (oracle.read(paths, case.settings) for paths in (case.inputs, case.against))
        decided = oracle.decide(references, rows, case.settings)
    except UnreadableError:
        rows = None
    except UndecidedError:
        return case.kind, "refused by the oracle"
    result, error = refused(lambda: la.dedup(case.inputs, against=case.against or None, **case.settings))
    if error is not None:
        sound = not case.damaged and decided is not None and len({str(row.id) for row in rows if row.id}) in (0, len(rows))
        expect(not sound or excused(error), "a sound input is refused", str(error))
        return case.kind, f"refused: {type(error).__name__}"
    expect(rows is not None, "a result for what cannot be read")
    expect(decided is not None, "a result by values without an order")
    check_result(case, result, references, rows, decided)
    check_files(case, result, rows)
    check_rest(case, result, references, rows, decided)
    expect({path: path.read_bytes() for path in before} == before, "an input was changed")
    return case.kind, "result"


def excused(error):
    """Tell a refusal that the input deserves from one that it does not: values of no order or no group, and NUL in CSV."""
    return any(word in str(error) for word in ("order", "cannot be grouped", "NUL", "lone surrogate", "column", "field"))


def check_result(case, result, references, rows, decided):
    """Kept and removed documents, keepers, scores and counts are those of the oracle."""
    first, everything = decided.n_reference, references + rows
    keep = [keeper == d for d, keeper in enumerate(decided.keeper)][first:]
    expect(len(result) == len(rows), "another number of rows", len(result), len(rows))
    expect(result.keep.tolist() == keep, "other documents are kept", result.keep.tolist(), keep)
    removed, table = [d for d, stays in enumerate(keep, first) if not stays], result.removed.to_pylist()
    expect(len(table) == len(removed), "another number of removed documents")
    for d, row in zip(removed, table, strict=True):
        keeper = decided.keeper[d]
        if keeper is None:
            expect(row["duplicate_of"] is None, "a dropped document has a keeper", row)
            continue
        expect(row[case.settings.get("measure", "resemblance")] == decided.score[d], "another score", row, decided.score[d])
        expect(row.get("duplicate_is_reference") in (None, keeper < first), "the keeper is in another corpus", row)
        known = everything[keeper].id
        expect("id" not in case.settings or str(row["duplicate_of"]) == str(known), "another keeper", row, known)
    if "counts" in case.settings:
        wanted = oracle.counts(decided, [row.file for row in everything])
        found = result.decisions.select(["n_exact", "n_duplicates", "n_sources"]).to_pylist()
        for d, counted in wanted.items():
            expect(tuple(found[d].values()) == counted, "other counts", found[d], counted)
    summary = result.summary
    expect(summary.kept == sum(keep) and summary.documents == len(rows), "wrong counts", summary.kept)


def lines_of(path):
    """The lines of a file of JSON lines, line feeds and blank ones left out."""
    return [line.removeprefix(b"\xef\xbb\xbf").removesuffix(b"\r") for line in unpacked(path).split(b"\n") if line.strip()]


def check_files(case, result, rows):
    """Kept rows are written as they came, annotated rows with what was decided, converted rows with their values."""
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
        found, wanted = lines_of(out / f"kept.{suffix}"), [row.raw.removesuffix(b"\r") for row in kept]
        if "counts" in case.settings:  # what is added comes last
            found, wanted = [ADDED.sub(b"}", line.rstrip()) for line in found], [line.rstrip() for line in wanted]
        expect(found == wanted, "kept lines differ", found[:3])
    elif error is None:
        check_values(out / f"kept.{suffix}", kept, case.kind == suffix)
    if write(f"all.{suffix}", annotate=True) is None:
        found = [row["keep"] for row in values_in(out / f"all.{suffix}")]
        expect([value in (True, "true") for value in found] == keep, "annotations are shifted", found, keep)
    other = Random(case.seed).choice([kind for kind in ("jsonl", "csv", "parquet", "jsonl.gz") if kind != suffix])
    if write(f"converted.{other}") is None:
        check_values(out / f"converted.{other}", kept, False)
    expect(not [p.name for p in out.iterdir() if ".tmp" in p.name], "a temporary file is left")


def records_of(path, strict=False):
    """The records of a file of CSV, by Python's reader."""
    text = path.read_bytes().decode("utf-8", "replace").removeprefix("\ufeff")
    return csv.reader(io.StringIO(text, newline=""), strict=strict)


def values_in(path):
    """The rows of a file that was written, by readers that are not ours."""
    if path.name.endswith(".parquet"):
        return pq.ParquetFile(path).read().to_pylist()
    if path.name.endswith(".csv"):
        records = [record for record in records_of(path, strict=True) if record]
        expect(all(len(r) == len(records[0]) for r in records), "rows of unlike length in CSV")
        return [dict(zip(records[0], record, strict=True)) for record in records[1:]]
    return [json.loads(line.decode("utf-8", "replace")) for line in lines_of(path)]


def text_in(value):
    """A text, or the bytes of one."""
    return (value.decode("utf-8", "replace") if isinstance(value, bytes) else value) or ""


def check_values(path, kept, same_format):
    """What was written holds the texts and values of the kept rows."""
    if path.name.endswith(".csv") and same_format:
        records = [record for record in records_of(path) if record]
        expect(len(records) == len(kept) + 1 or not kept, "another number of CSV records", len(records))
        return
    found = values_in(path)
    expect(len(found) == len(kept), "another number of rows", len(found), len(kept))
    for row, record in zip(kept, found, strict=True):
        if row.fields is None:
            continue
        text, wanted, number = text_in(record.get("text")), text_in(row.fields["text"]), row.fields.get("n")
        expect(text == wanted or re.search("[\ud800-\udfff]", wanted), "a text changed", text, wanted)
        if type(number) in (int, float) and record.get("n") is not None:
            written = oracle.untyped(record["n"]) if isinstance(record["n"], str) else record["n"]
            same = float(written) == number if isinstance(number, float) else written == number
            expect(same, "a number changed", record["n"], number)


def check_rest(case, result, references, rows, decided):
    """The list of pairs and a decision at a higher threshold."""
    settings, first, everything = case.settings, decided.n_reference, references + rows
    higher = Random(case.seed + 1).choice([settings["threshold"], 0.9, 1.0])
    if higher >= settings["threshold"]:
        again = oracle.decide(references, rows, settings, higher)
        wanted = [keeper == d for d, keeper in enumerate(again.keeper)][first:]
        expect(result.rethreshold(higher).keep.tolist() == wanted, "rethreshold decides otherwise")
    for_pairs = {name: value for name, value in settings.items() if name not in ("keep", "empty", "key", "counts")}
    table, error = refused(lambda: la.pairs(case.inputs, against=case.against or None, **for_pairs))
    if error is None:
        exact = sorted(oracle.all_pairs(first, everything, settings).values())
        found = sorted(table[settings.get("measure", "resemblance")].to_pylist())
        expect(found == exact, "other pairs", len(found), len(exact))
