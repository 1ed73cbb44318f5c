"""Sets that experiments draw, words as sets of documents, and the texts that the preparation of the thesis keeps."""

import numpy as np
import pytest
from bbit import wordsets
from one_permutation.sets import estimates, hashed_pairs, random_places
from preparation import english_share, prepared

import lookalike as la


def test_hashed_pairs_have_the_union_asked_for_and_resemble_by_half():
    shingles = hashed_pairs(np.random.default_rng(1), 4, 64)
    assert shingles.sizes.tolist() == [48] * 8
    for i in range(4):
        assert len(np.union1d(shingles.row(2 * i), shingles.row(2 * i + 1))) == 64
        assert shingles.resemblance(2 * i, 2 * i + 1) == 0.5


def test_random_places_are_of_permutations():
    n = 6000
    places, offsets = random_places(np.random.default_rng(2), n, 8, 3, 2, 1)
    rows = np.split(places, offsets[1:-1])
    assert [len(row) for row in rows[:4]] == [3, 2, 3, 2]
    assert all(
        len(set(left.tolist())) == 3 and len(set(left.tolist()) & set(right.tolist())) == 1
        for left, right in zip(rows[::2], rows[1::2], strict=True)
    )
    counts = np.bincount([int(row[0]) for row in rows[::2]], minlength=8)
    assert (np.abs(counts - n / 8) < 5 * (n * 7 / 64) ** 0.5).all(), "each place as often"


def test_estimates_pair_the_rows():
    signatures = la.sketches.PermutationBins(universe=8, permutations=4).bin_places([0, 5, 0, 5, 1, 7, 2, 7], [0, 2, 4, 6, 8])
    assert estimates(signatures).tolist() == [1.0, 1 / 3]


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


ENGLISH = "the members of the board and the owners of the shares are in the hall"
SPANISH = "los miembros del consejo y los propietarios de las acciones se reunen en la sala"


def test_english_has_common_words():
    assert english_share(ENGLISH) == 10 / 15
    assert english_share(SPANISH) == 0
    assert english_share("") == 0


def test_small_foreign_and_repeated_texts_are_left_out():
    texts = [ENGLISH, SPANISH, "the", ENGLISH, ENGLISH * 2]
    assert prepared(texts).tolist() == [True] * 5
    assert prepared(texts, least_bytes=10).tolist() == [True, True, False, True, True]
    assert prepared(texts, english=0.12).tolist() == [True, False, True, True, True]
    assert prepared(texts, distinct=True).tolist() == [True, True, True, False, True]


def test_bytes_are_counted_not_characters():
    assert prepared(["éé"], least_bytes=4).tolist() == [True]
    assert prepared(["ee"], least_bytes=4).tolist() == [False]
