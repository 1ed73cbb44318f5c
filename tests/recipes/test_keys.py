"""Documents with equal keys are one: which stays, what is said of the others, and what is refused."""

from contextlib import closing

import pyarrow as pa
import pytest

import lookalike as la
from lookalike.errors import InputDataError, ParameterError
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
    gone = {"b": ("near", "a", 36 / 37), **dict.fromkeys("ceg", ("key", "a", None))}
    assert told(result) == dict.fromkeys("adf", ("kept", None, None)) | gone
    assert result.groups.to_pylist() == [{"id": "a", "n_exact": 0, "n_duplicates": 4, "duplicates": ["b", "c", "e", "g"]}]
    assert result.annotations["cluster"].to_pylist() == ["a", "a", "a", "d", "a", "f", "a"]
    s = result.summary
    assert (s.kept, s.exact_duplicates, s.near_duplicates, s.by_key, s.documents) == (3, 0, 1, 3, 7)
    assert "removed by key                       3" in str(s) and "removed by key" not in str(la.dedup([A]).summary)
    assert result.settings.to_dict()["key"] == "url" and "key" not in la.Settings().to_dict()


def test_references_have_keys_and_stay():
    """Two of one key both remove near-duplicates; ``within`` makes no difference."""
    against = table(("r", A, "1"), ("s", B, "1"), ("t", A, "2"), site=[1, 1, 1])
    rows = table(("a", C, "1"), ("b", B, None), ("c", C, "2"), site=[2, 1, 2])
    with closing(la.dedup(rows, against=against, id="id", key="url", within="site", evidence="all")) as result:
        assert told(result) == {"a": ("key", "r", None), "b": ("exact", "s", 1.0), "c": ("key", "t", None)}
        assert result.groups["id"].to_pylist() == ["r", "s", "t"]
        assert told(result.rethreshold(1.0)) == told(result)


def test_keys_of_several_columns_are_unambiguous():
    """A null in one of them is no key."""
    assert len({*document_keys([[b"sab", b"sa"], [b"sc", b"sbc"]])}) == 2
    assert document_keys([[b"s", b""], [b"", b"s"]]) == [b"", b""]


def test_what_is_refused():
    rows = table(("a", A, "1"), ("b", A2, "1"))
    for given in ({"key": "nope"}, {"key": ["url", "nope"]}, {"keep": "nope:x"}, {"keep": "longest; largest:nope"}, {"across": "nope"},
                  {"slices": "nope"}):  # fmt: skip
        with pytest.raises(InputDataError, match="'nope' is missing"):
            la.dedup(rows, id="id", **given)
    for key in ("", ["url", ""], [1], 1):
        with pytest.raises(ParameterError) as told:
            la.Settings(key=key)
        assert told.value.name == "key"
    assert la.Settings(key=[]).key is None and la.Settings(key=["a", "b"]).key == ("a", "b")
    mixed = [{"text": "a", "m": 1}, {"text": "b", "m": "x"}, {"text": "c", "m": [2]}]
    with pytest.raises(InputDataError, match="column 'm' holds .* different kinds"):
        la.dedup(mixed, keep="m:1,x; largest:m")
    assert la.dedup(mixed, keep="m:1,x").keep.all()
