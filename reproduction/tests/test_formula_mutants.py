"""Changes of formulas: which are generated and drawn, and how tests are run on them."""

import ast
import json
import os
import subprocess
import sys
import sysconfig

import formula_mutants
import pytest
from formula_mutants import ROOT, TESTS, draw, reason, reasons
from mutations import LEFT_OUT, SOURCE, formulas, of_file

FORMULA = '''"""Words."""

def f(r: float, n: int = 3) -> float:
    """One, 1."""
    if r > 1.0:
        raise ValueError(f"{r + 1} is above {1}")
    c1, c2 = g(n)
    return -r**2 / (count("n", n, 5) + c1) + c2 * np.sqrt(r)


def g(n: int) -> tuple[float, int]:
    return abs(n) * 1.5, max(n, n + 1)
'''


@pytest.fixture
def changed(tmp_path):
    """What is generated of a formula: {change without its line: the whole file}."""
    (tmp_path / "x.py").write_text(FORMULA)
    return {one.told.partition(" in `")[0]: ast.unparse(one.tree) for one in of_file(tmp_path / "x.py", ("*",))}


def test_each_term_exponent_sign_constant_and_result_is_changed(changed):
    assert {told.replace("`", "") for told in changed} == {
        "scale f: return 1.05 * (-r ** 2 / (count('n', n, 5) + c1) + c2 * np.sqrt(r))",
        "scale g: return (lambda t: (1.05 * t[0], t[1]))((abs(n) * 1.5, max(n, n + 1)))",
        "scale g: return (lambda t: (t[0], 1.05 * t[1]))((abs(n) * 1.5, max(n, n + 1)))",
        "constant f: 3 to 4",
        "swap f: c1, c2 = g(n) to c2, c1 = g(n)",
        "drop f: -r ** 2 / (count('n', n, 5) + c1) + c2 * np.sqrt(r) to -r ** 2 / (count('n', n, 5) + c1)",
        "drop f: -r ** 2 / (count('n', n, 5) + c1) + c2 * np.sqrt(r) to c2 * np.sqrt(r)",
        "sign f: -r ** 2 / (count('n', n, 5) + c1) + c2 * np.sqrt(r) to -r ** 2 / (count('n', n, 5) + c1) - c2 * np.sqrt(r)",
        "drop f: -r ** 2 / (count('n', n, 5) + c1) to -r ** 2",
        "sign f: -r ** 2 to r ** 2",
        "exponent f: r ** 2 to r ** (2 + 1)",
        "exponent f: r ** 2 to r",
        "constant f: 2 to 3",
        "drop f: count('n', n, 5) + c1 to count('n', n, 5)",
        "drop f: count('n', n, 5) + c1 to c1",
        "sign f: count('n', n, 5) + c1 to count('n', n, 5) - c1",
        "drop f: c2 * np.sqrt(r) to c2",
        "drop f: c2 * np.sqrt(r) to np.sqrt(r)",
        "exponent f: np.sqrt(r) to r",
        "drop g: abs(n) * 1.5 to abs(n)",
        "drop g: abs(n) * 1.5 to 1.5",
        "exponent g: abs(n) to n ** 2",
        "constant g: 1.5 to 1.65",
        "drop g: max(n, n + 1) to n",
        "drop g: max(n, n + 1) to n + 1",
        "sign g: max(n, n + 1) to n + (n + 1)",
        "drop g: n + 1 to n",
        "drop g: n + 1 to 1",
        "sign g: n + 1 to n - 1",
        "constant g: 1 to 2",
    }


def test_each_changes_one_place(changed):
    plain = ast.unparse(ast.parse(FORMULA)).splitlines()
    for told, text in changed.items():
        lines = text.splitlines()
        assert len(lines) == len(plain) and sum(a != b for a, b in zip(lines, plain, strict=True)) == 1, told


def test_formulas_are_generated_of_every_file_and_nobody_picks():
    every, drawn = draw(0, 1), draw(400, 1)
    assert {name for name, _ in every} == formulas(ROOT / SOURCE).keys()
    assert len(drawn) == len(set(drawn)) == 400 and set(drawn) < set(every) and len(every) > 1000
    assert draw(9, 1, ["theory/bbit.py"]) == draw(9, 1, ["theory/bbit.py"]) != draw(9, 2, ["theory/bbit.py"])
    scaled = {name for name, told in every if told.startswith("scale")}
    assert scaled >= {name for name, _ in every if name.startswith("theory/") and "choose" not in name}
    assert {name for name, _ in draw(0, 1, ["theory/bbit.py"])} == {"theory/bbit.py"}


def test_what_is_listed_is_there():
    every = draw(0, 1)
    for name, begin, why in reasons():
        assert any(one == name and (told.startswith(begin) or begin in told) for one, told in every), f"{name}: {begin}: {why}"
    assert len(reasons()) > 50
    assert all((ROOT / SOURCE / name).is_file() for name in LEFT_OUT)
    assert all((ROOT / test).exists() for test in TESTS)


@pytest.fixture
def project(tmp_path):
    """A package with two formulas and tests of them."""
    source, tests = tmp_path / "src/lookalike/theory", tmp_path / "tests"
    source.mkdir(parents=True)
    tests.mkdir()
    for folder in (source, source.parent):
        (folder / "__init__.py").write_text("")
    text = "FACTOR = 2.0\n\n\ndef f(x: float, n: int = 3) -> float:\n    return FACTOR * x + n\n\n\ndef g(x: float) -> float:\n    return f(x) - 1.0\n"
    text += "\n\nclass C:\n    def h(self, m: int = 6) -> int:\n        return m\n"
    (source / "x.py").write_text(text)
    (tests / "test_x.py").write_text(
        "from lookalike.theory.x import C, f\n\n\ndef test_h():\n    assert C().h() == 6\n\n\ndef test_f():\n    assert f(2.0) == 7.0\n\n\ndef test_slope():\n    assert f(1.0, 0) == 2.0\n"
    )
    return tmp_path


def run(project):
    """Try all changes of the package; return the process, and what killed each change, by its name without its line."""
    every = [("theory/x.py", one.told) for one in of_file(project / SOURCE / "theory/x.py", ("*",))]
    job = {
        "root": str(project),
        "tests": ["tests"],
        "drawn": every,
        "patterns": {"theory/x.py": ["*"]},
        "jobs": 2,
        "until": float("inf"),
    }
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(project / "src"), sysconfig.get_paths()["purelib"]])}
    command = [sys.executable, "-S", str(ROOT / "reproduction/formula_mutants/mutant_runner.py")]
    done = subprocess.run(command, input=json.dumps(job), env=environment, capture_output=True, text=True, cwd=project)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
    return done, {told.partition(" in `")[0].replace("`", ""): by for _, told, by in lines}


def test_changes_are_killed_by_the_tests_that_call_them(project):
    done, found = run(project)
    assert done.returncode == 0, done.stdout + done.stderr
    assert found["scale f: return 1.05 * (FACTOR * x + n)"].startswith("test_x.py::")
    assert found["constant : 2.0 to 2.2"].startswith("test_x.py::"), "numbers of the module too"
    assert found["constant f: 3 to 4"] == "test_x.py::test_f", "defaults too"
    assert found["constant h: 6 to 7"] == "test_x.py::test_h", "those of methods"
    assert found["drop f: FACTOR * x + n to n"].startswith("test_x.py::")
    assert {told for told, by in found.items() if by is None} == {told for told in found if told.split()[1] == "g:"}
    text = (project / SOURCE / "theory/x.py").read_text()
    assert "1.05" not in text and "3" in text, "the sources stay"


def test_nothing_is_killed_by_tests_that_fail_anyway(project):
    (project / "tests/test_x.py").write_text("def test_f():\n    assert False\n")
    done, found = run(project)
    assert done.returncode and found == {} and "tests/test_x.py::test_f" in done.stdout


def test_reasons_begin_as_a_change_or_its_line_does(monkeypatch):
    listed = [("theory/bbit.py", "sign a", "nobody sees"), ("theory/bbit.py", "in `b =", "nor this")]
    monkeypatch.setattr(formula_mutants, "reasons", lambda: listed)
    assert (
        reason("theory/bbit.py", "sign a: `b`") == "nobody sees"
        and reason("theory/bbit.py", "drop a: `b` in `b = 1`") == "nor this"
    )
    assert reason("theory/bbit.py", "drop a: `b`") == reason("theory/shares.py", "sign a: `b`") == ""
