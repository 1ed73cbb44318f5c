"""What `formula_mutants.py` changes: each term of a formula dropped, its exponents, signs and constants changed, its result scaled."""

import ast
import copy
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

SOURCE = Path("src/lookalike")
# Files below the sources, by patterns, and the functions of them that are formulas: theory, stated errors, costs.
FORMULAS: dict[str, tuple[str, ...]] = {
    "theory/*.py": ("*",),
    "sketches/packed.py": ("most_likely", "with_mirrored", "estimate", "_combined"),
    "sketches/permutation.py": ("estimate", "_of_filled"),
    "sketches/minhash.py": ("share_of_equal", "filled_first", "estimate"),
    "values/packed.py": ("estimated_resemblance",),
    "values/signatures.py": ("distance", "estimated_cosine"),
    "index/kinds.py": ("chance", "least", "_match", "_enough", "recall_at*", "error_at*", "share_probed", "estimates"),
    "planner.py": ("recall_at*", "bytes_per_document", "false_candidates", "standard_error", "_cost", "_fitting"),
}
# Checks of arguments, and names for export.
LEFT_OUT = {"theory/_check.py", "theory/__init__.py"}
NUMBERS = {"Float", "FloatArray", "float", "int", "Any", "NDArray", "Float64Array", "Int64Array", "UInt64Array"}
RANGES = {"within", "fraction", "densities", "count", "whole", "number", "resemblance_of", "range", "matrix", "zeros", "ones", "full", "empty",
          "broadcast"}  # fmt: skip
SIDES = ({"size_left", "size_right"}, {"c1", "c2"})  # formulas of densities are symmetric in the two sets
SCALED = 1.05


def parse(expression: str, **parts: ast.AST) -> ast.expr:
    """Return an expression in which names stand for other ones."""

    class Put(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.AST:
            return copy.deepcopy(parts[node.id]) if node.id in parts else node

    return Put().visit(ast.parse(expression, mode="eval").body)


def _called(node: ast.AST) -> str:
    """Return the name of the function that is called."""
    match node:
        case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
            return name
    return ""


def _has_numbers(returns: ast.expr | None) -> list[bool]:
    """Tell which parts of what a function returns are numbers; a single part where it is no tuple."""
    match returns:
        case ast.Subscript(value=ast.Name(id="tuple"), slice=ast.Tuple(elts=parts)):
            return [one for part in parts for one in _has_numbers(part)]
        case ast.Subscript(value=inner):
            return _has_numbers(inner)
        case ast.BinOp(op=ast.BitOr(), left=inner):
            return _has_numbers(inner)
        case ast.Name(id=name):
            return [name in NUMBERS]
    return [False]


def scaled(node: ast.FunctionDef) -> Iterator[ast.AST]:
    """Yield a public function with what it returns 5 % larger, all of it or one of several numbers."""
    numbers = _has_numbers(node.returns)
    returned = [inner for inner in ast.walk(node) if isinstance(inner, ast.Return) and inner.value is not None]
    inside = {
        id(i) for f in ast.walk(node) if isinstance(f, ast.FunctionDef | ast.Lambda) and f is not node for i in ast.walk(f)
    }
    last = [place for place, inner in enumerate(returned) if id(inner) not in inside]
    for part, is_number in enumerate(numbers):
        if not is_number or not last:
            continue
        new = copy.deepcopy(node)
        again = [inner for inner in ast.walk(new) if isinstance(inner, ast.Return) and inner.value is not None]
        for place in last:
            value = again[place].value
            if len(numbers) == 1:
                again[place].value = parse(f"{SCALED} * (it)", it=value)
            else:
                terms = ", ".join(f"{SCALED} * t[{i}]" if i == part else f"t[{i}]" for i in range(len(numbers)))
                again[place].value = parse(f"(lambda t: ({terms}))(it)", it=value)
        yield ast.fix_missing_locations(new)


def _numbers_in(node: ast.AST) -> bool:
    """Tell whether an operand can be one of a formula: no string, list or tuple."""
    return not isinstance(node, ast.List | ast.Tuple | ast.JoinedStr | ast.ListComp) and not (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _is_constant(*nodes: ast.AST) -> bool:
    """Tell whether one of some nodes is a constant, which only bounds the other."""
    return any(isinstance(node, ast.Constant) for node in nodes)


def _terms(new: ast.BinOp) -> Iterator[tuple[str, ast.AST]]:
    """Yield what a sum, a product or a power could be instead."""
    left, right = new.left, new.right
    if not (_numbers_in(left) and _numbers_in(right)):
        return
    match new.op:
        case ast.Add():
            yield from (("drop", left), ("drop", right), ("sign", parse("a - b", a=left, b=right)))
        case ast.Sub():
            yield from (("drop", left), ("drop", parse("-b", b=right)), ("sign", parse("a + b", a=left, b=right)))
        case ast.Mult():
            yield from (("drop", left), ("drop", right))
        case ast.Div() | ast.FloorDiv():
            yield ("drop", left)
        case ast.Pow():
            yield from (("exponent", parse("a ** (b + 1)", a=left, b=right)), ("exponent", left))


def changes(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield (kind, what a node could be instead, wrongly)."""
    new = copy.deepcopy(node)
    match new:
        case ast.FunctionDef() if not new.name.startswith("_"):
            yield from (("scale", one) for one in scaled(new))
        case ast.BinOp():
            yield from _terms(new)
        case ast.AugAssign(op=ast.Add()):
            new.op = ast.Sub()
            yield "sign", new
        case ast.UnaryOp(op=ast.USub()):
            yield "sign", new.operand
        case ast.Constant(value=bool()):
            return
        case ast.Constant(value=int()):
            yield "constant", ast.Constant(new.value + 1)
        case ast.Constant(value=float()) if 0.0 < abs(new.value) < float("inf"):
            yield "constant", ast.Constant(float(f"{1.1 * new.value:.12g}"))
        case ast.Call(args=[inner]) if _called(new) == "sqrt":
            yield "exponent", inner
        case ast.Call(args=[inner]) if _called(new) == "abs":
            yield "exponent", parse("a ** 2", a=inner)
        case ast.Call(func=ast.Name(id="max" | "min" as which), args=[one, other]) if not _is_constant(one, other):
            yield from (("drop", one), ("drop", other))
            if which == "max":
                yield "sign", parse("a + b", a=one, b=other)
        case ast.Call(args=[*_, ast.Name(id=one), ast.Name(id=other)]) if {one, other} in SIDES:
            new.args[-2:] = reversed(new.args[-2:])
            yield "swap", new
        case ast.Assign(targets=[ast.Tuple(elts=[ast.Name(), ast.Name()]) as pair], value=ast.Call()):
            pair.elts.reverse()
            yield "swap", new


class Change(NamedTuple):
    """One node changed: as people and the list of reasons name it, and the whole file as it then is."""

    told: str
    tree: ast.Module


def kept(tree: ast.AST) -> set[int]:
    """Return the nodes that are no formula: annotations, messages of errors, checks of ranges, room for arrays, text."""
    told: set[int] = set()
    for node in ast.walk(tree):
        parts: list[ast.AST | None] = []
        match node:
            case ast.FunctionDef():  # a result that only another function sees is not scaled
                inner = [one for one in ast.walk(node) if isinstance(one, ast.FunctionDef) and one is not node]
                told.update(map(id, inner))
                parts = [*node.decorator_list, node.returns]
            case ast.ClassDef():
                parts = [*node.decorator_list, *(line for line in node.body if not isinstance(line, ast.FunctionDef))]
            case ast.arg() | ast.AnnAssign():
                parts = [node.annotation]
            case ast.Raise() | ast.JoinedStr():
                parts = [node]
            case ast.If() if all(isinstance(line, ast.Raise) for line in node.body):
                parts = [node.test]
            case ast.Call() if _called(node) in RANGES:
                parts = [*node.args]
            case ast.With():
                parts = [item.context_expr for item in node.items]
            case ast.Subscript(slice=ast.Constant() | ast.UnaryOp() | ast.Tuple()):
                parts = [node.slice]
        told.update(id(inner) for part in parts if part is not None for inner in ast.walk(part))
    return told


def of_file(path: Path, functions: tuple[str, ...]) -> Iterator[Change]:
    """Yield each change of the formulas of a file, one node at a time; the tree is changed further on."""
    text = path.read_text(encoding="utf-8")
    lines, tree = text.splitlines(), ast.parse(text)
    alone = kept(tree)
    places = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    for parent in ast.walk(tree):
        for field, value in ast.iter_fields(parent):
            for at, node in enumerate(value if isinstance(value, list) else [value]):
                if not isinstance(node, ast.AST) or id(node) in alone:
                    continue
                for kind, new in changes(node):
                    where = [f.name for f in places if f.lineno <= node.lineno <= (f.end_lineno or 0)]
                    function = where[-1] if where else ""
                    if not any(fnmatch(function, pattern) for pattern in functions):
                        continue
                    old, changed = ast.unparse(node), ast.unparse(ast.fix_missing_locations(ast.copy_location(new, node)))
                    told = f"{kind} {function}: `{old}` to `{changed}` in `{lines[node.lineno - 1].strip()}`"
                    if kind == "scale":  # a function that is scaled is told in one line
                        told = f"scale {function}: `{'; '.join(n.strip() for n in changed.splitlines() if str(SCALED) in n)}`"
                    put(parent, field, at, new)
                    yield Change(told, tree)
                    put(parent, field, at, node)


def put(parent: ast.AST, field: str, at: int, node: ast.AST) -> None:
    """Put a node where another one is."""
    value = getattr(parent, field)
    if isinstance(value, list):
        value[at] = node
    else:
        setattr(parent, field, node)


def formulas(source: Path) -> dict[str, tuple[str, ...]]:
    """Return the files that have formulas, below the sources, and patterns of the functions that are ones."""
    found: dict[str, tuple[str, ...]] = {}
    for pattern, functions in FORMULAS.items():
        files = [str(path.relative_to(source)) for path in sorted(source.glob(pattern))]
        if not any(True for name in files for _ in of_file(source / name, functions)):
            raise ValueError(f"{pattern} names no formula")
        found |= {name: functions for name in files if name not in LEFT_OUT}
    return found
