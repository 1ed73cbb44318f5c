"""Pages show what Python shows: signatures and docstrings that options are added to at run time."""

import inspect
from importlib import import_module
from typing import Any

from griffe import Class, Docstring, Extension, Function, Object, Parameter, ParameterKind, Parameters

DECORATORS = ("front_door", "with_option_docs")


def _default(given: Any) -> str | None:
    """Return a default as it is written."""
    return None if given is inspect.Parameter.empty else repr(given)


def _type(given: Any) -> str | None:
    """Return a type as it is written, without the modules of the standard library."""
    if given is inspect.Parameter.empty:
        return None
    return (given if isinstance(given, str) else inspect.formatannotation(given)).replace("collections.abc.", "")


class Options(Extension):
    """Gives functions and classes of options the signature and the docstring that they have at run time."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Look at one object; griffe calls this."""
        if isinstance(obj, Function | Class) and any(str(d.value).startswith(DECORATORS) for d in obj.decorators):
            made = getattr(import_module(obj.module.path), obj.name)
            obj.docstring = Docstring(inspect.getdoc(made) or "", parent=obj)
            if isinstance(obj, Function):
                obj.parameters = Parameters(
                    *(
                        Parameter(
                            one.name, kind=ParameterKind(one.kind.description), annotation=_type(one.annotation),
                            default=_default(one.default),
                        )
                        for one in inspect.signature(made).parameters.values()
                    )
                )  # fmt: skip
