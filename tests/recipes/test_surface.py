import inspect
from dataclasses import MISSING

import click
import pytest

import lookalike as la
from lookalike.cli.main import program
from lookalike.inputs.overrides import read_overrides
from lookalike.recipes.compare import compare_texts
from lookalike.recipes.progress import no_progress
from lookalike.settings.settings import PairSettings, RunSettings
from lookalike.text.ignored import Ignored

PRINTED = {"preset", "output", "force", "quiet", "as_json", "help", "config", "set", "print_config"}  # of the command line only
OF_READING = {"text", "id", "glob", "exclude", "format", "delimiter", "query", "encoding_errors"}
FUNCTIONS = {
    "compare": (compare_texts, {"diff", "html", "boilerplate"}, {"tokenizer"}),
    "index create": (la.Index.create, set(), {"bands", "rows"}),
    "index add": (
        la.Index.add,
        {"path", "inputs", "wait", "memory", "max_document", "on_error", "threads", *OF_READING},
        {"ids", "texts", "threads"},
    ),
}
"""Of each command whose options are its own: its function, parameters that only the command has, those that only Python has."""


def command(name):
    found = program
    for word in name.split():
        found = found.commands[word]
    return found


def parameters(function):
    found = inspect.signature(function).parameters.items()
    return {name: MISSING if p.default is p.empty else p.default for name, p in found if name not in ("self", "cls")}


def typed(values):
    """So that False and 0, or 1 and 1.0, are not the same."""
    return {name: (type(value), value) for name, value in values.items()}


def public():
    for name in la.__all__:
        thing = getattr(la, name)
        for method, found in [(name, thing)] if inspect.isfunction(thing) else inspect.getmembers(thing, callable):
            if inspect.isclass(thing) and method.startswith("_") and method != "__init__":
                continue
            if inspect.isfunction(found) or inspect.ismethod(found):
                yield f"{name}.{method}", found


def test_every_keyword_is_written_out():
    """An editor completes names that are there."""
    found = {name: function for name, function in public() if not function.__module__.startswith("sklearn")}
    assert "Index.create" in found and "dedup.dedup" in found
    kinds = {name: {p.kind for p in inspect.signature(function).parameters.values()} for name, function in found.items()}
    assert [name for name, some in kinds.items() if inspect.Parameter.VAR_KEYWORD in some] == []


def test_every_argument_reaches_the_settings(monkeypatch):
    seen = []
    for function, job in ((la.dedup, "run_job"), (la.pairs, "find_pairs")):
        noting = lambda data, settings, *_, **__: seen.append((data, settings)) or 1 / 0  # noqa: E731
        monkeypatch.setattr(inspect.getmodule(function), job, noting)
    other = {
        "threshold": 0.7, "recall": 0.9, "keep": "last", "within": "w", "across": "a", "ignore": Ignored(3, "a"), "empty": "drop", "verify": "sketch", "work": "x",
        "annotate": True, "text": "t", "id": "i", "html": True, "boilerplate": True, "glob": "*", "exclude": "b*", "format": "csv", "delimiter": ";",
        "query": "select", "encoding_errors": "replace", "unit": "char", "width": 9, "normalization": "NFKC", "fold_case": False, "tokenizer": str.split,
        "method": "simhash", "radius": 7, "permutations": 99, "bands": 9, "rows": 3, "max_bucket": 17, "seed": 5, "threads": 1,
        "memory": "1GB", "trust": ["x"], "max_pairs": 8, "evidence": "all", "max_document": "3MB", "on_error": "skip",
        "overrides": read_overrides([{"id": 1, "action": "keep"}]), "against": "more", "engine": "local", "order_by": "n",
        "progress": no_progress, "at_most": 3, "source": "s", "counts": True, "slices": ("l",),
        "key": ("a", "b"),
        "measure": "containment", "floor": 0.2, "output": "o", "force": True, "history": "h", "generation": "g",
        "history_texts": False, "fail_if_removed": 0.3,
    }  # fmt: skip
    for function, settings_of in ((la.dedup, RunSettings), (la.pairs, PairSettings)):
        usual = vars(settings_of())
        for name in set(parameters(function)) - {"data"}:
            given = {name: other[name]}
            given |= {"bands": 9, "rows": 3} if name in ("bands", "rows") else {}
            given |= {"max_document": 99} if name == "on_error" else {}
            given |= {"measure": "containment"} if name == "floor" else {}
            given |= {"history": "h"} if name in ("generation", "history_texts") else {}
            given |= {"keep": "last"} if "measure" in given and function is la.dedup else {}
            with pytest.raises(ZeroDivisionError):
                function("data", **given)
            data, settings = seen.pop()
            assert data == "data"
            assert {n: getattr(settings, n) for n in parameters(function) if n != "data"} == {
                n: given.get(n, usual[n]) for n in parameters(function) if n != "data"
            }, name


def test_what_is_recorded_of_a_job_follows_from_its_options():
    """The keys of provenance are those of files that were written before; options of the call are not among them."""
    usual = {"threshold", "recall", "keep", "within", "verify", "evidence", "empty", "html", "text", "id", "encoding_errors",
             "shingling", "seed", "method", "sketch", "permutations", "bands", "rows", "max_bucket"}  # fmt: skip
    assert set(la.Settings().to_dict()) == usual
    more = la.Settings(delimiter=";", on_error="skip", max_document=9, overrides=[{"id": 1, "action": "keep"}], order_by="n")
    assert set(more.to_dict()) == usual | {"delimiter", "on_error", "max_document", "overrides", "order_by"}
    assert set(la.Settings(method="simhash").to_dict()) == usual - {"sketch", "permutations", "bands", "rows", "max_bucket"} | {
        "radius", "bits"}  # fmt: skip
    assert set(PairSettings().to_dict()) == usual | {"max_pairs"}
    agreeing = usual - {"threshold", "recall", "keep", "evidence", "empty", "text", "id", "max_bucket"}
    assert set(la.Settings().of_sketches()) == agreeing
    banded = {"sketch", "permutations", "bands", "rows"}
    assert set(la.Settings(method="simhash").of_sketches()) == agreeing - banded | {"radius", "bits"}
    call = la.Settings(against=["x"], engine="local", progress=True)
    alone = call.without_runtime()
    assert call == la.Settings() and alone.against is alone.engine is alone.progress is None


@pytest.mark.parametrize("name", FUNCTIONS)
def test_options_have_the_names_and_defaults_of_the_function(name):
    function, only_command, only_python = FUNCTIONS[name]
    known = parameters(function)
    options = {p.name: p for p in command(name).params}
    assert set(options) - PRINTED - only_command == set(known) - only_python
    passed = command(name).make_context(name, ["x", "y"][: 2 - name.endswith("create")]).params
    given = {option for option, p in options.items() if isinstance(p, click.Argument) or p.required}
    for option in set(options) & set(known) - given - only_command:
        assert typed({option: passed[option]}) == typed({option: known[option]})
