from pathlib import Path

import numpy as np
import pandas
import pyarrow as pa
import pytest
from raising import assert_raises

import lookalike as la
from lookalike.errors import ParameterError


def test_what_is_refused():
    texts = ["one text", "another text", "a third text"]
    with la.Index.create("x") as index:
        index.add(["there"], ["a text that is there"])
        files = sorted(Path("x").iterdir())
        for message, ids in {
            "the id 'a' is given twice": ["a", "b", "a"],
            "the id 'there' is already in the index; pass replace=True": ["x", "y", "there"],
            "all be str or all be int; 1, in row 1, is of type int": ["a", 1, "c"],
            "True, in row 2, is of type bool": ["a", "b", True],
            "None, in row 1, is of type NoneType": ["a", None, "c"],
            "an integer of 16,610 bits, in row 2": ["a", "b", 10**5000],
            "in row 1, has a lone surrogate": ["a", "\ud800x", "c"],
            "ids of this index are of type str; got '1' of type int": [1, 2, 3],
            "got a single str": "abc",
            "got a single bytes": b"abc",
            "NoneType": None,
            "a single int": 7,
            "ids must be a list or a column; got dict": {"a": 1, "b": 2, "c": 3},
            "there are 2 ids and 3 texts": iter("ab"),
            "must fit 64 bits.*in row 1": [0, 1 << 63, 1],
            "must fit 64 bits.*in row 0": [-(1 << 63) - 1, 0, 1],
        }.items():
            assert_raises(ParameterError, message, index.add, ids, texts)
        assert len(index) == 1 and sorted(Path("x").iterdir()) == files and index.query(texts).num_rows == 0


def test_odd_ids_come_back_as_they_were():
    odd = ["", " ", "a\nb", "a\r", "\u2028", "\0", "x" * 100_000, "\U0010ffff", "1", "01"]
    ends = [-(1 << 63), (1 << 63) - 1, 0]
    for name, ids, given in (("texts", odd, iter(odd)), ("ints", ends, np.array(ends)), ("series", ends, pandas.Series(ends))):
        texts = ["one \ufffd two", *(f"text number {i} of these" for i in range(1, len(ids)))]
        with la.Index.create(name, keep_text=True) as index:
            index.add([], [])
            index.add(given, iter([b"one \xff two", *texts[1:]]))
            index.compact()
            exported = pa.concat_tables(index.export()).to_pydict()
            assert exported == {"id": ids, "text": texts}, "U+FFFD for what was no UTF-8"
            assert index.query(iter(texts), top=1)["id"].to_pylist() == ids == index.get(iter(ids))["id"].to_pylist()
            assert index.remove(iter(ids[::2])) == (len(ids) + 1) // 2 and index.remove(ids) == len(ids) // 2
            wrong, said = ([0], "are of type str; got '0' of type int") if name == "texts" else (["0"], "of type int; got '0'")
            assert_raises(ParameterError, said, index.remove, wrong)


def test_an_index_without_any():
    with la.Index.create("x", keep_text=True) as index:
        index.compact()
        assert index.contains([1]).tolist() == index.contains(["1"]).tolist() == [False]
        assert index.get(["1"]).num_rows == index.query(["text"]).num_rows == index.remove(["x"]) == 0


TEXTS = {"a": "one two three", "b": "", "c": "four five six", "é": "seven"}


@pytest.mark.parametrize("keep_text", [True, False])
def test_documents_are_returned_in_the_order_of_their_ids(keep_text, monkeypatch):
    monkeypatch.setattr("lookalike.index.state.TOGETHER", 1)
    with la.Index.create("x", keep_text=keep_text) as index:
        index.add(["a", "b"], ["old", ""])
        index.add(["c", "d"], ["four five six", "gone"])
        index.add(["a", "é"], ["one two three", "seven"], replace=True)
        index.remove(["d"])
        for change in (len, la.Index.compact):
            change(index)
            found = index.get(["é", "nothing", "a", "d", "b", "c", "a"]).to_pylist()
            assert found == [{"id": id, "text": TEXTS[id]} if keep_text else {"id": id} for id in "éabca"]
        assert index.query(["old", "gone", "one two three"])["id"].to_pylist() == ["a"] and len(index) == 4
        assert index.contains(["a", "d", "é", "", "b"]).tolist() == [True, False, True, False, True]
        assert index.contains([]).tolist() == [] and len(index.get([])) == len(index.get(["nothing"])) == 0
        for ask in (index.get, index.contains):
            for said, ids in (("of type str", [1]), ("must be a list", "a")):
                assert_raises(ParameterError, said, ask, ids)
