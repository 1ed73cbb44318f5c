"""The word diff: nothing is said to be equal that is not, little is missed, and hostile texts take no time."""

import random
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.report import diff
from lookalike.report.diff import matches


def check(left, right):
    """Return the runs of two texts, which must be equal words, in ascending places."""
    found = matches(left, right)
    i = j = 0
    for a, b, n in found:
        assert n > 0 and a >= i and b >= j
        assert list(left[a : a + n]) == list(right[b : b + n])
        i, j = a + n, b + n
    assert i <= len(left) and j <= len(right)
    return found


def longest_common(left, right):
    """The length of the longest common subsequence, by its definition."""
    for size in range(min(len(left), len(right)), 0, -1):
        subsequences = {tuple(left[i] for i in some) for some in combinations(range(len(left)), size)}
        if any(tuple(right[i] for i in some) in subsequences for some in combinations(range(len(right)), size)):
            return size
    return 0


@given(st.lists(st.sampled_from("abcd"), max_size=30), st.lists(st.sampled_from("abcd"), max_size=30))
def test_runs_are_equal_words_in_order(left, right):
    check(left, right)


@given(st.lists(st.sampled_from("abc"), max_size=7), st.lists(st.sampled_from("abc"), max_size=7))
def test_without_anchors_it_is_the_longest_common_subsequence(left, right):
    found = diff._Work()
    diff._between(left, right, (0, len(left), 0, len(right)), found)
    assert sum(n for _, _, n in found.matches) == longest_common(left, right)


def test_equal_texts_are_one_run():
    words = [str(i % 7) for i in range(1000)]
    assert check(words, words) == [(0, 0, 1000)]
    assert check([], words) == [] == check(words, [])


def test_a_moved_sentence_and_changed_words_are_found():
    left = [f"w{i}" for i in range(200)]
    right = [*left[:50], "new", *left[51:120], *left[150:]]
    assert check(left, right) == [(0, 0, 50), (51, 51, 69), (150, 120, 50)]


def test_a_short_run_between_long_changes_is_part_of_the_change():
    left = ["a1", "a2", "a3", "a4", "a5", "the", "a6", "a7", "a8", "a9", "a10"]
    right = ["b1", "b2", "b3", "b4", "b5", "the", "b6", "b7", "b8", "b9", "b10"]
    assert check(left, right) == []
    assert check(["x", "the", "y"], ["z", "the", "v"]) == [(1, 1, 1)]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (["a"] * 30_000, ["a"] * 20_000),
        (["a", "b"] * 15_000, ["b", "a", "a"] * 9_000),
        ([str(i) for i in range(30_000)], [str(i) for i in range(30_000)][::-1]),
        (["a"] * 15_000 + ["b"] * 15_000, ["b"] * 15_000 + ["a"] * 15_000),
    ],
)
def test_hostile_texts_end_within_the_bound(left, right, monkeypatch):
    """The steps are counted: a comparison takes no more than the bound, and what one stretch takes after it is reached."""
    made = []
    original = diff._Work

    def work():
        made.append(original())
        return made[-1]

    monkeypatch.setattr(diff, "_Work", work)
    check(left, right)
    assert made[0].steps > -max(len(left), len(right)) - diff.MOST_EDITS


def test_many_random_edits_are_found_as_few_changes():
    rng = random.Random(3)
    left = [f"w{rng.randrange(300)}" for _ in range(3000)]
    right = list(left)
    for _ in range(60):
        right[rng.randrange(3000)] = "changed"
    assert sum(n for _, _, n in check(left, right)) >= 3000 - 60 - 20
