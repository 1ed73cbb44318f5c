"""Counts of several weeks: saved by each job for its own documents and for those of earlier weeks, and added up."""

from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from naive.dedup import least_codes
from naive.weekly import weekly
from weekly import weeks

import lookalike as la
from lookalike.recipes import counts as counting

HOW = {"threshold": 0.6, "width": 1, "id": "id", "threads": 1, "counts": True}
COUNTS = ("n_exact", "n_duplicates", "n_sources")
PLAN = la.plan(threshold=0.6)
BANDS = {"bands": PLAN.bands, "rows": PLAN.rows}
NAIVE = {"threshold": 0.6, "width": 1, **BANDS, "least": least_codes(0.6, **BANDS, recall=0.99)}
VARIANTS = {
    "first": {}, "last": {"keep": "last"}, "longest": {"keep": "longest"}, "within": {"within": "site"}, "key": {"key": "url"},
    "at most": {"at_most": 2}, "estimates": {"verify": "sketch"}, "fingerprints": {"method": "simhash", "radius": 10},
}  # fmt: skip


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def documents(table):
    """The rows of a week, with the source that they are counted by."""
    rows = table.to_pylist()
    return [row | {"text": row["text"] or "", "source": "null" if row["score"] is None else str(row["score"])} for row in rows]


def add(tables, folder="history", first=0, **given):
    """Run a job for each week, from the first one on."""
    settings = la.Settings(**HOW | {"source": "score"} | given)
    Path(f"in-{folder}").mkdir(exist_ok=True)
    for number, table in list(enumerate(tables))[first:]:
        pq.write_table(table, f"in-{folder}/{number}.parquet", row_group_size=17)
        with la.History(folder) as history:
            history.add([f"in-{folder}/{number}.parquet"], f"out-{folder}/{number}", settings).close()


def added(folder="history"):
    """What is added up: {id: counts}."""
    with la.History(folder, read=True) as history:
        return {row["id"]: tuple(row[name] for name in COUNTS) for row in history.counts().to_pylist()}


@pytest.mark.parametrize("variant", VARIANTS)
def test_counts_of_weeks_are_those_of_the_twin(here, variant, monkeypatch):
    """However small the row groups and the parts that are merged at a time; also merged, and where jobs come again."""
    given, tables = VARIANTS[variant], weeks(3)
    monkeypatch.setattr(counting, "GROUP_ROWS", 3)
    monkeypatch.setattr(counting, "MERGED_ROWS", 2)
    add(tables[:2], **given)
    if variant in ("first", "key"):
        with la.History("history") as history:
            assert history.compact() == 2
    add(tables, first=2, **given)
    plan = {"threshold": 0.6, "width": 1} if variant == "fingerprints" else NAIVE
    counts, _ = weekly(list(map(documents, tables)), **plan | given)
    wanted = {name: (exact, n, len(some)) for name, (exact, n, some) in counts.items()}
    assert added() == wanted
    assert sum(n for _, n, *_ in wanted.values()) > 40 and max(some[2] for some in wanted.values()) > 2
    with la.History("history") as history:
        again = history.add(["in-history/2.parquet"], "out-history/2", la.Settings(**HOW | {"source": "score"} | given))
        assert again is None and history.compact() and not history.check()
    assert added() == wanted


def test_what_is_forgotten_is_gone(here):
    """The documents of that week, and what its job counted for others, of which then nothing is merged."""
    tables = weeks(2)
    add(tables[:2])
    two = added()
    add(tables, "all")
    second = set(tables[1]["id"].to_pylist())
    for name, wanted in (("000003", two), ("000001", {name: some for name, some in two.items() if name in second})):
        with la.History("all") as history:
            history.forget(name)
        assert added("all") == wanted and wanted
    with la.History("all") as history:
        history.add(["in-all/0.parquet"], "again", la.Settings(**HOW, source="score"), force=True).close()
        before = added("all")
        assert history.compact() == 2
    assert added("all") == before and len(before) > len(second & set(two))


def test_weeks_of_as_many_bytes_are_told_apart(here):
    """Texts in memory, of one length: nothing but what they are distinguishes the sketches of two weeks."""
    texts = [f"{word} two three four five six seven {word}" for word in ("abcdef", "ghijkl", "mnopqr")]
    for number, some in enumerate([texts[:1], texts[1:2], [texts[0], texts[1], texts[1], texts[2]]]):
        against = {"against": here / "saved"} if number else {}
        with closing(la.dedup(some, counts=True, threads=1, **against)) as result:
            result.save_sketches(f"saved/{number}")
    with la.History("saved", read=True) as history:
        assert len({one.checksum for one in history.generations}) == 3
        assert history.counts()["n_duplicates"].to_pylist() == [1, 2, 0]


def test_other_references_do_not_count(here):
    """A week is compared with texts, too, that nothing was saved of."""
    tables = weeks(1)[:2]
    some = tables[0].slice(0, 30)
    some = some.set_column(1, "id", pa.array([f"text {name}" for name in some["id"].to_pylist()]))
    pq.write_table(some, "texts.parquet")
    add(tables, against="texts.parquet")
    with closing(la.dedup(pa.concat_tables(tables), against=some, **HOW, source="score")) as result:
        wanted = {row["id"]: row["n_duplicates"] for row in result.decisions.to_pylist() if row["reason"] == "kept"}
    counts = {name: n for name, (_, n, _) in added().items()}
    assert set(wanted) == set(counts) and sum(wanted.values()) == sum(counts.values()) > 0


def test_weeks_that_were_not_counted(here):
    """Their documents have what later jobs counted; those that are merged stay known."""
    tables = weeks(1)
    add(tables[:2], "all")
    add(tables[:1], counts=False, source=None)
    add(tables[:2], first=1)
    whole, part = added("all"), added()
    with la.History("history") as history:
        assert [one.counts is None for one in history.generations] == [True, False]
        for compact in (history.compact, list):
            assert counting.without(history.generations) == ["000001"] and added() == part
            compact()
    old = {name for name in part if name.startswith("0-")}
    assert all(part[name] == some for name, some in whole.items() if name not in old) and set(part) == set(whole)
    assert 0 < sum(part[name][1] for name in old) < sum(whole[name][1] for name in old)
