import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
needs_a_compiler = pytest.mark.skipif(
    shutil.which("cc") is None or sys.platform != "linux", reason="a C compiler makes a library that calls go through"
)


def run(program, *arguments):
    command = [sys.executable, str(HERE / program), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("kind", "cases"),
    [
        ("core", 400), ("inputs", 60), ("stores", 90), ("commands", 60), ("crafted", 150),
        *(pytest.param(kind, 1000, marks=pytest.mark.slow) for kind in ("inputs", "stores", "commands")),
        *(pytest.param(kind, 4000, marks=pytest.mark.slow) for kind in ("core", "crafted")),
    ],
)  # fmt: skip
def test_no_case_shows_a_defect(kind, cases):
    """Answers equal those of the oracle, or an error of ours says why not."""
    code, said = run("run.py", "--kind", kind, "--cases", cases, "--minutes", 10)
    assert code == 0, said
    assert f"{kind}: {cases} cases" in said
    answered = sum(int(found) for found in re.findall(r"\bresult (\d+)", said))
    least = cases / 10 if kind in ("stores", "crafted") else cases / 4  # damage is mostly found
    assert answered >= least, "hardly a case was answered: a fuzzer of refusals proves little"


@needs_a_compiler
def test_no_failing_call_loses_anything():
    """What was there before is there, or what was wanted, never a mix."""
    code, said = run("faults.py", 2)  # enough to see files that are written in place
    assert code == 0, said


def test_a_defect_is_seen(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(HERE))
    import judging

    import lookalike as la

    dedup, other = la.dedup, {"first": "last", "last": "first", "longest": "shortest", "shortest": "longest"}

    def wrong(*inputs, keep, **settings):
        return dedup(*inputs, keep=other.get(keep, keep), **settings)

    monkeypatch.setattr(la, "dedup", wrong)
    seen = 0
    for seed in range(80):
        (tmp_path / str(seed)).mkdir()
        try:
            judging.judge(seed, tmp_path / str(seed))
        except judging.WrongAnswerError:
            seen += 1
        except Exception:
            continue
        if seen == 3:
            return
    pytest.fail(f"{seen} wrong answers are seen in 80 cases")
