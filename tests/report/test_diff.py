from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from lookalike.report import diff


def check(left, right):
    found = diff.matches(left, right)
    i = j = 0
    for a, b, n in found:
        assert n > 0 and a >= i and b >= j and list(left[a : a + n]) == list(right[b : b + n])
        i, j = a + n, b + n
    assert i <= len(left) and j <= len(right)
    return found


def longest_common(left, right):

    def subsequences(words, size):
        return {tuple(words[i] for i in some) for some in combinations(range(len(words)), size)}

    return max(size for size in range(len(left) + 1) if subsequences(left, size) & subsequences(right, size))


@given(st.lists(st.sampled_from("abcd"), max_size=30), st.lists(st.sampled_from("abcd"), max_size=30))
def test_runs_are_equal_words_in_order(left, right):
    check(left, right)


@given(st.lists(st.sampled_from("abc"), max_size=7), st.lists(st.sampled_from("abc"), max_size=7))
def test_without_anchors_it_is_the_longest_common_subsequence(left, right):
    found = diff._Work()
    diff._between(left, right, (0, len(left), 0, len(right)), found)
    assert sum(n for _, _, n in found.matches) == longest_common(left, right)


WORDS = [f"w{i}" for i in range(200)]
EDITED = [word if i % 30 < 29 else "changed" for i, word in enumerate(WORDS * 9)]
REPEATED = [str(i % 7) for i in range(1000)]


def test_runs_are_found_as_few_changes():
    for left, right, runs in (
        (REPEATED, REPEATED, [(0, 0, 1000)]),
        ([], REPEATED, []),
        (REPEATED, [], []),
        (WORDS, [*WORDS[:50], "new", *WORDS[51:120], *WORDS[150:]], [(0, 0, 50), (51, 51, 69), (150, 120, 50)]),
        # A short run between long changes is part of the change.
        ([*"abcde", "the", *"fghij"], [*"klmno", "the", *"pqrst"], []),
        (["x", "the", "y"], ["z", "the", "v"], [(1, 1, 1)]),
        (EDITED, WORDS * 9, [(a * 30, a * 30, 29) for a in range(60)]),
    ):
        assert check(left, right) == runs


def test_hostile_texts_end_within_the_bound(monkeypatch):
    """A comparison takes no more steps than the bound, and what one stretch takes after it is reached."""
    made, original = [], diff._Work
    monkeypatch.setattr(diff, "_Work", lambda: made.append(original()) or made[-1])
    for left, right in (
        (["a"] * 30_000, ["a"] * 20_000),
        (["a", "b"] * 15_000, ["b", "a", "a"] * 9_000),
        ([*range(30_000)], [*range(30_000)][::-1]),
        (["a"] * 15_000 + ["b"] * 15_000, ["b"] * 15_000 + ["a"] * 15_000),
    ):
        check(left, right)
        assert made[-1].steps > -max(len(left), len(right)) - diff.MOST_EDITS
