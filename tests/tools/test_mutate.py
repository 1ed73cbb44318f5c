"""Mutants: what is changed, and which tests are to notice."""

import ast

import pytest
from mutants_of import EQUIVALENT, ROOT, SOURCE, SUITES, reason, suite
from mutate import draw, mutants

FILES = sorted(str(path.relative_to(ROOT / SOURCE)) for path in (ROOT / SOURCE).rglob("*.py"))


@pytest.mark.parametrize("name", FILES)
def test_every_file_has_tests(name):
    tests, _ = suite(name)
    assert tests and all((ROOT / test).is_file() for test in tests)
    assert len(set(tests)) == len(tests)


def test_what_is_known_of_files_is_of_files_that_are_there():
    assert SUITES.keys() <= set(FILES)
    assert EQUIVALENT.keys() <= set(FILES)
    assert reason("planner.py", ": `4000.0` to `4001.0` in") and not reason("planner.py", "4000.0")


def test_each_mutant_changes_one_place(tmp_path):
    source = tmp_path / "x.py"
    source.write_text('def f(a: int = 3) -> bool:\n    """One, 1."""\n    return not a + 1 < 2\n')
    found = {change.partition(" in ")[0]: ast.unparse(tree).splitlines() for change, tree in mutants(source)}
    assert [change.replace("`", "") for change in found] == [
        "f: 3 to 4", "f: not a + 1 < 2 to a + 1 < 2", "f: a + 1 < 2 to a + 1 <= 2", "f: a + 1 to a - 1", "f: 2 to 3", "f: 1 to 2",
    ]  # fmt: skip
    plain = ast.unparse(ast.parse(source.read_text())).splitlines()
    assert all(sum(a != b for a, b in zip(lines, plain, strict=True)) == 1 for lines in found.values())


def test_a_seed_draws_the_same_of_all_files_together():
    some = ["planner.py", "hashing.py"]
    drawn, sizes = draw(some, 20, 0, 1)
    assert drawn == draw(some, 20, 0, 1)[0] != draw(some, 20, 0, 2)[0]
    assert len(set(drawn)) == 20 and {name for name, _ in drawn} == set(some) and sum(sizes.values()) > 40
    each, _ = draw(some, 0, 3, 1)
    assert [name for name, _ in each] == ["planner.py"] * 3 + ["hashing.py"] * 3
