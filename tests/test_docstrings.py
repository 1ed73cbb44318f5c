"""Public docstrings say everything: parameters, what is returned, errors raised, and of formulas where they come from."""

import ast
import dataclasses
import inspect
import pkgutil
import re
import textwrap

import lookalike as la

PLAIN = {"Float", "float", "int", "list[int]", "tuple[Float, Float]", "tuple[float, float]", "Choice"}
SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)


def sections(thing):
    """Return {title: text} of a numpydoc docstring; what comes first is called "summary"."""
    parts = SECTION.split(inspect.getdoc(thing) or "")
    return {"summary": parts[0]} | dict(zip(parts[1::2], parts[2::2], strict=True))


def described(*texts):
    """Return the names that parameter sections describe: the words before " : ", and lines that are nothing but names."""
    lines = [line for text in texts for line in text.splitlines() if line and not line.startswith(" ")]
    return {name.strip().lstrip("*") for line in lines for name in line.split(" : ")[0].split(",")}


def raised(function):
    """Return the names of exceptions that a function raises itself."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    calls = [n.exc for n in ast.walk(tree) if isinstance(n, ast.Raise) and n.exc is not None]
    return {
        c.func.id for c in calls if isinstance(c, ast.Call) and isinstance(c.func, ast.Name) and c.func.id.endswith("Error")
    }


def public():
    """Yield (name, function, class or None) of all public functions and methods."""
    parts = (la, la.integrations, la.search, la.sketches)
    for name, thing in ((name, getattr(part, name)) for part in parts for name in part.__all__):
        if inspect.isfunction(thing):
            yield name, thing, None
        elif inspect.isclass(thing) and not issubclass(thing, Exception):
            yield f"{name}()", None, thing
            for method, found in inspect.getmembers(thing, lambda f: inspect.isfunction(f) or inspect.ismethod(f)):
                if not method.startswith("_") and getattr(found, "__module__", "").startswith("lookalike"):
                    yield f"{name}.{method}", getattr(found, "__func__", found), thing
    for module in pkgutil.iter_modules(la.theory.__path__):
        if not module.name.startswith("_"):
            topic = getattr(la.theory, module.name)
            for name, found in inspect.getmembers(topic, inspect.isfunction):
                if not name.startswith("_") and found.__module__ == topic.__name__:
                    yield f"theory.{module.name}.{name}", found, None


def lacking(name, function, owner):
    """Yield what the docstring of one function, method or class does not say."""
    if function is None:
        said = sections(owner)
        if dataclasses.is_dataclass(owner):
            wanted = {f.name for f in dataclasses.fields(owner) if f.init and not f.name.startswith("_") and f.repr}
        else:
            own = owner.__dict__.get("__init__")
            others_make_it = "Attributes" in said or "Made by" in said["summary"]
            wanted = set(inspect.signature(own).parameters) - {"self"} if own and not others_make_it else set()
        missing = wanted - described(said.get("Parameters", ""), said.get("Attributes", ""))
        if missing:
            yield f"parameters {sorted(missing)}"
        return
    said = sections(function)
    if not said["summary"].strip():
        yield "anything"
        return
    wanted = {p for p, v in inspect.signature(function).parameters.items() if p not in ("self", "cls")}
    if missing := wanted - described(said.get("Parameters", ""), said.get("Other Parameters", "")):
        yield f"parameters {sorted(missing)}"
    returns = inspect.signature(function).return_annotation
    if name.startswith("theory.") and returns in PLAIN:  # as the docstring of `lookalike.theory` says
        returns = None
    told = {"Returns", "Yields"} & set(said) or said["summary"].split()[0] in ("Return", "Yield")
    if returns not in (None, "None") and not told and wanted:
        yield "what is returned"
    for error in raised(function) - described(said.get("Raises", "")):
        yield f"that it raises {error}"
    if name.startswith("theory.") and "References" not in said:
        yield "where it comes from"


def test_docstrings_are_complete():
    assert {found[0]: missing for found in public() if (missing := [*lacking(*found)])} == {}
