import csv
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.json as pj
import pyarrow.parquet as pq
import pytest
import row_files
from engine_kinds import WORK, spark_engine
from parity.made import DATA, MADE, REAL, shuffled, table
from row_files import lines
from same_results import same_job
from spark_session import watched

import lookalike as la
from lookalike.engines.spark import texts as spark_texts

FORMS = ("parquet", "jsonl", "csv", "txt")
POLICIES = ("first", "last", "longest", "shortest", "largest:score", "smallest:score", "site:b; longest")
ROWS = 50
"""In a row group."""


@cache
def corpus(name, n=None):
    """Made ones are drawn from all over, real ones lie side by side."""
    rng = np.random.default_rng(1)
    if name == "mixed":
        found = table([text for one in MADE for text in shuffled(one, rng)], rng)
    elif name in MADE:
        found = table(shuffled(name, rng), rng)
    else:
        path = DATA / (f"{name}.parquet" if name in REAL else "news_planted/articles_1000.jsonl")
        if not path.exists():
            pytest.skip("the real corpora lie beside the repository, and are absent here")
        read = pq.read_table(path, columns=["text"]) if name in REAL else pj.read_json(path)
        found = table([text or "" for text in read["text"].to_pylist()], rng)
    if n is None or n >= len(found):
        return found
    return found.take(np.sort(rng.permutation(len(found))[:n])) if name in ("mixed", *MADE) else found.slice(len(found) // 2, n)


def write(rows, path):
    form = path.suffix[1:]
    if form == "parquet":
        pq.write_table(rows, path, row_group_size=ROWS)
    elif form == "jsonl":
        path.write_bytes(b"".join(lines(rows.to_pylist())))
    elif form == "csv":
        with open(path, "w", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, rows.column_names)
            writer.writeheader()
            writer.writerows(rows.to_pylist())
    else:
        path = path.with_suffix("")
        path.mkdir()
        for number, text in enumerate(rows["text"].to_pylist()):
            (path / f"{number:05d}.txt").write_text(text, encoding="utf-8", newline="")
    return path


def files(rows, folder, form, n=1):
    """No file is as long as another."""
    ends = np.linspace(0, 1, n + 1) ** 1.5 * len(rows)
    cuts = zip(ends.astype(int).tolist(), ends[1:].astype(int).tolist(), strict=False)
    return [write(rows.slice(a, b - a), folder / f"part{i}.{form}") for i, (a, b) in enumerate(cuts)]


def write_mixed(folder, texts):
    (folder / "sub").mkdir(parents=True)
    pq.write_table(pa.table({"text": texts[::3], "n": range(len(texts[::3]))}), folder / "a.parquet")
    row_files.write(folder / "sub/b.jsonl.gz", lines({"text": text} for text in texts[1::3]))
    (folder / "c.csv").write_text("n,text\n" + "".join(f'{i},"{text}"\n' for i, text in enumerate(texts[2::3])))
    (folder / "d.jsonl").touch()


@dataclass(frozen=True, kw_only=True)
class Case:
    """``order`` is that in which the files are given, ``settings`` what ``dedup`` is told."""

    corpus: str
    n: int | None = None
    form: str = "jsonl"
    n_files: int = 2
    order: tuple[int, ...] = ()
    references: int = 0
    partitions: int = 2
    unit_bytes: int | None = None
    settings: dict = field(default_factory=dict)


def inputs(case, folder):
    rows = corpus(case.corpus, case.n)
    (folder / "references").mkdir()
    against = files(rows.slice(0, case.references), folder / "references", case.form) if case.references else None
    paths = files(rows.slice(case.references), folder, case.form, case.n_files)
    data = [paths[i] for i in case.order or range(len(paths))]
    return {"data": data, "against": against, "threads": 1} | case.settings


def hold(case, folder, monkeypatch):
    given = inputs(case, folder)
    if case.unit_bytes is not None:
        monkeypatch.setattr(spark_texts, "UNIT_BYTES", case.unit_bytes)
    with closing(la.dedup(**given)) as wanted:
        engine = spark_engine(folder, case.partitions)
        if case.references:
            engine.components = None  # rounds say the same
        with watched(engine.session, folder, monkeypatch), closing(la.dedup(**given, engine=engine)) as found:
            same_job(found, wanted)
            assert (found.summary.text_bytes, found.summary.least_alike) == (
                wanted.summary.text_bytes,
                wanted.summary.least_alike,
            )
        reasons = Counter(wanted.decisions["reason"].to_pylist())
    assert not (folder / WORK).exists(), "a closed job leaves files behind"
    return reasons
