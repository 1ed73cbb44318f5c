"""Hardly any documents, and the same documents in other files, on a cluster."""

from contextlib import closing

import pytest
from engine_kinds import spark_engine
from same_results import same_job
from spark.spark_jobs import corpus, files

import lookalike as la

pytestmark = [pytest.mark.spark, pytest.mark.slow]
SAID = ["id", "reason", "duplicate_of", "resemblance"]


@pytest.mark.parametrize("texts", [[], ["", "", "!"], ["a b"], ["a b", "a b"], ["", "a b c", "a b d"]], ids=str)
@pytest.mark.parametrize("keep", ["first", "longest"])
def test_hardly_any_documents(texts, keep, cluster, tmp_path):
    given = {"keep": keep, "threshold": 0.5, "width": 1, "threads": 1}
    with closing(la.dedup(texts, **given)) as wanted, closing(la.dedup(texts, engine=spark_engine(tmp_path), **given)) as found:
        same_job(found, wanted)


def test_nothing_but_references(cluster, tmp_path):
    given = {"against": ["a b", "b c"], "threads": 1}
    with closing(la.dedup([], **given)) as wanted, closing(la.dedup([], engine=spark_engine(tmp_path), **given)) as found:
        same_job(found, wanted)


def test_the_same_documents_in_more_files(cluster, tmp_path):
    rows = corpus("mixed", 1200)
    for name in ("one", "many"):
        (tmp_path / name).mkdir()
    given = {"id": "id", "threshold": 0.7, "keep": "smallest:score", "threads": 1}
    one, many = files(rows, tmp_path / "one", "jsonl"), files(rows, tmp_path / "many", "parquet", 7)
    with closing(la.dedup(one, **given)) as wanted, closing(la.dedup(many, engine=spark_engine(tmp_path), **given)) as found:
        assert found.decisions.select(SAID).equals(wanted.decisions.select(SAID))
        assert found.keep.tolist() == wanted.keep.tolist() and not all(wanted.keep)
