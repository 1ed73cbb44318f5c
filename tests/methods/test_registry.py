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


def test_what_a_method_does_not_have_is_refused():
    for name, given, said in (
        ("simhash", {"bands": 4, "rows": 2}, "permutations, bands and rows are for minhash; simhash has radius"),
        ("simhash", {"permutations": 128}, "permutations, bands and rows are for minhash; simhash has radius"),
        ("toy", {}, "^method must be one of minhash, simhash; got 'toy'$"),
    ):
        with pytest.raises(ParameterError, match=said):
            make_method(name, MethodSettings(**given))
