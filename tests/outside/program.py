"""A program of a user, as type checkers see it: mypy and pyright check it with all of their rules.

Wrong calls bear a comment that both report when the call is wrong no longer.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import polars as pl

import lookalike as la
from lookalike.choices import Keep, Unit

TEXTS = ["the quick brown fox jumps over the dog", "The quick brown fox: jumps over the dog!", "something else"]


def dedup(frame: pl.DataFrame, out: Path) -> pl.DataFrame:
    result: la.Result = la.dedup(
        TEXTS, threshold=0.7, keep="longest", unit="word", on_error="skip", memory="1GB", seed="random"
    )
    la.dedup(TEXTS, keep=("largest", "date"), within="lang", key=["url"], engine="local", empty="drop")
    la.dedup(TEXTS, keep=[{"source": ["wiki", "news"]}, ("smallest", "date"), "first"], method="simhash", normalization="NFKC")
    la.dedup(TEXTS, keep="longst")  # type: ignore[arg-type]
    la.dedup(TEXTS, keep=("largst", "date"))  # type: ignore[arg-type]
    la.dedup(TEXTS, keep=["longest", "frist"])  # type: ignore[list-item]
    la.dedup(TEXTS, unit="sentence")  # type: ignore[arg-type]
    la.dedup(TEXTS, measure="overlap")  # type: ignore[arg-type]
    la.dedup(TEXTS, verify="hope")  # type: ignore[arg-type]
    la.dedup(TEXTS, on_error="go on")  # type: ignore[arg-type]
    la.dedup(TEXTS, method="minhsh")  # type: ignore[arg-type]
    la.dedup(TEXTS, engine="sprak")  # type: ignore[arg-type]
    la.dedup(TEXTS, evidence="some")  # type: ignore[arg-type]
    la.dedup(TEXTS, empty="kept")  # type: ignore[arg-type]
    la.dedup(TEXTS, encoding_errors="ignore")  # type: ignore[arg-type]
    la.dedup(TEXTS, normalization="NFD")  # type: ignore[arg-type]
    la.dedup(TEXTS, seed="randm")  # type: ignore[arg-type]
    la.dedup(TEXTS, threshold="0.8")  # type: ignore[arg-type]
    la.dedup(TEXTS, treshold=0.8)  # type: ignore[call-arg]
    result.report(out, texts="hsah")  # type: ignore[arg-type]
    removed: int = result.summary.near_duplicates + len(result.rethreshold(0.9).removed)
    words: list[str] = result.clean(TEXTS)
    print(removed, words, result.clean().num_rows, result.keep.sum(), la.changes(result, result), result.to_polars().height)
    return result.clean(frame)


def others(frame: pl.DataFrame, folder: Path, unit: Unit, keep: Keep) -> None:
    la.pairs(frame, unit=unit, max_pairs=100, verify="none")
    la.pairs(frame, verify="nothing")  # type: ignore[arg-type]
    la.pairs(frame, keep="first")  # type: ignore[call-arg]
    la.decontaminate(frame, against=TEXTS, measure=("ngram", 13)).to_polars()
    la.decontaminate(frame, against=TEXTS, measure="contains")  # type: ignore[arg-type]
    la.decontaminate(frame)  # type: ignore[call-arg]
    la.repeats(frame, unit="passage", normalization="none").write(folder)
    la.repeats(frame, unit="word")  # type: ignore[arg-type]
    settings = la.Settings(keep=keep, unit=unit)
    la.Settings(unit="wrd")  # type: ignore[arg-type]
    with la.History(folder) as history:
        history.add(frame, folder, settings)
    la.foresee(documents=1e6, bytes=5e9, keep="last", format="jsonl").to_dict()
    la.foresee(documents=1e6, bytes=5e9, format="csv")  # type: ignore[arg-type]
    la.start_session("local[2]")


def index(folder: Path, kind: Literal["minhash", "simhash"]) -> None:
    with la.Index.create(folder, kind=kind, unit="char", seed="random") as made:
        made.add(["a"], TEXTS[:1])
    la.Index.create(folder, kind="minhahs")  # type: ignore[arg-type]
    la.Index.create(folder, unit="chars")  # type: ignore[arg-type]
    la.Index.open(folder, "raed")  # type: ignore[arg-type]


def steps() -> bool:
    shingling = la.Shingling(unit="line", normalization="none")
    la.Shingling(unit="lines")  # type: ignore[arg-type]
    plan: la.Plan = la.plan(threshold=0.8, verify="sketch")
    la.plan(verify="sketches")  # type: ignore[arg-type]
    shingles = la.shingle([la.html_to_text("<p>one two</p>"), *TEXTS], unit="char", encoding_errors="replace")
    la.shingle(TEXTS, unit="chars")  # type: ignore[arg-type]
    signatures = la.sketches.FastSimilarity(permutations=plan.permutations).sign(shingles)
    la.sketches.OnePermutation(densify="optimum")  # type: ignore[arg-type]
    la.search.TableIndex(lookup="prefixes")  # type: ignore[arg-type]
    found = la.verify(la.exact_pairs(shingles, threshold=0.5), shingles, threshold=0.6)
    try:
        mask = la.decide(found).mask
    except la.errors.ParameterError as error:
        raise la.LookalikeError from error
    la.integrations.ColumnFunctions(unit="wrod")  # type: ignore[arg-type]
    print(la.theory.minhash.standard_error(0.8, 256), la.search.pairs_above, signatures, shingling)
    return bool(mask.all())
