"""Methods are found by name; what cannot be one is refused by name."""

import sys

import pytest

import lookalike as la
from lookalike.methods import registry
from lookalike.methods.registry import MethodSettings, make_method


@pytest.fixture
def install(monkeypatch, tmp_path):
    """Install a package whose method ``other`` is some code's ``make``."""

    def install(code, package="other"):
        folder = tmp_path / package
        (folder / f"{package}-1.0.dist-info").mkdir(parents=True)
        (folder / f"{package}_module.py").write_text(code)
        (folder / f"{package}-1.0.dist-info/METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        points = f"[{registry.GROUP}]\nother = {package}_module:make\n"
        (folder / f"{package}-1.0.dist-info/entry_points.txt").write_text(points)
        monkeypatch.syspath_prepend(str(folder))
        monkeypatch.delitem(sys.modules, f"{package}_module", raising=False)

    return install


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
    with pytest.raises(la.ParameterError, match="permutations, bands and rows are for minhash; simhash has radius"):
        make_method("simhash", MethodSettings(**given))


def test_other_packages_are_not_looked_for_if_the_name_is_built_in(monkeypatch):
    monkeypatch.setattr(registry, "added", None)
    assert make_method("minhash", MethodSettings()).name == "minhash"


def test_a_built_in_name_cannot_be_taken(install):
    install("make = None")
    assert registry.names() == ("minhash", "simhash", "other")


def test_a_package_that_cannot_be_imported_is_named(install):
    install("raise RuntimeError('no luck')")
    with pytest.raises(
        la.ParameterError, match=r"method 'other' \(other: other_module:make\) cannot be loaded: RuntimeError: no luck"
    ) as caught:
        make_method("other", MethodSettings())
    assert isinstance(caught.value.__cause__, RuntimeError)


@pytest.mark.parametrize(("code", "said"), [
    ("make = 3", "must be a function from settings to a method; got 3"),
    ("class Half:\n    name = 'other'\n    score = 'resemblance'\n\ndef make(settings):\n    return Half()\n",
     "lacks meets, radius, n_keys, n_codes, .*sketch, comparable"),
    ("from lookalike.methods.registry import make_method\n\ndef make(settings):\n    return make_method('minhash', settings)\n",
     "made a method named 'minhash'; the names must be equal"),
])  # fmt: skip
def test_what_is_no_whole_method_of_its_name_is_refused(install, code, said):
    install(code)
    with pytest.raises(la.ParameterError, match=said):
        make_method("other", MethodSettings())


def test_two_packages_with_one_name_are_refused(install):
    install("make = SimpleNamespace", "one")
    install("make = SimpleNamespace", "two")
    with pytest.raises(la.ParameterError, match="comes from several packages .one: one_module:make, two: two_module:make"):
        make_method("other", MethodSettings())
