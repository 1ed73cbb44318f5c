"""Walk a file's syntax tree and change one node at a time: what `mutate.py` and `teeth.py` share."""

import ast
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

BAR = "&#124;"  # in a table of Markdown


class Change(NamedTuple):
    """One node changed: how, in which function, what was there and what is, its line, and the whole file as it then is."""

    kind: str
    function: str
    old: str
    new: str
    line: str
    tree: ast.Module

    @property
    def text(self) -> str:
        """Return the change as people read it, and as the lists of reasons name it."""
        return f"{self.function}: `{self.old}` to `{self.new}` in `{self.line}`"


def left_alone(tree: ast.AST) -> set[int]:
    """Return the nodes that tell rather than do: annotations, decorators, messages of errors, imports, names for export."""
    told: set[int] = set()
    for node in ast.walk(tree):
        parts: list[ast.AST | None] = []
        if isinstance(node, ast.FunctionDef):
            parts = [*node.decorator_list, node.returns]
        elif isinstance(node, ast.ClassDef):
            parts = [*node.decorator_list]
        elif isinstance(node, ast.arg | ast.AnnAssign):
            parts = [node.annotation]
        elif isinstance(node, ast.Raise | ast.JoinedStr):
            parts = [node]
        told.update(id(inner) for part in parts if part is not None for inner in ast.walk(part))
    return told


def walk(
    path: Path,
    changes: Callable[[ast.AST], Iterator[tuple[str, ast.AST]]],
    alone: Callable[[ast.AST], set[int]] = left_alone,
) -> Iterator[Change]:
    """Yield the file with each change of each node, one at a time; the tree is changed further on.

    ``changes`` yields (kind, new node) for a node; ``alone`` tells which nodes are left as they are, by their ids.
    """
    text = path.read_text(encoding="utf-8")
    lines, tree = text.splitlines(), ast.parse(text)
    kept = alone(tree)
    places = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    for parent in ast.walk(tree):
        for field, value in ast.iter_fields(parent):
            for at, node in enumerate(value if isinstance(value, list) else [value]):
                if not isinstance(node, ast.AST) or id(node) in kept:
                    continue
                for kind, new in changes(node):
                    where = [f.name for f in places if f.lineno <= node.lineno <= (f.end_lineno or 0)]
                    old, changed = ast.unparse(node), ast.unparse(ast.fix_missing_locations(ast.copy_location(new, node)))
                    if isinstance(value, list):
                        value[at] = new
                    else:
                        setattr(parent, field, new)
                    line = lines[node.lineno - 1].strip()
                    yield Change(kind, where[-1] if where else "", old, changed, line, tree)
                    if isinstance(value, list):
                        value[at] = node
                    else:
                        setattr(parent, field, node)
