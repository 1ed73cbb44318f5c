"""Features for linear models: inner products are shares of equal bits, and a linear model learns from them."""

import numpy as np
import pytest

import lookalike as la
from lookalike.sketches.minhash import FastSimilarity
from lookalike.sketches.packed import BBit

pytest.importorskip("scipy", reason="scipy is not installed")


def drawn(kind, n, rng):
    """Texts of one of two topics: a word in three is of the topic."""
    return [
        " ".join(f"{kind}{rng.integers(40)}" if rng.random() < 0.34 else f"all{rng.integers(400)}" for _ in range(120))
        for _ in range(n)
    ]


@pytest.mark.parametrize("b", [1, 3, 8])
def test_inner_products_are_shares_of_equal_bits(b):
    texts = [*drawn("x", 4, np.random.default_rng(1)), "", "x1 x2"]
    features = la.integrations.BBitFeatures(k=96, b=b, width=1)
    rows = features.fit(texts).transform(texts)
    assert rows.shape == (6, 96 << b) and rows.dtype == np.float64
    for i in range(6):
        ones = rows[i].indices >> b
        assert ones.tolist() == (list(range(96)) if texts[i] else []), "one of the columns of each slot"
    signed = FastSimilarity(permutations=96, seed=1).sign(la.shingle([text or "x" for text in texts], width=1))
    packed = BBit(bits=b).pack(signed)
    for i, j in ((0, 1), (1, 2), (2, 5)):
        assert (rows[i] @ rows[j].T).sum() == packed.matches(i, j)
    names = features.get_feature_names_out()
    assert len(names) == 96 << b and names[0] == "slot0=0" and names[-1] == f"slot95={(1 << b) - 1}"


def test_a_linear_model_learns():
    linear = pytest.importorskip("sklearn.linear_model", reason="scikit-learn is not installed")
    from sklearn.base import clone
    from sklearn.pipeline import make_pipeline

    rng = np.random.default_rng(2)
    texts, kinds = drawn("a", 120, rng) + drawn("b", 120, rng), np.repeat([0, 1], 120)
    order = rng.permutation(240)
    model = make_pipeline(la.integrations.BBitFeatures(k=256, b=8, width=1), linear.LogisticRegression(max_iter=300))
    model.fit([texts[i] for i in order[:160]], kinds[order[:160]])
    assert model.score([texts[i] for i in order[160:]], kinds[order[160:]]) > 0.9
    copied = clone(model).set_params(bbitfeatures__b=2)
    assert copied.named_steps["bbitfeatures"].get_params()["b"] == 2


def test_what_does_not_fit_is_refused():
    for make, words in (
        (lambda: la.integrations.BBitFeatures(b=0).fit(["a"]), "b must be"),
        (lambda: la.integrations.BBitFeatures(k=0).fit(["a"]), "permutations"),
    ):
        with pytest.raises(la.errors.ParameterError, match=words):
            make()
    with pytest.raises(la.LookalikeError):
        la.integrations.BBitFeatures().transform([1, 2])
    assert la.integrations.BBitFeatures(k=8, b=2).transform([]).shape == (0, 32)
