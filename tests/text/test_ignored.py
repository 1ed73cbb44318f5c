import os
import pickle
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from samples import words

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
@example(documents=[words("w", 600)], ignored=[" ".join(f"w{i}" for i in range(99, 500))])
def test_hashes_with_and_without_a_key_and_numbers_drop_the_same(way, documents, ignored):
    plain, counting = ignoring(way, ignored)
    counting, some, key = pickle.loads(pickle.dumps(counting)), from_strings(documents), os.urandom(16)
    dropped = set(plain.hashes(from_strings(ignored))[0].tolist())
    every = rows_of(*plain.hashes(some))

    def left_of(rows):
        pairs = (zip(*both, strict=True) for both in zip(rows, every, strict=True))
        return [[value for value, hash in row if hash not in dropped] for row in pairs]

    assert rows_of(*counting.hashes(some)) == left_of(every)
    assert rows_of(*KeyedHashes(counting, key).hashes(some)) == left_of(rows_of(*KeyedHashes(plain, key).hashes(some)))
    known = numbering(counting, key)
    numbers = [number for row in range(len(some)) for number in known.number(some.slice(row, row + 1))[0].tolist()]
    values = [value for row in left_of(every) for value in row]
    assert len({*zip(numbers, values, strict=True)}) == len({*numbers}) == len({*values})


def test_what_tells_them_apart():
    (plain, one), (_, same), (_, other) = (
        ignoring(WAYS[0], some) for some in (["a b c", "d e"], ["D e", "b c", "a b"], ["a b c"])
    )
    assert one == same != other and hash(one) == hash(same)
    assert one.to_dict()["ignored"] == same.to_dict()["ignored"] != other.to_dict()["ignored"]
    assert "ignored" not in repr(plain) and "ignored" not in plain.to_dict() and "shingles=3" in repr(one)
