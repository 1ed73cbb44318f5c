import ast
from pathlib import Path

from lookalike import theory


def test_both_lists_of_files_agree():
    tree = ast.parse(Path(theory.__file__).read_text())
    (checked,) = (node for node in tree.body if isinstance(node, ast.If))
    assert [name.name for name in checked.body[0].names] == theory.__all__
    assert all(getattr(theory, name).__name__.endswith(f".{name}") for name in theory.__all__)
