"""Shingles that do not count are left out wherever texts become sets."""

import os
import pickle
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lookalike.text.hashes import KeyedHashes
from lookalike.text.ignored import Ignored
from lookalike.text.numbering import numbering
from lookalike.text.shingle import Shingling
from lookalike.text.texts import from_strings

WAYS = [
    {"unit": "word", "width": 2},
    {"unit": "char", "width": 3},
    {"unit": "byte", "width": 2},
    {"unit": "line"},
    {"tokenizer": str.split, "width": 2},
    {"unit": "word", "width": 1, "fold_case": False, "normalization": "none"},
]
texts = st.lists(
    st.lists(st.sampled_from(["a", "B", "b", "\u00e9", "e\u0301", "\u65e5", "...", "long" * 9, "\n"]), max_size=9).map(
        " ".join
    ),
    min_size=1,
)


def ignoring(way, ignored):
    plain, some = Shingling(**way), from_strings(ignored)
    return plain, Shingling(**way, ignored=Ignored.of(some, plain.hashes(some)[0]))


def rows_of(values, offsets):
    return [values[a:b].tolist() for a, b in pairwise(offsets)]


@pytest.mark.parametrize("way", WAYS)
@given(documents=texts, ignored=texts)
@example(documents=["a b a", "", "a b"], ignored=["a b", "B a b"])
def test_hashes_with_and_without_a_key_and_numbers_drop_the_same(way, documents, ignored):
    plain, counting = ignoring(way, ignored)
    counting = pickle.loads(pickle.dumps(counting))
    some, key = from_strings(documents), os.urandom(16)
    dropped = set(plain.hashes(from_strings(ignored))[0].tolist())
    every = rows_of(*plain.hashes(some))
    stays = [[value not in dropped for value in row] for row in every]
    wanted = [[value for value in row if value not in dropped] for row in every]
    assert rows_of(*counting.hashes(some)) == wanted
    keyed = rows_of(*KeyedHashes(plain, key).hashes(some))
    left = [[value for value, stay in zip(row, flags, strict=True) if stay] for row, flags in zip(keyed, stays, strict=True)]
    assert rows_of(*KeyedHashes(counting, key).hashes(some)) == left
    known = numbering(counting, key)
    pieces = [rows_of(*known.number(some.slice(row, row + 1)))[0] for row in range(len(some))]
    known_values = {
        number: value for row, values in zip(pieces, wanted, strict=True) for number, value in zip(row, values, strict=True)
    }
    assert [[known_values[number] for number in row] for row in pieces] == wanted
    assert len(set(known_values.values())) == len(known_values)


def test_what_tells_them_apart():
    _, one = ignoring(WAYS[0], ["a b c", "d e"])
    _, same = ignoring(WAYS[0], ["D e", "b c", "a b"])
    _, other = ignoring(WAYS[0], ["a b c"])
    assert one == same != other and hash(one) == hash(same)
    assert one.to_dict()["ignored"] == same.to_dict()["ignored"] != other.to_dict()["ignored"]
    assert "ignored" not in repr(Shingling()) and "ignored" not in Shingling().to_dict()
    assert "shingles=3" in repr(one)
