from pathlib import Path

import check_layers
import house

SOUND = {
    "__init__.py": '_HOMES = {"dedup": "recipes.dedup", "Index": "index.index"}\n',
    "errors.py": "class E(Exception): pass\n",
    "core/__init__.py": "",
    "search/costs.py": "from ..core import buckets\n",
    "search/tables.py": "from .costs import something\nfrom ._rows import _private_to_search\n",
    "steps/bucket.py": "from ..search.tables import Tables\ndef step(a, b, c, d, e, f, g, h, i, *, j): pass\n",
    "index/index.py": "class Index:\n    def create(self, a, b, c, d, e, f, g, h, i, j, *, k, l): pass\n",
    "recipes/dedup.py": "from ..steps.bucket import step\ndef dedup(data, *, a, b, c, d, e, f, g, h, i, j, k): pass\n",
    "cli/main.py": "@options.many\n@click.command()\ndef main(a, b, c, d, e, f, g, h, i, j, k): pass\n",
}


def tree(folder, **changes):
    for name, text in SOUND.items():
        changed = changes.get(Path(name).stem, text)
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(changed)
    return folder


def test_a_sound_tree_passes(tmp_path):
    assert check_layers.report(tree(tmp_path), set()) == []


def test_each_fault_is_found_and_can_be_allowed(tmp_path):
    eleven, rank = "a, b, c, d, e, f, g, h, i, j, k", f"steps (rank {check_layers.RANK['steps']})"
    for file, text, key, said in (
        ("steps/bucket", "from ..recipes.dedup import dedup", "lookalike.recipes.dedup", f"{rank} imports recipes"),
        ("steps/bucket", "from lookalike import cli", "lookalike.cli", f"{rank} imports cli"),
        ("errors", "from . import packages", "lookalike.packages", "errors (rank 1) imports packages (rank 1)"),
        ("steps/bucket", "from ..search.tables import _inner", "lookalike.search.tables._inner", "private to search"),
        ("steps/bucket", f"def f({eleven[:-3]}, *, k): pass", "f", "f has 11 parameters; at most 10"),
        ("steps/bucket", f"class A:\n    def m(self, {eleven}): pass", "A.m", "A.m has 11"),
        ("steps/bucket", f"def f():\n    def g({eleven}): pass", "f.g", "f.g has 11"),
        ("recipes/dedup", f"def dedup({eleven}): pass", "dedup", "dedup has 11"),
        ("recipes/dedup", f"def other(*, {eleven}): pass", "other", "other has 11"),
    ):
        root = tree(tmp_path, **{Path(file).name: f"{text}\n"})
        found = check_layers.report(root, set())
        assert any(said in line for line in found), found
        keys = set(check_layers.violations(root))
        assert f"{file}.py: {key}" in keys and check_layers.report(root, keys) == []


def test_theory_needs_numpy_only(tmp_path):
    root = tree(tmp_path)
    (root / "theory").mkdir()
    (root / "theory/bands.py").write_text("import numpy as np\nfrom math import comb\nfrom ..errors import E\n")
    assert check_layers.report(root, set()) == []
    (root / "theory/bands.py").write_text("import scipy.special\n")
    assert "theory imports scipy.special" in check_layers.report(root, set())[0]


def test_what_is_allowed_for_nothing_is_said(tmp_path):
    assert check_layers.report(tree(tmp_path), {"steps/bucket.py: step"}) == [
        "steps/bucket.py: step: allowed, and not needed any more"
    ]


def test_nodes_and_bytes_of_folders_are_limited(tmp_path, monkeypatch):
    for name in ("src/deep/a.py", "src/b.py", "src/c.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("é = 1\n")
    four = 4  # the module, the assignment, the name, the constant
    assert house.totals(tmp_path / "src") == (2 * (four + 1), 2 * 7)
    for most, said in (((10, 14), []), ((9, 14), ["9 and 14"]), ((10, 13), ["10 and 13"])):
        monkeypatch.setattr(check_layers, "TOTALS", {"src": most})
        assert check_layers.too_large(tmp_path) == [f"src: 10 nodes, 14 bytes; at most {one}" for one in said]


def test_places_of_each_habit_are_counted(tmp_path, monkeypatch):
    root = tree(
        tmp_path,
        bucket="def step(split: Any, engines: Any, method: Any | None, settings: dict[str, Any]): pass\ndef _inner(): pass\n",
        dedup="from ..core import _made\nfrom ..steps import bucket\nimport_module('lookalike.cli.main')\nbucket._inner()\nbucket._os()\n",
        costs="def f():\n    from . import tables\n",
    )
    some = house.modules(root)
    edges = house.graph(some, root)
    assert [name for one in some for _, name in one.erased] == ["split", "method"]
    assert [name for one in some for _, name in one.by_string] == ["lookalike.cli.main"]
    assert [name for _, _, name in house.foreign_private(some)] == ["lookalike.core._made", "bucket._inner"]
    assert house.circles(edges) == [["lookalike.search.costs", "lookalike.search.tables"]], "late imports count"
    assert "lookalike.cli.main" in house.used_by_one(edges)
    assert house.internal_docstrings(some, {}) == 0
    monkeypatch.setattr(check_layers, "MOST", dict.fromkeys(check_layers.MOST, 9))
    assert check_layers.above(root) == []
    monkeypatch.setitem(check_layers.MOST, "imports by string", 0)
    assert check_layers.above(root) == [
        "imports by string: 1; at most 0", "    recipes/dedup.py:3: lookalike.cli.main",
    ]  # fmt: skip


def test_lines_are_told_apart(tmp_path):
    (tmp_path / "a.py").write_text('"""One.\n\nTwo.\n"""\n\n# note\ndef f():\n    """Three."""\n    return 1\n')
    (one,) = house.modules(tmp_path)
    assert one.code_lines == 2
    assert house.internal_docstrings([one], {}) == 5 and house.internal_docstrings([one], {"f": "a"}) == 4


def test_what_users_inherit_and_formulas_are_public(tmp_path):
    (tmp_path / "theory").mkdir()
    (tmp_path / "theory/odds.py").write_text('def f():\n    """Public."""\n\n\ndef _g():\n    """Internal."""\n')
    (tmp_path / "theory/_check.py").write_text('def f():\n    """Internal."""\n')
    (tmp_path / "base.py").write_text(
        'class Base:\n    """Internal."""\n    def told(self):\n        """Public."""\n    def _own(self):\n        """Internal."""\n'
    )
    (tmp_path / "index.py").write_text('from .base import Base\n\n\nclass Index(Base):\n    """Public."""\n')
    assert house.internal_docstrings(house.modules(tmp_path), {"Index": "index"}) == 4
