"""Another package adds a method with one file and an entry point, without a change of ours."""

import pickle
from importlib.metadata import version
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import lookalike as la
from lookalike.methods import registry
from lookalike.methods.comparable import compare_rows, numbered
from lookalike.methods.registry import MethodSettings, make_method
from lookalike.steps.sketch import sketch
from lookalike.text.shingle import Shingling

TOY = Path(__file__).parent / "toy"


@pytest.fixture
def toy(monkeypatch):
    """The package is installed."""
    monkeypatch.syspath_prepend(str(TOY))
    assert version("toy-method") == "1.0"
    return make_method("toy", MethodSettings(seed=3))


def test_it_is_found_by_name(toy):
    assert toy.name == "toy" and toy.seed == 3
    assert registry.names() == ("minhash", "simhash", "toy")
    assert pickle.loads(pickle.dumps(toy)) == toy


def test_without_the_package_the_name_is_unknown():
    assert registry.names() == ("minhash", "simhash")
    with pytest.raises(la.ParameterError, match="^method must be one of minhash, simhash; got 'toy'$"):
        make_method("toy", MethodSettings())


def test_documents_are_sketched_meet_and_are_scored_by_it(toy):
    words = [f"w{i}" for i in range(60)]
    texts = [" ".join(words), " ".join([*words[:-1], "else"]), "", " ".join(reversed(words))]
    column = pa.array([text.encode() for text in texts], pa.large_binary())
    documents = pa.record_batch({"position": [0, 1, 2, 3], "number": [1, 2, 3, 4], "text": column})
    shingling = Shingling(width=2)
    rows = pa.Table.from_batches(sketch(iter([documents]), shingling=shingling, method=toy, key=bytes(16))).to_pylist()
    keys = [row["keys"] or [] for row in rows]
    assert [len(some) for some in keys] == [8, 8, 0, 8] and "code" not in rows[0]
    meeting = {(a, b) for a, b in combinations(range(4), 2) if any(map(int.__eq__, keys[a], keys[b]))}
    assert meeting == {(0, 1)}
    sets = toy.comparable(numbered([shingling.hashes(la.text.texts.from_strings(texts))]))
    assert compare_rows(sets, np.array([0]), np.array([1]), 0.5).tolist() == [58 / 60]


@pytest.mark.usefixtures("toy")
def test_whole_jobs_go_by_it(tmp_path):
    """What it finds is told, saved, read again and decided about at another threshold."""
    words = [f"w{i}" for i in range(60)]
    texts = [" ".join(words), " ".join([*words[:-1], "else"]), "", " ".join(reversed(words)), " ".join(words)]
    result = la.dedup(texts, method="toy", width=2, threshold=0.9, evidence="all")
    assert result.removed.to_pylist() == [
        {"id": 1, "duplicate_of": 0, "resemblance": 58 / 60}, {"id": 4, "duplicate_of": 0, "resemblance": 1.0},
    ]  # fmt: skip
    assert result.keep.tolist() == [True, False, True, True, False]
    assert result.pairs.num_rows == 1
    assert "8 smallest elements" in str(result.summary) and result.summary.recall_planned == 1 - 0.1**8
    assert result.rethreshold(0.99).keep.tolist() == [True, True, True, True, False]
    result.save(tmp_path / "result")
    again = la.Result.load(tmp_path / "result")
    assert again.removed.equals(result.removed) and again.settings.method == "toy"
    assert again.rethreshold(0.99).keep.tolist() == [True, True, True, True, False]
    assert la.pairs(texts, method="toy", width=2, threshold=0.9).num_rows == 3
