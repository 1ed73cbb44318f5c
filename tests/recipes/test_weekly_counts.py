from contextlib import closing

import pyarrow.parquet as pq
import pytest
from naive.dedup import least_codes
from naive.weekly import weekly
from weekly import weeks

import lookalike as la
from lookalike.recipes import counts as counting

HOW = {"threshold": 0.6, "width": 1, "id": "id", "threads": 1, "counts": True, "source": "score"}
COUNTS = ("n_exact", "n_duplicates", "n_sources")
PLAN = la.plan(threshold=0.6)
BANDS = {"bands": PLAN.bands, "rows": PLAN.rows}
NAIVE = {"threshold": 0.6, "width": 1, **BANDS, "least": least_codes(0.6, **BANDS, recall=0.99)}
VARIANTS = {
    "first": {}, "last": {"keep": "last"}, "longest": {"keep": "longest"}, "within": {"within": "site"}, "key": {"key": "url"},
    "at most": {"at_most": 2}, "estimates": {"verify": "sketch"}, "fingerprints": {"method": "simhash", "radius": 10},
}  # fmt: skip


def documents(table):
    rows = table.to_pylist()
    return [row | {"text": row["text"] or "", "source": "null" if row["score"] is None else str(row["score"])} for row in rows]


def add(number, table, settings):
    pq.write_table(table, f"{number}.parquet", row_group_size=17)
    with la.History("history") as history:
        history.add([f"{number}.parquet"], f"out-{number}", settings).close()


def added():
    with la.History("history", read=True) as history:
        return {row["id"]: tuple(row[name] for name in COUNTS) for row in history.counts().to_pylist()}


@pytest.mark.parametrize("variant", VARIANTS)
def test_counts_of_weeks_are_those_of_the_twin(here, variant, monkeypatch):
    given, tables = VARIANTS[variant], weeks(3)
    settings = la.Settings(**HOW | given)
    monkeypatch.setattr(counting, "GROUP_ROWS", 3)
    monkeypatch.setattr(counting, "MERGED_ROWS", 2)
    for number, table in enumerate(tables):
        add(number, table, settings)
        if number == 1 and variant in ("first", "key"):
            with la.History("history") as history:
                assert history.compact() == 2
    plan = {"threshold": 0.6, "width": 1} if variant == "fingerprints" else NAIVE
    counts, _ = weekly(list(map(documents, tables)), **plan | given)
    wanted = {name: (exact, n, len(some)) for name, (exact, n, some) in counts.items()}
    assert added() == wanted
    assert sum(n for _, n, *_ in wanted.values()) > 40 and max(some[2] for some in wanted.values()) > 2
    with la.History("history") as history:
        assert history.add(["2.parquet"], "out-2", settings) is None and history.compact() and not history.check()
    assert added() == wanted


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
