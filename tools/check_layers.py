"""Check the shape of the code: imports go down the ladder; functions and the whole stay within their limits.

`python tools/house.py` prints the figures that are limited here; with an argument it names the places too.
"""

import ast
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from house import Module, habits, homes, modules, totals

RANKS = (("wording", "lazy"), ("errors", "packages"), ("choices",), ("theory",), ("files",), ("core",), ("values",), ("hashing",), ("text",), ("extraction",), ("sketches",), ("planner",),
         ("search",), ("methods",), ("integrations",), ("formats",), ("inputs",), ("steps",), ("engines",), ("index",), ("settings",), ("results",), ("recipes",), ("report",), ("serve",), ("cli",))  # fmt: skip
RANK = {name: rank for rank, names in enumerate(RANKS) for name in names}
THEORY_IMPORTS = {"lookalike", "numpy", "typing", "__future__", "collections", "math", "dataclasses", "functools", "heapq", "importlib",
                  "itertools"}  # fmt: skip
MOST_PARAMETERS = 10
# Nodes of the syntax tree and bytes of all Python of a folder: they only fall.
TOTALS = {"src": (440_320, 2_506_920), "tests": (376_970, 1_700_000)}
NATIVE = 7_265  # lines of C++
# Places of each habit.
MOST = {
    "parameters of type Any": 0,
    "imports by string": 0,
    "private modules and attributes of other rooms": 0,
    "circles of imports": 1,
    "names that are bare participles": 2,
    "files imported by exactly one other": 64,
}
# What remains, each as "file: name"; an entry that nothing needs any more is an error too. A result writes its page, as users look for it there,
# and the page reads results: the method imports it when it is called. Before a job, its outputs ask whether a page can be made.
ALLOWED: set[str] = {
    f"{file}: lookalike.report.page{what}"
    for file, name in (
        ("results/scored.py", "write_scored"),
        ("results/result.py", "write_report"),
        ("recipes/outputs.py", "check_report"),
    )
    for what in ("", f".{name}")
}

Found = Iterator[tuple[str, int, str]]


def check_imports(one: Module) -> Found:
    """Yield imports that go up or across, or that take what is private to another room."""
    room = one.room
    for line, name in one.imports:
        parts = name.split(".")
        if room == "theory" and parts[0] not in THEORY_IMPORTS:
            yield name, line, f"theory imports {name}; it may import NumPy only"
        if parts[0] != "lookalike" or len(parts) < 2 or parts[1] not in RANK or room not in RANK:
            continue
        if RANK[parts[1]] > RANK[room] or (RANK[parts[1]] == RANK[room] and parts[1] != room):
            yield name, line, f"{room} (rank {RANK[room]}) imports {parts[1]} (rank {RANK[parts[1]]})"
        if len(parts) == 4 and parts[1] != room and parts[3].startswith("_"):
            yield name, line, f"{name} is private to {parts[1]}"


def called(node: ast.expr) -> str:
    """Return the dotted name of what is called, or of a decorator."""
    while isinstance(node, ast.Call):
        node = node.func
    return ast.unparse(node)


def functions(node: ast.AST, owner: str = "") -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Yield (dotted name, function) of all functions, those in classes and other functions included."""
    for child in ast.iter_child_nodes(node):
        name = f"{owner}{getattr(child, 'name', '')}"
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield name, child
        yield from functions(
            child, f"{name}." if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) else owner
        )


def check_parameters(tree: ast.AST, public: set[str]) -> Found:
    """Yield functions with too many parameters; keyword-only ones of public entry points and of commands do not count."""
    for name, function in functions(tree):
        arguments = function.args
        names = [a.arg for a in chain(arguments.posonlyargs, arguments.args) if a.arg not in ("self", "cls")]
        command = any(called(d).split(".")[-1] in ("command", "group") for d in function.decorator_list)
        free = command or name.split(".")[0] in public
        count = 0 if command else len(names) + (0 if free else len(arguments.kwonlyargs))
        if count > MOST_PARAMETERS:
            yield name, function.lineno, f"{name} has {count} parameters; at most {MOST_PARAMETERS}"


def violations(root: Path) -> dict[str, list[str]]:
    """Return, by "file: name", a line for each thing that is not as it should be."""
    out: dict[str, list[str]] = {}
    public = homes(root)
    for one in modules(root):
        module = ".".join(one.inside.with_suffix("").parts)
        names = {name for name, home in public.items() if home == module or module.startswith(home + ".")}
        found = chain(check_imports(one), check_parameters(one.tree, names))
        for name, line, message in found:
            out.setdefault(f"{one.inside}: {name}", []).append(f"{one.file}:{line}: {message}")
    return out


def above(root: Path) -> list[str]:
    """Return a line for each habit with more places than there may be, and name the places."""
    out: list[str] = []
    for habit, places in habits(modules(root), root).items():
        if len(places) > MOST[habit]:
            out += [f"{habit}: {len(places)}; at most {MOST[habit]}", *(f"    {place}" for place in places)]
    return out


def too_large(top: Path) -> list[str]:
    """Return a line for each folder whose Python is larger than it may be."""
    found = ((folder, totals(top / folder), most) for folder, most in TOTALS.items())
    wrong = [
        f"{folder}: {nodes:,} nodes, {size:,} bytes; at most {most[0]:,} and {most[1]:,}"
        for folder, (nodes, size), most in found
        if nodes > most[0] or size > most[1]
    ]
    lines = sum(len(file.read_text().splitlines()) for file in (top / "native").glob("*.[ch]*"))
    return [*wrong, *([f"native: {lines:,} lines; at most {NATIVE:,}"] if lines > NATIVE else [])]


def report(root: Path, allowed: set[str]) -> list[str]:
    """Return what is wrong and not allowed, and what is allowed for nothing."""
    found = violations(root)
    wrong = [line for key, lines in found.items() if key not in allowed for line in lines]
    return list(dict.fromkeys(wrong)) + [f"{key}: allowed, and not needed any more" for key in sorted(allowed - set(found))]


if __name__ == "__main__":
    top = Path(__file__).parents[1]
    wrong = report(top / "src/lookalike", ALLOWED) + above(top / "src/lookalike") + too_large(top)
    print("\n".join(wrong) or "layers: every import goes down, every limit is kept")
    sys.exit(bool(wrong))
