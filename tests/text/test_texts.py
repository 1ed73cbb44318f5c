import numpy as np
import pandas as pd
import pyarrow as pa
from raising import assert_raises

import lookalike as la
from lookalike.errors import InputDataError, ParameterError

MISSING = ["a", None, "b c"]


def test_missing_texts_are_empty():
    for texts in (
        MISSING,
        ("a", None, b"b c"),
        iter(MISSING),
        np.array(MISSING, object),
        np.array(["a", "", "b c"]),
        np.array([b"a", b"", b"b c"]),
        pd.Series(MISSING),
        pd.Series(["a", float("nan"), b"b c"], dtype=object),
        pd.Series(["a", pd.NA, "b c"], dtype="string"),
        pd.Series(MISSING, dtype="category"),
        pa.array(MISSING),
        pa.array(["x", *MISSING])[1:],
        pa.array(MISSING).dictionary_encode(),
        pa.chunked_array([MISSING[:2], MISSING[2:]]),
    ):
        found = la.shingle(texts, width=1)
        assert found.sizes.tolist() == [1, 0, 2] and found.values.tolist() == la.shingle(["a", "b c"], width=1).values.tolist()


def test_what_is_not_a_text_is_refused_by_row():
    for texts, message in (
        (["a", 3], "row 1: a text must be a str; this one is int: 3"),
        (["fine", "ab\ud800cd"], "row 1: .*lone surrogate at character 2"),
        (["a", float("nan")], "row 1: .* float: nan"),
        (["a", pd.NA], "row 1: .* NAType"),
        (np.array(["a", "b", float("nan")], object), "row 2: .* float: nan"),
        (np.array(["a", 3], object), "row 1: .* int: 3"),
        (np.arange(2), "row 0: a text must be a str"),
        (np.array([["a"], ["b"]]), r"got an array of shape \(2, 1\)"),
        (np.array("a b"), r"got an array of shape \(\)"),
        (np.array(["a", "\ud800"], object), "row 1: .*lone surrogate at character 0.*encoding_errors='replace'"),
        (pd.Series(["a", None, 3], dtype=object), "row 2: .* int: 3"),
        (pd.Series(["a", "\ud800"], dtype=object), "row 1: .*lone surrogate"),
        ({"a": "b"}, "got dict"),
        ({"a", "b"}, "got a set"),
        (b"a b", "put it into a list"),
        (None, "got NoneType"),
    ):
        assert_raises(InputDataError, message, la.shingle, texts, width=1)


def test_lone_surrogates_separate_words_where_asked_for():
    some = ["a", "x\ud800b"]
    for texts in (some, np.array(some, object), pd.Series(some, dtype=object)):
        assert la.shingle(texts, width=1, encoding_errors="replace").sizes.tolist() == [1, 2]


FAILED, YIELDS = "the tokenizer failed: ", "the tokenizer must yield "


def test_failures_of_a_tokenizer_name_the_row():
    texts = pa.chunked_array([["a", "b"], ["c", "d", "", "e"]])
    for tokenizer, message in (
        (lambda t: [t, str(1 // len(t))], FAILED + "ZeroDivisionError"),
        (lambda t: (x for x in [t, str(1 // len(t))]), FAILED + "ZeroDivisionError"),
        (lambda t: [t] if t else None, FAILED + "TypeError"),
        (lambda t: [t] if t else "abc", YIELDS + "a list of str; it yielded 'abc'"),
        (lambda t: [t] if t else b"abc", YIELDS + "a list of str; it yielded b'abc'"),
        (lambda t: [t] if t else ["a", None], YIELDS + "str; it yielded None"),
        (lambda t: [t] if t else ["a", b"a"], YIELDS + "str; it yielded b'a'"),
        (lambda t: [t] if t else ["a", "b\ud800"], r"the tokenizer yielded 'b\\ud800': surrogates"),
    ):
        assert_raises(InputDataError, f"row 4: {message}", la.shingle, texts, tokenizer=tokenizer)


def test_failures_of_a_tokenizer_name_the_row_of_a_job():
    texts = [f"w{i} x y z" for i in range(9000)]
    texts[8500] = ""
    how = {"tokenizer": lambda t: [t, str(1 // len(t))], "threads": 2}
    assert_raises(InputDataError, "row 8500: the tokenizer failed: ZeroDivisionError", la.dedup, texts, **how)


def test_tokens_may_come_from_a_generator():
    lazy = la.shingle(["a b", "c", ""], tokenizer=lambda t: (x for x in t.split()), width=1)
    assert lazy.values.tolist() == la.shingle(["a b", "c", ""], tokenizer=str.split, width=1).values.tolist()


def test_parameters_of_the_wrong_type_are_refused():
    wrong = ("width", "5"), ("width", 2.5), ("fold_case", "no"), ("tokenizer", "words"), ("encoding_errors", "ignore")
    for name, value in wrong:
        assert_raises(ParameterError, name, la.shingle, ["a"], **{name: value})


def test_numbers_of_numpy_are_numbers():
    assert la.Shingling(width=np.int64(3), fold_case=np.True_) == la.Shingling(width=3)
    assert type(la.Shingling(width=np.int64(3)).to_dict()["width"]) is int
