"""Documents with equal keys are one: which stays, what is said of the others, and what is refused."""

from contextlib import closing

import pyarrow as pa
import pytest
from json_lines import write_lines

import lookalike as la
from lookalike.inputs.ids import document_keys

PAGE = [f"word{i}" for i in range(40)]
A, A2, B, C = " ".join(PAGE), " ".join([*PAGE, "more"]), "nothing like that at all", "a third text of its own"


def table(*rows, **columns):
    """Rows of id, text and url."""
    ids, texts, urls = zip(*rows, strict=True)
    return pa.table({"id": list(ids), "text": list(texts), "url": pa.array(urls)} | columns)


def told(result):
    """Of each document but references its reason, whom it names, and their resemblance."""
    rows = [row for row in result.decisions.to_pylist() if row["reason"] != "reference"]
    return {row["id"]: (row["reason"], row["duplicate_of"], row["resemblance"]) for row in rows}


def test_the_first_of_a_key_stands_for_the_others():
    """Or whom it was removed for; those that are removed by their key match nobody, and have no copies."""
    rows = [("a", A, "1"), ("b", A2, "2"), ("c", B, "2"), ("d", B, None), ("e", C, "1"), ("f", C, None), ("g", A, "2")]
    result = la.dedup(table(*rows), id="id", key="url")
    score = 36 / 37
    wanted = {
        "a": ("kept", None, None), "b": ("near", "a", score), "c": ("key", "a", None), "d": ("kept", None, None),
        "e": ("key", "a", None), "f": ("kept", None, None), "g": ("key", "a", None),
    }  # fmt: skip
    assert told(result) == wanted
    assert result.groups.to_pylist() == [{"id": "a", "n_exact": 0, "n_duplicates": 4, "duplicates": ["b", "c", "e", "g"]}]
    assert result.annotations["cluster"].to_pylist() == ["a", "a", "a", "d", "a", "f", "a"]
    s = result.summary
    assert (s.kept, s.exact_duplicates, s.near_duplicates, s.by_key, s.documents) == (3, 0, 1, 3, 7)
    assert "removed by key                       3" in str(s) and "removed by key" not in str(la.dedup([A]).summary)
    assert result.settings.to_dict()["key"] == "url" and "key" not in la.Settings().to_dict()
    assert result.annotations["resemblance"].to_pylist() == [None, score, None, None, None, None, None]


def test_references_have_keys_and_stay(tmp_path):
    """Two of one key both remove near-duplicates; ``within`` makes no difference. Lists of pairs have no keys."""
    against = table(("r", A, "1"), ("s", B, "1"), ("t", A, "2"), site=[1, 1, 1])
    rows = table(("a", C, "1"), ("b", B, None), ("c", C, "2"), site=[2, 1, 2])
    with closing(la.dedup(rows, against=against, id="id", key="url", within="site", evidence="all")) as result:
        assert told(result) == {"a": ("key", "r", None), "b": ("exact", "s", 1.0), "c": ("key", "t", None)}
        assert result.groups["id"].to_pylist() == ["r", "s", "t"]
        assert told(result.rethreshold(1.0)) == told(result)
    with closing(la.dedup(against, id="id", key="url")) as result:
        result.save_sketches(tmp_path / "history")
    assert len(la.pairs(rows, against=tmp_path / "history", id="id")) == 1


def test_values_compare_like_groups_and_all_columns_count(tmp_path):
    """1 equals 1.0, but neither true nor "1"; a null in one column is not a key."""
    lines = [(1, "x"), (1.0, "x"), (True, "x"), ("1", "x"), (1, "y"), (1, None), (1, None), ("", "x"), ("", "x")]
    rows = [{"text": f"{'abcdefghi'[i]} text of its own {i}", "m": m, "n": n} for i, (m, n) in enumerate(lines)]
    path = write_lines(tmp_path / "in.jsonl", rows)
    assert la.dedup(path, key=["m", "n"]).keep.tolist() == [True, False, True, True, True, True, True, True, False]
    assert la.dedup(path, key=["n"]).keep.tolist() == [True, *[False] * 3, True, True, True, False, False]
    assert document_keys([[b"sab", b"sa"], [b"sc", b"sbc"]])[0] != document_keys([[b"sab", b"sa"], [b"sc", b"sbc"]])[1]


def test_what_is_refused():
    rows = table(("a", A, "1"), ("b", A2, "1"))
    for given in ({"key": "nope"}, {"key": ["url", "nope"]}, {"keep": "nope:x"}, {"keep": "longest; largest:nope"}, {"across": "nope"},
                  {"slices": "nope"}):  # fmt: skip
        with pytest.raises(la.errors.InputDataError, match="'nope' is missing"):
            la.dedup(rows, id="id", **given)
    for key in ("", ["url", ""], [1]):
        with pytest.raises(la.errors.ParameterError, match="key must be the name of a column, or a list of names"):
            la.Settings(key=key)
    with pytest.raises(la.errors.ParameterError, match="key must be a str, a list of str or None; got 1"):
        la.Settings(key=1)
    assert la.Settings(key=[]).key is None and la.Settings(key=["a", "b"]).key == ("a", "b")
    with pytest.raises(la.errors.InputDataError, match="column 'm' holds .* different kinds"):
        la.dedup([{"text": "a", "m": 1}, {"text": "b", "m": "x"}], keep="m:1,x; largest:m")
    assert la.dedup([{"text": "a", "m": 1}, {"text": "b", "m": "x"}, {"text": "c", "m": [2]}], keep="m:1,x").keep.all()
