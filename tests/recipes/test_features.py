import math
import pickle
from dataclasses import replace

import numpy as np
import pytest

import lookalike as la
from lookalike.errors import IncompatibleSketchError, InputDataError, ParameterError
from lookalike.sketches import DocumentFrequencies as Frequencies
from lookalike.sketches import WordTokenizer

TEXTS = ["The cats are running home", "A cat ran and ran and ran", "dogs", ""]


def counted(texts=TEXTS, width=1):
    return Frequencies.collect(la.shingle(texts, width=width))


def hash_of(word):
    return la.shingle([word], width=1).values


def test_words_without_stop_words_and_stemmed():
    for given, text, words in (
        ({}, "The cats were running, and the CONNECTIONS connected!", ["cat", "run", "connect", "connect"]),
        ({"stem": False}, "The cats", ["cats"]),
        ({"stop_words": False, "stem": False}, "The_cats 1a", ["the", "cats", "1a"]),
        ({"language": "german"}, "Die Häuser und der Hund", ["haus", "hund"]),
    ):
        made = WordTokenizer(**given)
        same = pickle.loads(pickle.dumps(made))
        assert made(text) == same(text) == words and made == same
    with pytest.raises(ParameterError, match="language"):
        WordTokenizer(language="klingon")
    sets = [set(WordTokenizer()(text)) for text in TEXTS]
    shingles = la.shingle(TEXTS, tokenizer=WordTokenizer(), width=1)
    assert shingles.resemblance(0, 1) == len(sets[0] & sets[1]) / len(sets[0] | sets[1]) > 0
    assert WordTokenizer() != WordTokenizer(language="german")


def test_frequencies_are_counted_merged_and_stored(tmp_path):
    whole, path = counted(), tmp_path / "df.npz"
    merged = counted(TEXTS[:2]).merge(counted(TEXTS[2:]))
    assert whole.n_documents == merged.n_documents == 4
    assert merged.values.tolist() == whole.values.tolist() and merged.counts.tolist() == whole.counts.tolist()
    for word, inverse in (("ran", math.log(5 / 2) + 1), ("zebra", math.log(5) + 1)):
        assert whole.inverse(hash_of(word))[0] == pytest.approx(inverse)
    whole.save(path)
    assert Frequencies.load(path, la.Shingling(width=1)).counts.tolist() == whole.counts.tolist()
    with pytest.raises(ParameterError, match="asked for"):
        Frequencies.load(path, la.Shingling(width=2))
    Frequencies.collect(la.sketches.Shingles.from_arrays([1, 2], [0, 2])).save(path)
    assert Frequencies.load(path).counts.tolist() == [1, 1]
    with pytest.raises(ParameterError, match="counts features of arrays; others was asked for"):
        Frequencies.load(path, "others")
    path.write_bytes(b"nothing")
    with pytest.raises(InputDataError):
        Frequencies.load(path)
    with pytest.raises(ParameterError, match="merged"):
        whole.merge(counted(width=2))


def test_frequencies_of_earlier_rules_are_loaded_but_not_mixed(tmp_path):
    path, earlier, now = tmp_path / "frequencies.npz", la.Shingling(width=1, rules=1), la.Shingling(width=1)
    replace(counted(["a b", "c"]), parameters=earlier).save(path)
    old = Frequencies.load(path, earlier)
    assert old.n_documents == 2 and old.counts.tolist() == [1, 1, 1] and old.merge(old).n_documents == 4
    for mix in (
        lambda: Frequencies.load(path, now),
        lambda: counted().merge(old),
        lambda: la.sketches.weigh(TEXTS, frequencies=old),
    ):
        with pytest.raises(IncompatibleSketchError, match=r"rules .* again with this version"):
            mix()


def test_features_that_do_not_ascend_are_refused(tmp_path):
    path = tmp_path / "df.npz"
    for values in ([1, 1, 5], [1, 5, 3], [5, 1, 6], [[1, 2, 3]], [1, 2]):
        np.savez(path, values=np.array(values, "<u8"), counts=np.ones(3, "<i8"), n_documents=1, parameters="arrays")
        with pytest.raises(InputDataError, match="its features do not ascend, or have no counts"):
            Frequencies.load(path)


def test_weights_are_those_of_the_formula():
    sets, frequencies = la.sketches.weigh(TEXTS), counted()
    assert np.diff(sets.offsets).tolist() == [5, 4, 1, 0]
    part = slice(sets.offsets[1], sets.offsets[2])
    (weight,) = sets.weights[part][sets.values[part] == hash_of("ran")]
    assert weight == pytest.approx((1 + math.log(3)) * (math.log(5 / 2) + 1))
    assert la.sketches.weigh(TEXTS, cap=1.5).weights.max() <= (1 + math.log(3)) * 1.5
    assert la.sketches.weigh(["a b b", "a b b", "a c"]).cosine(0, 1) == pytest.approx(1.0)
    assert np.isnan(la.sketches.weigh(["", "a"]).cosine(0, 1))
    assert la.sketches.weigh(TEXTS, frequencies=frequencies).weights.tolist() == sets.weights.tolist()
    for wrong, said in (({"shingling": la.Shingling(width=2), "frequencies": frequencies}, "features of"), ({"cap": 0}, "cap")):
        with pytest.raises(ParameterError, match=said):
            la.sketches.weigh(TEXTS, **wrong)
    assert la.sketches.SimHash(margins=True).sign(sets).margins.shape == (4, 64)
