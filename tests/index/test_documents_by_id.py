"""Documents by their ids: whether they are there, and what they are."""

import pytest

import lookalike as la

TEXTS = {"a": "one two three", "b": "", "c": "four five six", "é": "seven"}


@pytest.fixture(params=[True, False], ids=["texts", "no texts"])
def index(request, tmp_path):
    """An index of three segments, in which a document was replaced and another one removed."""
    with la.Index.create(tmp_path / "x", keep_text=request.param) as made:
        made.add(["a", "b"], ["old", ""])
        made.add(["c", "d"], ["four five six", "gone"])
        made.add(["a", "é"], ["one two three", "seven"], replace=True)
        made.remove(["d"])
        yield made


def test_documents_are_returned_in_the_order_of_their_ids(index):
    found = index.get(["é", "nothing", "a", "d", "b", "c"])
    assert found["id"].to_pylist() == ["é", "a", "b", "c"]
    if index.info["keep_text"]:
        assert found["text"].to_pylist() == [TEXTS[id] for id in found["id"].to_pylist()]
    else:
        assert found.column_names == ["id"]


def test_an_id_that_is_asked_for_twice(index):
    assert index.get(["a", "a"])["id"].to_pylist() == ["a", "a"]


def test_which_ids_are_there(index):
    assert index.contains(["a", "d", "é", "", "b"]).tolist() == [True, False, True, False, True]
    assert index.contains([]).tolist() == [] and len(index.get([])) == len(index.get(["nothing"])) == 0


def test_ids_of_another_type(index):
    for ask in (index.get, index.contains):
        with pytest.raises(la.ParameterError, match="of type str"):
            ask([1])
        with pytest.raises(la.ParameterError, match="must be a list"):
            ask("a")
    index.close()
    with pytest.raises(la.ParameterError, match="closed"):
        index.get(["a"])


def test_ids_that_are_numbers_and_an_index_without_any(tmp_path):
    with la.Index.create(tmp_path / "x", keep_text=True) as index:
        assert index.contains([1]).tolist() == index.contains(["1"]).tolist() == [False]
        assert index.get(["1"]).to_pylist() == []
        index.add([1, -(1 << 63)], ["one", "least"])
        assert index.get([-(1 << 63), 1, 2]).to_pylist() == [{"id": -(1 << 63), "text": "least"}, {"id": 1, "text": "one"}]
