"""Words without stop words, stems, document frequencies, weights."""

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
    tokenizer = WordTokenizer()
    assert tokenizer("The cats were running, and the CONNECTIONS connected!") == ["cat", "run", "connect", "connect"]
    assert WordTokenizer(stem=False)("The cats") == ["cats"]
    assert WordTokenizer(stop_words=False, stem=False)("The_cats 1a") == ["the", "cats", "1a"]
    assert WordTokenizer(language="german")("Die Häuser und der Hund") == ["haus", "hund"]
    with pytest.raises(ParameterError, match="language"):
        WordTokenizer(language="klingon")
    shingles = la.shingle(TEXTS, tokenizer=tokenizer, width=1)
    sets = [set(tokenizer(text)) for text in TEXTS]
    assert shingles.resemblance(0, 1) == len(sets[0] & sets[1]) / len(sets[0] | sets[1]) > 0
    assert WordTokenizer() == WordTokenizer() != WordTokenizer(language="german")


def test_frequencies_are_counted_merged_and_stored(tmp_path):
    shingling = la.Shingling(width=1)
    whole = counted()
    parts = [counted(TEXTS[i : i + 2]) for i in (0, 2)]
    merged = parts[0].merge(parts[1])
    assert whole.n_documents == merged.n_documents == 4
    assert merged.values.tolist() == whole.values.tolist() and merged.counts.tolist() == whole.counts.tolist()
    assert whole.inverse(hash_of("ran"))[0] == pytest.approx(math.log(5 / 2) + 1)
    assert whole.inverse(hash_of("zebra"))[0] == pytest.approx(math.log(5) + 1)
    whole.save(tmp_path / "df.npz")
    found = Frequencies.load(tmp_path / "df.npz", shingling)
    assert found.counts.tolist() == whole.counts.tolist()
    with pytest.raises(ParameterError, match="asked for"):
        Frequencies.load(tmp_path / "df.npz", la.Shingling(width=2))
    Frequencies.collect(la.sketches.Shingles.from_arrays([1, 2], [0, 2])).save(tmp_path / "arrays.npz")
    assert Frequencies.load(tmp_path / "arrays.npz").counts.tolist() == [1, 1]
    with pytest.raises(ParameterError, match="counts features of arrays; others was asked for"):
        Frequencies.load(tmp_path / "arrays.npz", "others")
    (tmp_path / "bad").write_bytes(b"nothing")
    with pytest.raises(InputDataError):
        Frequencies.load(tmp_path / "bad")
    with pytest.raises(ParameterError, match="merged"):
        whole.merge(counted(width=2))


def test_frequencies_of_earlier_rules_are_loaded_but_not_mixed(tmp_path):
    path, counts = tmp_path / "frequencies.npz", counted(["a b", "c"])
    replace(counts, parameters=la.Shingling(width=1, rules=1)).save(path)
    old = Frequencies.load(path, la.Shingling(width=1, rules=1))
    assert old.n_documents == 2 and old.counts.tolist() == [1, 1, 1]
    assert old.merge(old).n_documents == 4
    new = counted()
    for mix in (
        lambda: Frequencies.load(path, la.Shingling(width=1)),
        lambda: new.merge(old),
        lambda: la.sketches.weigh(TEXTS, frequencies=old),
    ):
        with pytest.raises(IncompatibleSketchError, match=r"rules .* again with this version"):
            mix()
    with pytest.raises(ParameterError, match="asked for"):
        Frequencies.load(path, la.Shingling(width=2, rules=1))


@pytest.mark.parametrize("values", [[1, 1, 5], [1, 5, 3], [5, 1, 6], [[1, 2, 3]], [1, 2]], ids=str)
def test_features_that_do_not_ascend_are_refused(tmp_path, values):
    path = tmp_path / "df.npz"
    np.savez(path, values=np.array(values, "<u8"), counts=np.ones(3, "<i8"), n_documents=1, parameters="arrays")
    with pytest.raises(InputDataError, match="its features do not ascend, or have no counts"):
        Frequencies.load(path)


def test_weights_are_those_of_the_formula():
    sets = la.sketches.weigh(TEXTS)
    assert np.diff(sets.offsets).tolist() == [5, 4, 1, 0]
    part = slice(sets.offsets[1], sets.offsets[2])
    weight = sets.weights[part][sets.values[part] == hash_of("ran")][0]
    assert weight == pytest.approx((1 + math.log(3)) * (math.log(5 / 2) + 1))
    assert la.sketches.weigh(TEXTS, cap=1.5).weights.max() <= (1 + math.log(3)) * 1.5
    assert la.sketches.weigh(["a b b", "a b b", "a c"]).cosine(0, 1) == pytest.approx(1.0)
    assert np.isnan(la.sketches.weigh(["", "a"]).cosine(0, 1))
    frequencies = counted()
    assert la.sketches.weigh(TEXTS, frequencies=frequencies).weights.tolist() == sets.weights.tolist()
    with pytest.raises(ParameterError, match="features of"):
        la.sketches.weigh(TEXTS, shingling=la.Shingling(width=2), frequencies=frequencies)
    with pytest.raises(ParameterError, match="cap"):
        la.sketches.weigh(TEXTS, cap=0)
    assert la.sketches.SimHash(margins=True).sign(sets).margins.shape == (4, 64)


def test_a_tokenizer_of_words_travels_to_other_processes():
    made = WordTokenizer(language="german", stop_words=False)
    assert made("Die Häuser") == pickle.loads(pickle.dumps(made))("Die Häuser")
    assert pickle.loads(pickle.dumps(made)) == made
