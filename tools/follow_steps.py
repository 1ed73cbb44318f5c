"""Follow the functions of ``jobs`` without running them: which steps they map, and which tables these read and give.

What an engine maps, meets and joins is noted, as are the tables that a step reads and gives.
"""

import ast
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LANES = {
    "searching": "search",
    "checks": "search",
    "deciding": "decide",
    "rounds": "decide",
    "telling": "tell",
    "vouching": "tell",
}
# Where followers begin: a function, and what its result is called further on.
BEGINNINGS = (("search", None), ("matches", "matches"), ("all_matches", None), ("kept_matches", None), ("standing", "standing"),
              ("_table", None), ("vouched", None))  # fmt: skip
HANDED = {"_verified": "verified"}  # functions that one object gives to another
SAME = {"select", "slice", "lazy", "batches", "store", "rank"}  # other columns, other rows, or another place: the same table


@dataclass(frozen=True)
class Rows:
    """What is known of a value that is rows: the tables they come from, and what rows must share to meet."""

    tables: tuple[str, ...]
    by: str = ""


@dataclass(frozen=True)
class Step:
    """A function that is mapped, with the tables that are bound to it."""

    name: str
    bound: tuple[str, ...] = ()


@dataclass
class Box:
    """A step in the picture."""

    name: str
    lane: str
    says: str
    engine: bool = False
    by: set[str] = field(default_factory=set)
    reads: dict[str, None] = field(default_factory=dict)
    gives: dict[str, None] = field(default_factory=dict)


def together(*values: Any) -> Any:
    """Return rows of all tables of some values; of other values the first that is known."""
    rows = [value for value in values if isinstance(value, Rows)]
    if not rows:
        return next((value for value in values if value is not None), None)
    return Rows(tuple(dict.fromkeys(name for one in rows for name in one.tables)), next((one.by for one in rows if one.by), ""))


def sentence(docstring: str | None) -> str:
    """Return the first sentence of a docstring."""
    said = " ".join((docstring or "").split("\n\n")[0].split()).replace("``", "")
    for end in (". ", "; ", ": "):
        said = said.partition(end)[0]
    return said.rstrip(".")


class Follower:
    """Follows the functions of jobs, and notes the boxes."""

    def __init__(self, source: Path) -> None:
        self.boxes: dict[str, Box] = {}
        self.known: dict[str, Any] = {"documents": Rows(("documents",))}
        self.functions: dict[str, tuple[str, ast.FunctionDef]] = {}
        self.properties: set[str] = set()
        self.fields: list[str] = []
        self.says: dict[str, str] = {}
        self.folds: dict[str, tuple[str, str, Rows]] = {}
        self.stack: list[str] = []
        for module in LANES:
            for node in ast.walk(ast.parse((source / f"jobs/{module}.py").read_text())):
                if isinstance(node, ast.FunctionDef) and node.name not in SAME:
                    self.functions[node.name] = module, node
                    if any("property" in ast.unparse(d) for d in node.decorator_list):
                        self.properties.add(node.name)
                if isinstance(node, ast.ClassDef) and node.name == "Searched":
                    self.fields = [ast.unparse(n.target) for n in node.body if isinstance(n, ast.AnnAssign)]
        self.steps: set[str] = set()
        for file in sorted((source / "steps").glob("[!_]*.py")):
            tree = ast.parse(file.read_text())
            for node in tree.body:
                if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
                    self.steps.add(node.name)
                    self.says[node.name] = sentence(ast.get_docstring(node if isinstance(node, ast.FunctionDef) else tree))
        engine = next(n for n in ast.parse((source / "engines/engine.py").read_text()).body
                      if isinstance(n, ast.ClassDef) and n.name == "Engine")  # fmt: skip
        for what, after in zip(engine.body, engine.body[1:], strict=False):
            if isinstance(what, ast.AnnAssign) and isinstance(after, ast.Expr):
                self.says[ast.unparse(what.target)] = sentence(ast.literal_eval(after.value))

    # What is noted

    def note(self, name: str, reads: Rows, gives: str, engine: bool = False, says: str = "") -> Rows:
        """Note a box, or more of one that is known."""
        box = self.boxes.setdefault(name, Box(name, LANES[self.stack[-1]], says or self.says.get(name, ""), engine))
        box.reads.update(dict.fromkeys(reads.tables))
        box.gives[gives] = None
        if reads.by:
            box.by.add(reads.by)
        return Rows((gives,))

    def mapped(self, arguments: list[ast.expr], env: dict[str, Any]) -> Any:
        """Note a step over some rows."""
        rows, step = self.value(arguments[0], env), self.value(arguments[1], env)
        if not isinstance(step, Step) or not isinstance(rows, Rows) or step.name not in self.steps:
            return rows  # a small step of a job's own
        bound = together(rows, *(Rows((name,)) for name in step.bound))
        for name, (fold, module, counted) in list(self.folds.items()):
            if name in step.bound:
                self.stack.append(module)
                self.note(fold, counted, name)
                self.stack.pop()
                del self.folds[name]
        return self.note(step.name, bound, self.table(arguments[2], step.name))

    def table(self, schema: ast.expr, step: str) -> str:
        """Name a table by its schema."""
        if isinstance(schema, ast.Name) and schema.id.isupper():
            return {"bundled": "bundles"}.get(schema.id.lower(), schema.id.lower())
        if isinstance(schema, ast.Call) and isinstance(schema.func, ast.Name):
            return schema.func.id.removesuffix("_schema")
        return {"sketch": "sketches", "decide": "decisions", "flag": "flags"}.get(step, step)

    # What an engine is told to do

    def operation(self, name: str, call: ast.Call, env: dict[str, Any]) -> Any:
        """Follow one operation of the engine."""
        given = call.args
        if name == "map":
            return self.mapped(given, env)
        if name in ("components", "together"):
            rows = self.value(given[0], env)
            return Rows(self.note(name, rows, "bundles", True).tables, "bundle") if isinstance(rows, Rows) else None
        values = [self.value(argument, env) for argument in given]
        if name == "source":
            return self.known["documents"]
        if name == "meet" and isinstance(values[0], Rows):
            by = ast.literal_eval(given[1])
            return Rows(values[0].tables, "all together" if by is None else by)
        if name == "fold" and isinstance(values[0], Rows) and isinstance(given[1], ast.Call):
            return Step(ast.unparse(given[1].func), values[0].tables)
        if name == "union" or (name == "join" and ast.literal_eval(given[3]) in ("inner", "left")):
            both = together(*values[:2])
            return Rows(both.tables, values[0].by if isinstance(values[0], Rows) else "") if isinstance(both, Rows) else both
        if name == "join":
            return values[0]
        return values[0] if name in SAME and values else None

    # What Python says

    def value(self, node: ast.expr | None, env: dict[str, Any]) -> Any:
        """Return what is known of an expression."""
        if isinstance(node, ast.Name):
            return env[node.id] if node.id in env else Step(node.id) if node.id in self.steps else self.functions.get(node.id)
        if isinstance(node, ast.Call):
            return self.call(node, env)
        if isinstance(node, ast.Attribute):
            plain = node.attr.lstrip("_")
            if isinstance(self.known.get(plain), Rows):
                return self.known[plain]
            if node.attr in self.properties:
                return self.follow(self.functions[node.attr], [], {})
            return self.functions.get(HANDED.get(node.attr, node.attr))
        if isinstance(node, ast.IfExp):
            either = [self.value(node.body, env), self.value(node.orelse, env)]
            return together(*either) if any(isinstance(one, Rows) for one in either) else either
        if isinstance(node, ast.Tuple):
            return tuple(self.value(one, env) for one in node.elts)
        for child in ast.iter_child_nodes(node) if node else ():
            if isinstance(child, ast.expr | ast.comprehension):
                self.value(child if isinstance(child, ast.expr) else child.iter, env)
        return None

    def call(self, node: ast.Call, env: dict[str, Any]) -> Any:
        """Follow a call: of an engine, of a function that is known, or of anything else."""
        function = node.func
        if isinstance(function, ast.Attribute):
            if ast.unparse(function.value).split(".")[-1].lstrip("_") == "engine":
                return self.operation(function.attr, node, env)
            if function.attr in SAME:
                return self.value(function.value, env)
            if isinstance(function.value, ast.Call):
                self.value(function.value, env)
        name = ast.unparse(function)
        given = [self.value(argument, env) for argument in node.args]
        named = {keyword.arg: self.value(keyword.value, env) for keyword in node.keywords if keyword.arg}
        if name == "partial":
            bound = (tables for value in named.values() if isinstance(value, Rows) for tables in value.tables)
            return Step(given[0].name, tuple(bound)) if isinstance(given[0], Step) else None
        if name == "Searched":
            self.known.update({k: v for k, v in zip(self.fields, given, strict=False) if isinstance(v, Rows)})
            return None
        what = self.value(function, env)
        found = [self.follow(one, given, named) for one in alternatives(what) if isinstance(one, tuple) and len(one) == 2
                 and isinstance(one[1], ast.FunctionDef)]  # fmt: skip
        return together(*found) if len(found) > 1 else found[0] if found else None

    def follow(self, function: tuple[str, ast.FunctionDef], given: list[Any], named: dict[str, Any]) -> Any:
        """Follow a function, and return what it returns."""
        module, node = function
        names = [a.arg for a in node.args.args if a.arg != "self"]
        env = {name: self.known.get(name) for name in names} | dict(zip(names, given, strict=False)) | named
        if self.stack.count(f"{module}.{node.name}") or len(self.stack) > 40:
            return None
        self.stack += [f"{module}.{node.name}", module]
        returned = self.statements(node.body, env)
        del self.stack[-2:]
        return returned

    def statements(self, body: list[ast.stmt], env: dict[str, Any]) -> Any:
        """Follow statements, both sides of conditions; return what may be returned."""
        returned: list[Any] = []
        early = [
            one for one in body if isinstance(one, ast.If) and isinstance(one.body[-1], ast.Return)
        ]  # exceptions: drawn last
        for statement in [*(one for one in body if one not in early), *early]:
            if isinstance(statement, ast.Assign | ast.AnnAssign):
                for target in statement.targets if isinstance(statement, ast.Assign) else [statement.target]:
                    self.assign(target, statement.value, env)
            elif isinstance(statement, ast.Return):
                returned.append(self.value(statement.value, env))
            else:
                for name, part in ast.iter_fields(statement):
                    if isinstance(part, list) and part and isinstance(part[0], ast.stmt):
                        for _ in range(2 if isinstance(statement, ast.For) else 1):
                            returned.append(self.statements(part, env))
                    elif isinstance(part, ast.expr) and name != "target":
                        self.value(part, env)
                for handler in getattr(statement, "handlers", []):
                    self.statements(handler.body, env)
        tuples = [one for one in returned if isinstance(one, tuple)]
        return tuples[0] if tuples else together(*returned)

    def assign(self, target: ast.expr, node: ast.expr | None, env: dict[str, Any]) -> None:
        """Bind a name; a table that a search is to return is a box where it is joined or counted."""
        value = self.value(node, env)
        if isinstance(target, ast.Tuple):
            for one, part in zip(target.elts, value if isinstance(value, tuple) else [None] * len(target.elts), strict=False):
                if isinstance(one, ast.Name):
                    env[one.id] = part
        elif isinstance(target, ast.Name):
            if isinstance(value, Step) and value.bound and ast.unparse(node).split("(")[0].endswith("engine.fold"):  # type: ignore[arg-type]
                self.folds[target.id] = value.name, self.stack[-1], Rows(value.bound)
                value = Rows((target.id,))
            elif target.id in self.fields and isinstance(node, ast.Call) and ast.unparse(node.func).endswith("engine.join"):
                left, right = (self.value(one, env) for one in node.args[:2])
                how = "that have a row" if ast.literal_eval(node.args[3]) == "semi" else "without a row"
                value = together(left, right)
                says = f"Those of {left.tables[0]} {how} in {right.tables[0]}"
                value = self.note(f"join: {target.id}", Rows(value.tables), target.id, True, says)
            env[target.id] = value if value is not None else env.get(target.id)


def alternatives(what: Any) -> list[Any]:
    """Return all values that a value may be."""
    return [one for part in what for one in alternatives(part)] if isinstance(what, list) else [what]


def boxes_of(source: Path) -> list[Box]:
    """Return the boxes, lane by lane, each lane in the order of its recipe."""
    follower = Follower(source)
    for beginning, result in BEGINNINGS:
        found = follower.follow(follower.functions[beginning], [], {})
        if result:
            follower.known[result] = found
    lanes = list(dict.fromkeys(LANES.values()))
    return sorted(follower.boxes.values(), key=lambda box: lanes.index(box.lane))
