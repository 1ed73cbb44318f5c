"""Documents with an equal value of ``across`` are neither copies nor near-duplicates of each other."""

import random
from contextlib import closing

import pyarrow as pa
import pytest
from listing import find_pairs

import lookalike as la
from lookalike.errors import InputDataError

PAGE = " ".join(f"word{i}" for i in range(60))


def differ(a, b):
    return a is None or b is None or a != b


def corpus(n=90):
    """Families of near-duplicates and copies; each has some of three authors, or none."""
    rng = random.Random(5)
    texts = []
    for family in range(n // 6):
        base = [f"f{family}x{i}" for i in range(12)]
        for _ in range(3):
            base[rng.randrange(12)] = f"y{rng.randrange(9)}"
            texts += [" ".join(base)] * 2
    rng.shuffle(texts)
    return pa.table({"text": texts, "author": [rng.choice(["a", "b", "b", None]) for _ in texts]})


def test_equal_texts_meet_behind_a_crowd_of_one_author():
    """Neither the first documents of their crowd nor rare codes lead to each other."""
    crowd = [f"{PAGE} {i}" for i in range(300)]
    texts = [*crowd, *[PAGE] * 20, PAGE, PAGE]
    authors = ["a"] * 320 + ["b", "a"]
    for references in (0, 310):
        table = pa.table({"text": texts, "author": authors})
        against = table.slice(0, references) if references else None
        with closing(
            la.dedup(table.slice(references), against=against, across="author", threshold=1.0, max_bucket=4)
        ) as result:
            rows = result.decisions.slice(references).to_pylist()
            assert [row["kept"] for row in rows] == [author == "a" for author in authors[references:]]
            assert [(row["reason"], row["resemblance"]) for row in rows if not row["kept"]] == [("near", 1.0)]
            assert result.summary.exact_duplicates == 0


def test_a_document_without_a_value_is_compared_with_all(tmp_path):
    path = tmp_path / "posts.csv"
    path.write_text("author,text\n" + "".join(f"{author},{PAGE}\n" for author in ("", "", "a", "a", "NaN")))
    assert la.dedup(path, across="author").keep.tolist() == [True, False, False, False, False]
    path.write_text("author,text\n" + "".join(f"{author},{PAGE}\n" for author in ("a", "a", "")))
    assert la.dedup(path, across="author").keep.tolist() == [True, True, False]


def test_within_and_across_together():
    table = pa.table({"text": [PAGE] * 6, "site": list("xxyyxy"), "author": list("abaaaa")})
    assert la.dedup(table, within="site", across="author").keep.tolist() == [True, False, True, True, True, True]


def test_a_missing_column_is_named():
    with pytest.raises(InputDataError, match="writer"):
        la.dedup(pa.table({"text": [PAGE]}), across="writer")


def test_an_audit_compares_what_the_job_does():
    table = corpus()
    authors = table["author"].to_pylist()
    with closing(la.dedup(table, across="author", threshold=0.5, width=1, bands=1, rows=6)) as result:
        found = result.audit(10**6)
        assert found["missed"] > 5
        for i, j, score in found["examples"]:
            assert differ(authors[i], authors[j]) and score >= 0.5
        kept = result.keep.tolist()
    every = find_pairs(table, None, across="author", threshold=0.5, width=1).table.to_pylist()
    assert found["missed"] == 2 * sum(kept[row["left_id"]] and kept[row["right_id"]] for row in every)
