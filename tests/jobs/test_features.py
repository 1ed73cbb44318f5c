"""Words without stop words, stems, document frequencies, weights."""

import math
from pathlib import Path

import numpy as np
import pytest

import semblance as sb

TEXTS = ["The cats are running home", "A cat ran and ran and ran", "dogs", ""]


def test_words_without_stop_words_and_stemmed():
    tokenizer = sb.WordTokenizer()
    assert tokenizer("The cats were running, and the CONNECTIONS connected!") == ["cat", "run", "connect", "connect"]
    assert sb.WordTokenizer(stem=False)("The cats") == ["cats"]
    assert sb.WordTokenizer(stop_words=False, stem=False)("The_cats 1a") == ["the", "cats", "1a"]
    assert sb.WordTokenizer(language="german")("Die Häuser und der Hund") == ["haus", "hund"]
    with pytest.raises(sb.ParameterError, match="language"):
        sb.WordTokenizer(language="klingon")
    shingles = sb.shingle(TEXTS, tokenizer=tokenizer, width=1)
    sets = [set(tokenizer(text)) for text in TEXTS]
    assert shingles.resemblance(0, 1) == len(sets[0] & sets[1]) / len(sets[0] | sets[1]) > 0
    assert sb.WordTokenizer() == sb.WordTokenizer() != sb.WordTokenizer(language="german")


def test_frequencies_are_counted_merged_and_stored(tmp_path):
    shingling = sb.Shingling(width=1)
    whole = sb.DocumentFrequencies.collect(sb.shingle(TEXTS, width=1))
    parts = [sb.DocumentFrequencies.collect(sb.shingle(TEXTS[i : i + 2], width=1)) for i in (0, 2)]
    merged = parts[0].merge(parts[1])
    assert whole.n_documents == merged.n_documents == 4
    assert merged.values.tolist() == whole.values.tolist() and merged.counts.tolist() == whole.counts.tolist()
    ran, unknown = sb.shingle(["ran"], width=1).values, sb.shingle(["zebra"], width=1).values
    assert whole.inverse(ran)[0] == pytest.approx(math.log(5 / 2) + 1)
    assert whole.inverse(unknown)[0] == pytest.approx(math.log(5) + 1)
    whole.save(tmp_path / "df.npz")
    found = sb.DocumentFrequencies.load(tmp_path / "df.npz", shingling)
    assert found.counts.tolist() == whole.counts.tolist()
    with pytest.raises(sb.ParameterError, match="asked for"):
        sb.DocumentFrequencies.load(tmp_path / "df.npz", sb.Shingling(width=2))
    sb.DocumentFrequencies.collect(sb.Shingles.from_arrays([1, 2], [0, 2])).save(tmp_path / "arrays.npz")
    assert sb.DocumentFrequencies.load(tmp_path / "arrays.npz").counts.tolist() == [1, 1]
    with pytest.raises(sb.ParameterError, match="counts features of arrays; others was asked for"):
        sb.DocumentFrequencies.load(tmp_path / "arrays.npz", "others")
    (tmp_path / "bad").write_bytes(b"nothing")
    with pytest.raises(sb.InputDataError):
        sb.DocumentFrequencies.load(tmp_path / "bad")
    with pytest.raises(sb.ParameterError, match="merged"):
        whole.merge(sb.DocumentFrequencies.collect(sb.shingle(TEXTS, width=2)))


def test_frequencies_of_earlier_rules_are_loaded_but_not_mixed():
    path = Path(__file__).parents[1] / "golden/signatures-1/frequencies.npz"
    old = sb.DocumentFrequencies.load(path, sb.Shingling(width=1, rules=1))
    assert old.n_documents == 2 and sorted(old.counts.tolist()) == [1, 1, 2]
    assert old.merge(old).n_documents == 4
    new = sb.DocumentFrequencies.collect(sb.shingle(TEXTS, width=1))
    for mix in (
        lambda: sb.DocumentFrequencies.load(path, sb.Shingling(width=1)),
        lambda: new.merge(old),
        lambda: sb.weigh(TEXTS, frequencies=old),
    ):
        with pytest.raises(sb.IncompatibleSketchError, match=r"rules .* again with this version"):
            mix()
    with pytest.raises(sb.ParameterError, match="asked for"):
        sb.DocumentFrequencies.load(path, sb.Shingling(width=2, rules=1))


@pytest.mark.parametrize("damage", ["empty", "cut", "flipped", "array", "missing", "folder"])
def test_damaged_frequencies_are_refused(tmp_path, damage):
    path = tmp_path / "df.npz"
    sb.DocumentFrequencies.collect(sb.shingle([str(i) for i in range(500)], width=1)).save(path)
    data = path.read_bytes()
    if damage == "array":
        np.save(tmp_path / "x.npy", np.arange(3))
        (tmp_path / "x.npy").replace(path)
    elif damage == "missing":
        path.unlink()
    elif damage == "folder":
        path = tmp_path
    else:
        path.write_bytes({"empty": b"", "cut": data[:-200], "flipped": data[:300] + b"\xff\xff" + data[302:]}[damage])
    with pytest.raises(sb.InputDataError, match="not a file of document frequencies"):
        sb.DocumentFrequencies.load(path, sb.Shingling(width=1))


@pytest.mark.parametrize("values", [[1, 1, 5], [1, 5, 3], [5, 1, 6], [[1, 2, 3]], [1, 2]], ids=str)
def test_features_that_do_not_ascend_are_refused(tmp_path, values):
    path = tmp_path / "df.npz"
    np.savez(path, values=np.array(values, "<u8"), counts=np.ones(3, "<i8"), n_documents=1, parameters="arrays")
    with pytest.raises(sb.InputDataError, match="its features do not ascend, or have no counts"):
        sb.DocumentFrequencies.load(path)


def test_weights_are_those_of_the_formula():
    sets = sb.weigh(TEXTS)
    assert np.diff(sets.offsets).tolist() == [5, 4, 1, 0]
    part = slice(sets.offsets[1], sets.offsets[2])
    ran = sb.shingle(["ran"], width=1).values[0]
    weight = sets.weights[part][sets.values[part] == ran][0]
    assert weight == pytest.approx((1 + math.log(3)) * (math.log(5 / 2) + 1))
    assert sb.weigh(TEXTS, cap=1.5).weights.max() <= (1 + math.log(3)) * 1.5
    assert sb.weigh(["a b b", "a b b", "a c"]).cosine(0, 1) == pytest.approx(1.0)
    assert np.isnan(sb.weigh(["", "a"]).cosine(0, 1))
    frequencies = sb.DocumentFrequencies.collect(sb.shingle(TEXTS, width=1))
    assert sb.weigh(TEXTS, frequencies=frequencies).weights.tolist() == sets.weights.tolist()
    with pytest.raises(sb.ParameterError, match="features of"):
        sb.weigh(TEXTS, shingling=sb.Shingling(width=2), frequencies=frequencies)
    with pytest.raises(sb.ParameterError, match="cap"):
        sb.weigh(TEXTS, cap=0)
    prints = sb.SimHash(margins=True).sign(sets)
    assert prints.margins.shape == (4, 64)
