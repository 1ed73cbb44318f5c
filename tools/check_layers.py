"""Check that each module imports only from lower ranks, so that the code stays a ladder and not a net."""

import ast
import sys
from pathlib import Path

RANKS = (("errors", "wording"), ("theory",), ("files",), ("kernels",), ("values",), ("hashing",), ("text",), ("sketches",), ("planner",),
         ("search",), ("methods",), ("formats",), ("inputs",), ("steps",), ("engines",), ("index",), ("jobs",), ("cli",))  # fmt: skip
RANK = {name: rank for rank, names in enumerate(RANKS) for name in names}
ONLY_NUMBA = Path("kernels/_compile.py")


def imported(tree: ast.AST, package: list[str]) -> list[tuple[int, str]]:
    """Return (line, dotted name) of every import, relative ones resolved."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = [*base, *((node.module or "").split(".") if node.module else [])]
            found.append((node.lineno, ".".join(module)))
            found += [(node.lineno, ".".join([*module, alias.name])) for alias in node.names]
    return found


def violations(root: Path) -> list[str]:
    """Return a line for each import that goes up the ladder."""
    out = []
    for file in sorted(root.rglob("*.py")):
        inside = file.relative_to(root)
        room = inside.parts[0].removesuffix(".py")
        package = ["semblance", *inside.parts[:-1]]
        for line, name in imported(ast.parse(file.read_text()), package):
            parts = name.split(".")
            if parts[0] in ("numba", "llvmlite") and inside != ONLY_NUMBA:
                out.append(f"{file}:{line}: {name} is imported outside {ONLY_NUMBA}")
            if room == "theory" and parts[0] not in (
                "semblance",
                "numpy",
                "typing",
                "__future__",
                "collections",
                "math",
                "dataclasses",
                "heapq",
                "itertools",
            ):
                out.append(f"{file}:{line}: theory imports {name}; it may import NumPy only")
            if parts[0] != "semblance" or len(parts) < 2 or parts[1] not in RANK or room not in RANK:
                continue
            if RANK[parts[1]] > RANK[room] or (RANK[parts[1]] == RANK[room] and parts[1] != room):
                out.append(f"{file}:{line}: {room} (rank {RANK[room]}) imports {parts[1]} (rank {RANK[parts[1]]})")
    return out


if __name__ == "__main__":
    found = violations(Path(__file__).parents[1] / "src/semblance")
    print("\n".join(dict.fromkeys(found)) or "layers: every import goes down")
    sys.exit(bool(found))
