"""Texts of any kind are shingled, or refused with the row and the way out."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import lookalike as la
from lookalike.errors import InputDataError, ParameterError


@pytest.mark.parametrize(
    "texts",
    [
        ["a", None, "b c"],
        ("a", None, b"b c"),
        iter(["a", None, "b c"]),
        np.array(["a", None, "b c"], object),
        np.array(["a", "", "b c"]),
        np.array([b"a", b"", b"b c"]),
        pd.Series(["a", None, "b c"]),
        pd.Series(["a", float("nan"), b"b c"], dtype=object),
        pd.Series(["a", pd.NA, "b c"], dtype="string"),
        pd.Series(["a", None, "b c"], dtype="category"),
        pa.array(["a", None, "b c"]),
        pa.array(["x", "a", None, "b c"])[1:],
        pa.array(["a", None, "b c"]).dictionary_encode(),
    ],
    ids=range(13),
)
def test_missing_texts_are_empty(texts):
    assert la.shingle(texts, width=1).sizes.tolist() == [1, 0, 2]


def test_texts_in_several_chunks_have_the_shingles_of_all():
    found, wanted = (la.shingle(texts, width=1) for texts in (pa.chunked_array([["a b", "c d"], ["e"]]), ["a b", "c d", "e"]))
    assert found.sizes.tolist() == [2, 2, 1] and found.values.tolist() == wanted.values.tolist()


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["a", 3], "row 1: a text must be a str; this one is int: 3"),
        (["fine", "ab\ud800cd"], "row 1: .*lone surrogate at character 2"),
        (["a", float("nan")], "row 1: a text must be a str; this one is float: nan"),
        (["a", pd.NA], "row 1: a text must be a str; this one is NAType"),
        (np.array(["a", "b", float("nan")], object), "row 2: a text must be a str; this one is float: nan"),
        (np.array(["a", 3], object), "row 1: a text must be a str; this one is int: 3"),
        (np.arange(2), "row 0: a text must be a str"),
        (np.array([["a"], ["b"]]), r"got an array of shape \(2, 1\)"),
        (np.array("a b"), r"got an array of shape \(\)"),
        (np.array(["a", "\ud800"], object), r"row 1: .*lone surrogate at character 0.*encoding_errors='replace'"),
        (pd.Series(["a", None, 3], dtype=object), "row 2: a text must be a str; this one is int: 3"),
        (pd.Series(["a", "\ud800"], dtype=object), "row 1: .*lone surrogate"),
        ({"a": "b"}, "a list of str or a column; got dict"),
        ({"a", "b"}, "a list of str or a column; got a set"),
        (b"a b", "put it into a list"),
        (None, "got NoneType"),
    ],
    ids=range(16),
)
def test_what_is_not_a_text_is_refused_by_row(texts, message):
    with pytest.raises(InputDataError, match=message):
        la.shingle(texts, width=1)


@pytest.mark.parametrize("make", [list, lambda x: np.array(x, object), lambda x: pd.Series(x, dtype=object)])
def test_lone_surrogates_separate_words_where_asked_for(make):
    assert la.shingle(make(["a", "x\ud800b"]), width=1, encoding_errors="replace").sizes.tolist() == [1, 2]


FAILED, YIELDS = "the tokenizer failed: ", "the tokenizer must yield "


@pytest.mark.parametrize(
    ("tokenizer", "message"),
    [
        (lambda t: [t, str(1 // len(t))], FAILED + "ZeroDivisionError"),
        (lambda t: (x for x in [t, str(1 // len(t))]), FAILED + "ZeroDivisionError"),
        (lambda t: [t] if t else None, FAILED + "TypeError"),
        (lambda t: [t] if t else "abc", YIELDS + "a list of str; it yielded 'abc'"),
        (lambda t: [t] if t else b"abc", YIELDS + "a list of str; it yielded b'abc'"),
        (lambda t: [t] if t else ["a", None], YIELDS + "str; it yielded None"),
        (lambda t: [t] if t else ["a", b"a"], YIELDS + "str; it yielded b'a'"),
        (lambda t: [t] if t else ["a", "b\ud800"], r"the tokenizer yielded 'b\\ud800': surrogates"),
    ],
    ids=range(8),
)
def test_failures_of_a_tokenizer_name_the_row(tokenizer, message):
    """Also in a column of several chunks, and beside rows of no tokens and of many."""
    texts = pa.chunked_array([["a", "b"], ["c", "d", "", "e"]])
    with pytest.raises(InputDataError, match=f"row 4: {message}"):
        la.shingle(texts, tokenizer=tokenizer)


def test_failures_of_a_tokenizer_name_the_row_of_a_job():
    texts = [f"w{i} x y z" for i in range(9000)]
    texts[8500] = ""
    with pytest.raises(InputDataError, match=r"row 8500: the tokenizer failed: ZeroDivisionError"):
        la.dedup(texts, tokenizer=lambda t: [t, str(1 // len(t))], threads=2)


def test_tokens_may_come_from_a_generator():
    lazy = la.shingle(["a b", "c", ""], tokenizer=lambda t: (x for x in t.split()), width=1)
    assert lazy.values.tolist() == la.shingle(["a b", "c", ""], tokenizer=str.split, width=1).values.tolist()


@pytest.mark.parametrize(
    "wrong", [{"width": "5"}, {"width": 2.5}, {"fold_case": "no"}, {"tokenizer": "words"}, {"encoding_errors": "ignore"}]
)
def test_parameters_of_the_wrong_type_are_refused(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        la.shingle(["a"], **wrong)


def test_numbers_of_numpy_are_numbers():
    assert la.Shingling(width=np.int64(3), fold_case=np.True_) == la.Shingling(width=3)
    assert type(la.Shingling(width=np.int64(3)).to_dict()["width"]) is int
