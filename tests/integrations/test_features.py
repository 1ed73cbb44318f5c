import numpy as np
import pytest

import lookalike as la
from lookalike.sketches.minhash import FastSimilarity
from lookalike.sketches.packed import BBit

pytest.importorskip("scipy", reason="scipy is not installed")
PAIRS = (0, 1), (1, 2), (2, 5)


def drawn(kind, n, rng):
    return [
        " ".join(f"{kind}{rng.integers(40)}" if rng.random() < 0.34 else f"all{rng.integers(400)}" for _ in range(120))
        for _ in range(n)
    ]


def test_inner_products_are_shares_of_equal_bits():
    texts = [*drawn("x", 4, np.random.default_rng(1)), "", "x1 x2"]
    signed = FastSimilarity(permutations=96, seed=1).sign(la.shingle([text or "x" for text in texts], width=1))
    for b in (1, 3, 8):
        features, packed = la.integrations.BBitFeatures(k=96, b=b, width=1), BBit(bits=b).pack(signed)
        rows = features.fit(texts).transform(texts)
        assert rows.shape == (6, 96 << b) and rows.dtype == np.float64
        ones = [(row.indices >> b).tolist() for row in rows]
        assert ones == [list(range(96)) if text else [] for text in texts], "one of the columns of each slot"
        assert [(rows[i] @ rows[j].T).sum() for i, j in PAIRS] == [packed.matches(i, j) for i, j in PAIRS]
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
    for given, words in (({"b": 0}, "b must be"), ({"k": 0}, "permutations")):
        with pytest.raises(la.errors.ParameterError, match=words):
            la.integrations.BBitFeatures(**given).fit(["a"])
    with pytest.raises(la.LookalikeError):
        la.integrations.BBitFeatures().transform([1, 2])
    assert la.integrations.BBitFeatures(k=8, b=2).transform([]).shape == (0, 32)
