import dataclasses
import inspect
import pkgutil
import re

import lookalike as la

PLAIN = {"Float", "float", "int", "list[int]", "tuple[Float, Float]", "tuple[float, float]", "Choice"}
SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)


def sections(thing):
    """{title: text} of a numpydoc docstring."""
    parts = SECTION.split(inspect.getdoc(thing) or "")
    return {"summary": parts[0]} | dict(zip(parts[1::2], parts[2::2], strict=True))


def described(*texts):
    """The words before " : ", and lines that are nothing but names."""
    lines = [line for text in texts for line in text.splitlines() if line and not line.startswith(" ")]
    return {name.strip().lstrip("*") for line in lines for name in line.split(" : ")[0].split(",")}


def raised(function):
    return set(re.findall(r"\braise (\w+Error)\(", inspect.getsource(function)))


def public():
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


def lacking_of_class(owner):
    said = sections(owner)
    own = owner.__dict__.get("__init__")
    wanted = set()
    if dataclasses.is_dataclass(owner):
        wanted = {f.name for f in dataclasses.fields(owner) if f.init and not f.name.startswith("_") and f.repr}
    elif own and "Attributes" not in said and "Made by" not in said["summary"]:
        wanted = set(inspect.signature(own).parameters) - {"self"}
    if missing := wanted - described(said.get("Parameters", ""), said.get("Attributes", "")):
        yield f"parameters {sorted(missing)}"


def lacking(name, function, owner):
    if function is None:
        yield from lacking_of_class(owner)
        return
    said, signature = sections(function), inspect.signature(function)
    if not said["summary"].strip():
        yield "anything"
        return
    wanted = signature.parameters.keys() - {"self", "cls"}
    if missing := wanted - described(said.get("Parameters", ""), said.get("Other Parameters", "")):
        yield f"parameters {sorted(missing)}"
    returns = signature.return_annotation
    plain = name.startswith("theory.") and returns in PLAIN  # as the docstring of `lookalike.theory` says
    told = {"Returns", "Yields"} & set(said) or said["summary"].split()[0] in ("Return", "Yield")
    if not plain and returns not in (None, "None") and not told and wanted:
        yield "what is returned"
    for error in raised(function) - described(said.get("Raises", "")):
        yield f"that it raises {error}"
    if name.startswith("theory.") and "References" not in said:
        yield "where it comes from"


def test_docstrings_are_complete():
    assert {found[0]: missing for found in public() if (missing := [*lacking(*found)])} == {}
