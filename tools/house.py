"""Measure the code: `python tools/house.py` prints each figure; `check_layers.py` holds some of them to a limit.

Lines and files, docstrings of what is internal, how files depend on each other, types that are erased.
"""

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import chain
from pathlib import Path

ERASED = {"split", "splits", "source", "sources", "engine", "method", "table", "settings", "reading"}
OF_TUPLES = {"_fields", "_asdict", "_replace"}  # public, of named tuples
DEFINITIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class Module:
    """A file of the package: its place below the package's root, its text and its syntax tree."""

    def __init__(self, root: Path, file: Path) -> None:
        """Read it."""
        self.file, self.inside, self.text = file, file.relative_to(root), file.read_text(encoding="utf-8")
        self.tree = ast.parse(self.text)
        self.room = self.inside.parts[0].removesuffix(".py")
        self.package = ["lookalike", *self.inside.parts[:-1]]

    @cached_property
    def imports(self) -> list[tuple[int, str]]:
        """(Line, dotted name) of every import, relative ones resolved: late ones, those for types, and those by string."""
        found = []
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                found += [(node.lineno, alias.name) for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                base = self.package[: len(self.package) - node.level + 1] if node.level else []
                module = [*base, *((node.module or "").split(".") if node.module else [])]
                found.append((node.lineno, ".".join(module)))
                found += [(node.lineno, ".".join([*module, alias.name])) for alias in node.names]
        return found + self.by_string

    @cached_property
    def by_string(self) -> list[tuple[int, str]]:
        """(Line, name) of each module of ours that is imported by a string that names it."""
        calls = (node for node in ast.walk(self.tree) if isinstance(node, ast.Call) and node.args)
        made = [node for node in calls if ast.unparse(node.func).split(".")[-1] in ("import_module", "__import__")]
        named = [(node.lineno, node.args[0].value) for node in made if isinstance(node.args[0], ast.Constant)]
        return [(line, str(name)) for line, name in named if str(name).startswith("lookalike.")]

    @cached_property
    def private_names(self) -> set[str]:
        """Names with an underscore that the file defines: functions, classes, attributes, fields."""
        found = set()
        for node in ast.walk(self.tree):
            if isinstance(node, DEFINITIONS):
                found.add(node.name)
            elif isinstance(node, ast.Attribute | ast.Name) and isinstance(node.ctx, ast.Store):
                found.add(node.attr if isinstance(node, ast.Attribute) else node.id)
        return {name for name in found if name.startswith("_") and not name.startswith("__")} - OF_TUPLES

    @cached_property
    def erased(self) -> list[tuple[int, str]]:
        """(Line, name) of parameters that name something of ours and are of type Any."""
        functions = (node for node in ast.walk(self.tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
        arguments = chain.from_iterable((*f.args.posonlyargs, *f.args.args, *f.args.kwonlyargs) for f in functions)
        given = [(one, ast.unparse(one.annotation)) for one in arguments if one.annotation and one.arg in ERASED]
        plain = [
            (one, said.replace("Callable[..., Any]", "")) for one, said in given if not said.startswith(("dict", "Mapping"))
        ]
        return [(one.lineno, one.arg) for one, said in plain if "Any" in said]

    @cached_property
    def docstrings(self) -> list[tuple[str, int, int]]:
        """(Dotted name, first line, last line) of each docstring; the file's own has no name."""

        def below(node: ast.AST, owner: str) -> Iterator[tuple[str, int, int]]:
            if isinstance(node, DEFINITIONS | ast.Module) and ast.get_docstring(node):
                yield owner, node.body[0].lineno, node.body[0].end_lineno or 0
            for child in ast.iter_child_nodes(node):
                yield from below(child, f"{owner}.{child.name}".strip(".") if isinstance(child, DEFINITIONS) else owner)

        return list(below(self.tree, ""))

    @property
    def code_lines(self) -> int:
        """Lines that are no docstring, no comment and not empty."""
        told = {line for _, first, last in self.docstrings for line in range(first, last + 1)}
        lines = ((number, line.strip()) for number, line in enumerate(self.text.splitlines(), 1))
        return sum(bool(line) and not line.startswith("#") and number not in told for number, line in lines)


def modules(root: Path) -> list[Module]:
    """Return all files of a package."""
    return [Module(root, file) for file in sorted(root.rglob("*.py"))]


def homes(root: Path) -> dict[str, str]:
    """Return the module of each public name, as ``_HOMES`` of the package and of its parts say."""
    found: dict[str, str] = {}
    for file in sorted(root.rglob("__init__.py")):
        room = file.parent.name if file.parent != root else ""
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "_HOMES" for t in node.targets):
                for name, home in ast.literal_eval(node.value).items():
                    found[name] = home.removeprefix("..") if home[:2] == ".." else (room + home).removeprefix(".")
    return found


def graph(some: Iterable[Module], root: Path) -> dict[str, set[str]]:
    """Return which files each file imports, but for the root, which loads public names when they are asked for."""
    dotted = {".".join(["lookalike", *one.inside.with_suffix("").parts]).removesuffix(".__init__"): one for one in some}
    public = {f"lookalike.{name}": f"lookalike.{home}" for name, home in homes(root).items()}
    found: dict[str, set[str]] = {}
    for name, one in dotted.items():
        wanted = {public.get(other, other) for _, other in one.imports} & dotted.keys() if name != "lookalike" else set()
        found[name] = wanted - {name, "lookalike"}
        for other in list(found[name]):  # `from . import x` names the package too
            if any(inner.startswith(other + ".") for inner in found[name]) and dotted[other].inside.stem == "__init__":
                found[name].discard(other)
    return found


def circles(edges: dict[str, set[str]]) -> list[list[str]]:
    """Return the sets of files that import each other, the largest first."""

    def reached(begin: str) -> set[str]:
        found, open_ones = set[str](), [begin]
        while open_ones:
            for other in edges[open_ones.pop()] - found:
                found.add(other)
                open_ones.append(other)
        return found

    below = {name: reached(name) for name in edges}
    found = {tuple(sorted(other for other in below[name] if name in below[other])) for name in edges if name in below[name]}
    return sorted(map(list, found), key=lambda circle: (-len(circle), circle))


def used_by_one(edges: dict[str, set[str]]) -> list[str]:
    """Return the files that exactly one other imports."""
    counts = Counter(other for others in edges.values() for other in others)
    return sorted(name for name, count in counts.items() if count == 1)


def foreign_private(some: list[Module]) -> list[tuple[Module, int, str]]:
    """Return (file, line, name) of private modules and attributes of other rooms that a file uses."""
    owners: dict[str, set[str]] = {}
    for one in some:
        for name in one.private_names:
            owners.setdefault(name, set()).add(one.room)
    found = []
    for one in some:
        for line, name in one.imports:
            parts = name.split(".")
            if parts[0] == "lookalike" and len(parts) == 3 and parts[1] != one.room and parts[2].startswith("_"):
                found.append((one, line, name))
        for node in ast.walk(one.tree):
            if isinstance(node, ast.Attribute) and node.attr in owners and one.room not in owners[node.attr]:
                found.append((one, node.lineno, ast.unparse(node)))
    return list(dict.fromkeys(found))


def ancestors(some: list[Module], names: Iterable[str]) -> set[str]:
    """Return the classes of ours that some classes inherit from, by their names, which public classes and bases have alone."""
    classes = [node for one in some for node in ast.walk(one.tree) if isinstance(node, ast.ClassDef)]
    bases = {node.name: {ast.unparse(base).partition("[")[0].split(".")[-1] for base in node.bases} for node in classes}
    found, open_ones = set[str](), list(names)
    while open_ones:
        for base in bases.get(open_ones.pop(), set()) & bases.keys() - found:
            found.add(base)
            open_ones.append(base)
    return found


def internal_docstrings(some: list[Module], public: dict[str, str]) -> int:
    """Return how many lines the docstrings of what is not public have: what users inherit and theory's functions are public."""
    total, inherited = 0, ancestors(some, public)
    for one in some:
        home = ".".join(one.inside.with_suffix("").parts)
        own = {name for name, where in public.items() if home == where or home.startswith(where + ".")}
        if one.room == "theory" and not one.inside.stem.startswith("_"):
            own |= {node.name for node in one.tree.body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")}
        for name, first, last in one.docstrings:
            owner, _, method = name.partition(".")
            if "._" in name or not (owner in own or (method and owner in inherited)):
                total += last - first + 1
    return total


# No names of functions and classes: a function is a verb and its object, a class is a noun.
PARTICIPLES = re.compile(
    "_*(chosen|counted|filtered|found|given|gone|held|here|hollow|joined|joining|kept|led|listed|lonely|made|marked|met|named|"
    "numbered|packed|placed|said|shown|sourced|standing|taken|told)",
    re.IGNORECASE,
)


def bare_participles(some: list[Module]) -> list[str]:
    """Return the functions and classes whose name is a participle, or an adverb, alone."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    nodes = [(one, node) for one in some for node in ast.walk(one.tree) if isinstance(node, kinds)]
    return [f"{one.inside}:{node.lineno}: {node.name}" for one, node in nodes if PARTICIPLES.fullmatch(node.name)]


def habits(some: list[Module], root: Path) -> dict[str, list[str]]:
    """Return the places of each habit that the code should lose."""
    edges = graph(some, root)
    return {
        "files imported by exactly one other": used_by_one(edges),
        "parameters of type Any": [f"{one.inside}:{line}: {name}" for one in some for line, name in one.erased],
        "imports by string": [f"{one.inside}:{line}: {name}" for one in some for line, name in one.by_string],
        "private modules and attributes of other rooms": [f"{one.inside}:{line}: {name}" for one, line, name in foreign_private(some)],
        "names that are bare participles": bare_participles(some),
        "circles of imports": [", ".join(circle) for circle in circles(edges)],
    }  # fmt: skip


def rooms(some: list[Module]) -> Counter[str]:
    """Return the lines of each room."""
    counts = Counter[str]()
    for one in some:
        counts[one.room] += one.text.count("\n")
    return counts


def totals(folder: Path) -> tuple[int, int]:
    """Return the nodes of the syntax tree and the bytes of all Python of a folder."""
    texts = [file.read_text(encoding="utf-8") for file in sorted(folder.rglob("*.py"))]
    return sum(sum(1 for _ in ast.walk(ast.parse(text))) for text in texts), sum(len(text.encode()) for text in texts)


def surface(top: Path) -> dict[str, int]:
    """Return the counts of what users meet: commands, options, public names, words."""
    import click  # the program is loaded for this alone

    import lookalike
    from lookalike.cli.main import program

    def leaves(group: click.Group) -> Iterator[click.Command]:
        for one in group.commands.values():
            yield from leaves(one) if isinstance(one, click.Group) else [one]

    options = {
        one: {name for param in one.params if not getattr(param, "hidden", False) for name in param.opts if name[:2] == "--"}
        for one in leaves(program)
    }
    pages = [page.read_text(encoding="utf-8") for page in sorted((top / "docs").rglob("*.md"))]
    return {
        "commands": len(program.commands), "commands and subcommands": len(options),
        "options of dedup": len(options[program.commands["dedup"]]), "options in all": sum(map(len, options.values())),
        "different options": len(set().union(*options.values())), "public names": len(lookalike.__all__),
        "words of the documents": sum(len(text.split()) for text in pages),
        "lines of the README": (top / "README.md").read_text().count("\n"), "bytes of the changelog": (top / "CHANGELOG.md").stat().st_size,
    }  # fmt: skip


def main() -> None:
    """Print all figures; with an argument also the places."""
    top = Path(__file__).parents[1]
    root = top / "src/lookalike"
    some = modules(root)
    for name in ("src", "tests", "tools"):
        nodes, size = totals(top / name)
        print(f"{name:48}{nodes:,} nodes, {size:,} bytes")
    print(f"{'share of lines that are code':48}{sum(one.code_lines for one in some) / rooms(some).total():.0%}")
    print(f"{'lines of docstrings on internals':48}{internal_docstrings(some, homes(root)):,}")
    for name, places in habits(some, root).items():
        print(f"{name:48}{len(places)}")
        if len(sys.argv) > 1:
            print("".join(f"    {place}\n" for place in places), end="")
    for name, n in surface(top).items():
        print(f"{name:48}{n:,}")
    print("rooms: " + ", ".join(f"{room} {count:,}" for room, count in rooms(some).most_common()))


if __name__ == "__main__":
    main()
