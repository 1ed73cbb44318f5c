"""Words as sets of documents: counted from the texts, chosen for Table 1, and sketched with true permutations."""

import numpy as np
import pytest
from bbit import wordsets

TEXTS = ["---\nkey: head\n---\nalpha Beta gamma", "alpha beta", "alpha", "beta, gamma! gamma"]


@pytest.fixture
def sets():
    """Sets of the words of the texts with two words or more."""
    return wordsets.word_sets(TEXTS, 10, 2, 10)


def test_words_are_sets_of_documents(sets):
    """The head of a text is left out, case and repeats do not count, and the document of one word neither."""
    assert sets.words == ["beta", "alpha", "gamma"]
    assert sets.universe == 3
    assert sets.sizes.tolist() == [3, 2, 2]
    assert sets.densities.tolist() == pytest.approx([1, 2 / 3, 2 / 3])
    left, right, common = sets.pairs()
    assert [*zip(left.tolist(), right.tolist(), common.tolist(), strict=True)] == [(0, 1, 2), (0, 2, 2), (1, 2, 1)]
    assert wordsets.resemblance(sets, 1, 2) == pytest.approx(1 / 3)
    values, offsets = sets.members([2, 1])
    assert sorted(values[: offsets[1]]) == sets.values[sets.offsets[2] :].tolist()


def test_fewer_documents_and_words():
    sets = wordsets.word_sets(TEXTS, 2, 1, 1)
    assert sets.universe == 2
    assert len(sets.words) == 1


def test_absent_texts(tmp_path):
    assert wordsets.licence_words(tmp_path) is None


def test_stand_ins_are_the_closest_pairs(rng):
    """Sets that are built like two rows of Table 1 are found among others."""
    universe, chosen = 2000, [rng.choice(2000, n, replace=False) for n in (300, 120, 30)]
    of = np.arange(universe)
    chosen += [of[:1140], of[176 : 176 + 1108], of[:1192], of[1132 : 1132 + 70]]  # OF, AND; A, TEST
    chosen.sort(key=len, reverse=True)
    sets = wordsets.WordSets([str(len(c)) for c in chosen], np.concatenate(chosen), np.cumsum([0, *map(len, chosen)]), universe)
    found = wordsets.stand_ins(sets)
    names = [tuple(sets.words[i] for i in pair) for pair in found]
    assert names[2] == ("1140", "1108")
    assert names[9] == ("1192", "70")


def test_repeated_estimates_scatter_around_the_resemblance(sets):
    found = wordsets.repeated(sets, ((1, 2),), 16, 400)
    whole = found.found[None][0]
    assert abs(whole.mean() - 1 / 3) < 4 * (2 / 9 / 16 / 400) ** 0.5
    assert set(found.found) == {1, 2, 3, 4, None}
    assert not np.allclose(found.blind[0], found.found[1][0])
