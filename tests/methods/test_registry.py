"""Methods are found by name."""

import pytest

import lookalike as la
from lookalike.errors import ParameterError
from lookalike.methods.registry import MethodSettings, make_method


def test_built_in_methods_follow_the_settings():
    plan = la.plan(threshold=0.7, recall=0.95, verify="sketch")
    made = make_method("minhash", MethodSettings(threshold=0.7, recall=0.95, verify="sketch", seed=4))
    assert (made.plan, made.seed, made.exact, made.n_estimates) == (plan, 4, False, plan.estimation_slots)
    assert make_method("minhash", MethodSettings(bands=5, rows=3)).n_codes == 15
    assert make_method("minhash", MethodSettings(verify="none")).n_codes == 0
    made = make_method("minhash", MethodSettings(threshold=0.7, recall=1))
    assert (made.threshold, made.exact, made.recall(0.7), made.recall(0.69)) == (0.7, True, 1, 0)
    made = make_method("simhash", MethodSettings(radius=5, seed=9, verify="sketch"))
    assert (made.radius, made.seed, made.exact, made.bits) == (5, 9, False, 64)


@pytest.mark.parametrize("given", [{"bands": 4, "rows": 2}, {"permutations": 128}])
def test_simhash_has_no_bands(given):
    with pytest.raises(ParameterError, match="permutations, bands and rows are for minhash; simhash has radius"):
        make_method("simhash", MethodSettings(**given))


def test_a_method_that_is_not_there_is_refused():
    with pytest.raises(ParameterError, match="^method must be one of minhash, simhash; got 'toy'$"):
        make_method("toy", MethodSettings())
