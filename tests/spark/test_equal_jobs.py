import pytest
from parity.made import MADE, REAL
from samples import one_in
from spark.spark_jobs import FORMS, POLICIES, Case, hold

pytestmark = pytest.mark.spark

COVERING = {
    "families, with references": Case(
        corpus="mixed", n=1000, n_files=3, order=(2, 0, 1), references=200,
        settings={"threshold": 0.7, "evidence": "all", "keep": "last"},
    ),
    "crowds, from row groups": Case(
        corpus="crowds", n=350, form="parquet", n_files=2, partitions=4, unit_bytes=30_000,
        settings={"keep": "longest", "max_bucket": 8, "threshold": 0.6, "bands": 12, "rows": 3},
    ),
    "copies and nothing": Case(
        corpus="copies", n=300, form="csv", partitions=1,
        settings={
            "keep": "smallest:score; longest", "within": "site", "empty": "drop", "id": "id", "at_most": 2,
            "counts": True, "source": "score", "slices": ("site", "score"),
        },
    ),
    "poems": Case(
        corpus="poems_zh", n=2500, settings={"keep": "largest:score", "unit": "char", "width": 1, "threshold": 0.5}
    ),
    "keys, with references": Case(
        corpus="mixed", n=800, form="parquet", references=100,
        settings={"key": ["score", "site"], "keep": "site:site 3,site 1; largest:score; last", "threshold": 0.5, "id": "id"},
    ),
    "news, a file each": Case(corpus="news", form="txt", settings={"keep": "shortest", "threshold": 0.5, "evidence": "all"}),
}  # fmt: skip


@pytest.mark.parametrize("name", one_in(2, [*COVERING]))
def test_decisions_are_those_of_one_machine(name, cluster, tmp_path, monkeypatch):
    reasons = hold(COVERING[name], tmp_path, monkeypatch)
    assert reasons.get("near", 0) > 5 and (reasons.get("key", 0) > 100) == ("key" in COVERING[name].settings)


PRODUCT = [
    Case(
        corpus=corpus, n=None if corpus in MADE else 6000, form=FORMS[(i + j) % 3], n_files=1 + j % 3, references=200 * (j % 2),
        partitions=(1, 2, 4)[(i + j // 2) % 3], unit_bytes=50_000 if i % 2 else None,
        settings={"keep": keep, "threshold": (0.8, 0.7, 0.5)[j % 3]} | ({"id": "id"} if i % 3 else {"within": "site"}),
    )
    for i, corpus in enumerate([*MADE, *REAL, "news"])
    for j, keep in enumerate(POLICIES)
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    "case", PRODUCT, ids=lambda case: f"{case.corpus} {case.settings['keep']} {case.form} {case.partitions}"
)
def test_each_corpus_with_each_policy(case, cluster, tmp_path, monkeypatch):
    assert sum(hold(case, tmp_path, monkeypatch).values()) > 300
