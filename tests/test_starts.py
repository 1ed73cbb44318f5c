"""No test here measures time."""

import os
import subprocess
import sys

import pytest
from json_lines import write_lines

# Each takes tens of milliseconds, or hundreds, to load.
LARGE = {
    "numpy", "pyarrow", "scipy", "pandas", "polars", "duckdb", "rich", "starlette", "uvicorn", "asyncio", "msgspec", "resiliparse",
}  # fmt: skip
METADATA = {"importlib.metadata", "importlib.resources", "email", "pkg_resources"}
# What a small job on lines or texts has no use for.
NO_JOB = {
    "pandas", "polars", "duckdb", "rich", "resiliparse", "snowballstemmer", "pyarrow.parquet", "pyarrow.dataset", "pyarrow.csv",
    "pyarrow.fs", "pyarrow.pandas_compat", "lookalike.text.html", "lookalike.text.features", "lookalike.index.index",
    "lookalike.search.banding", "lookalike.search.hamming", "lookalike.search.fingerprint_file", "lookalike.sketches.packed",
    "lookalike.sketches.weighted", "lookalike.sketches.simhash", "lookalike.methods.simhash", "lookalike.theory.choose",
    "lookalike.theory.hamming_costs", "lookalike.values.weighted", "lookalike.recipes.pairs", "lookalike.recipes.decontaminate",
    "lookalike.serve", "starlette", "uvicorn", "asyncio",
    "lookalike.recipes.spark", "lookalike.engines.spark", "lookalike.cli.spark", "lookalike.recipes.foresight", "pyspark",
    "lookalike.formats.lake", "lookalike.formats.pdf", "scipy", "importlib.metadata", "concurrent.futures", "numpy.ma", "tempfile",
}  # fmt: skip
RUN = "from lookalike.cli import main\ntry:\n    main({arguments!r})\nexcept SystemExit as end:\n    assert not end.code, end.code\n"
TEXTS = ["the quick brown fox jumps over the lazy dog and runs away"] * 2 + [
    "nothing of the kind is to be seen or heard in this one"
]


def loaded(code, **environment):
    told = "\nimport sys\nprint('\\nLOADED', *sys.modules)"
    done = subprocess.run([sys.executable, "-c", code + told], env=os.environ | environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    printed, _, names = done.stdout.rpartition("\nLOADED ")
    return set(names.split()), printed


def test_the_package_loads_nothing():
    modules, _ = loaded("import lookalike; lookalike.__version__; dir(lookalike)")
    assert {name for name in modules if name.startswith("lookalike")} == {"lookalike"}
    assert sorted(modules & (LARGE | METADATA | {"typing", "dataclasses", "re"})) == []


def test_help_and_completion_load_no_part_of_a_job():
    lines = ("--help", "--version", "dedup --help", "pairs --help", "decontaminate --help", "index --help", "index add --help",
             "serve --help")  # fmt: skip
    modules, printed = loaded("".join(RUN.format(arguments=line.split()) for line in lines))
    assert printed.count("Usage: ") == len(lines) - 1
    assert sorted(modules & (LARGE | METADATA | {"logging", "traceback", "pathlib"})) == []
    rooms = {name.split(".")[1] for name in modules if name.startswith("lookalike.")}
    assert rooms <= {"choices", "cli", "errors", "formats", "packages", "settings", "wording"}
    assert "lookalike.settings.settings" not in modules
    code = "import sys\nsys.argv = ['lookalike']\n" + RUN.format(arguments=None)
    for words, found in (("lookalike d", "dedup"), ("lookalike dedup --format c", "csv"), ("lookalike index a", "add")):
        place = {"_LOOKALIKE_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
        modules, printed = loaded(code, **place)
        assert found in printed and sorted(modules & (LARGE | METADATA)) == []


def test_names_are_loaded_one_by_one():
    modules, _ = loaded("import lookalike as la; la.errors.ParameterError; la.Plan")
    assert "lookalike.planner" in modules
    rooms = ("lookalike.recipes", "lookalike.results", "lookalike.core", "lookalike.formats")
    assert not [name for name in modules if name.startswith(rooms)]
    modules, _ = loaded("import lookalike as la; la.theory.shares")
    assert not {"pyarrow", "lookalike.theory.choose", "lookalike.theory.bbit"} & modules


def test_a_small_job_in_python_loads_what_it_needs():
    modules, printed = loaded(
        f"import lookalike as la\nresult = la.dedup({TEXTS})\nprint(result.keep.tolist(), result.removed.to_pylist())"
    )
    assert printed.startswith("[True, False, True] [{'id': 1, 'duplicate_of': 0")
    assert not modules & NO_JOB


@pytest.mark.parametrize(("extra", "rows"), [("", 2), ("--json --annotate", 3)])
def test_a_small_job_on_the_command_line_loads_what_it_needs(extra, rows, tmp_path):
    write_lines(tmp_path / "in.jsonl", TEXTS)
    modules, _ = loaded(RUN.format(arguments=f"dedup {tmp_path}/in.jsonl -o {tmp_path}/out.jsonl {extra}".split()))
    assert (tmp_path / "out.jsonl").read_text().count("\n") == rows and not modules & NO_JOB


def test_a_job_with_crowds_and_candidates_does_not_load_what_arrow_would(tmp_path):
    """Arrow loads pandas, where that is installed, for its first array of NumPy."""
    texts = [f"{i // 400} template of many words that all pages share " + f"{i} own " * (i % 7) for i in range(1200)]
    write_lines(tmp_path / "in.jsonl", texts)
    job = f"({str(tmp_path / 'in.jsonl')!r}, threshold=0.5)"
    modules, _ = loaded(f"import lookalike as la\nprint(la.dedup{job}.summary.seconds); la.pairs{job}\n")
    assert not {name for name in modules if "pandas" in name}


def test_each_method_loads_its_own_part_only():
    modules, _ = loaded(f"import lookalike as la; la.dedup({TEXTS}, method='simhash')")
    assert "lookalike.methods.simhash" in modules and "lookalike.methods.minhash" not in modules
    assert modules & NO_JOB <= {"lookalike.methods.simhash", "lookalike.sketches.simhash", "lookalike.values.weighted"}
