"""The format `semicolons` is added from outside the package by its entry point."""

import importlib
import sys
from pkgutil import iter_modules

import pyarrow as pa
import pytest
from cli.commands import run
from formats.jobs import put, refused, refused_option, refused_output

import lookalike as la
from lookalike import formats
from lookalike.errors import MissingExtraError, OutputError, ParameterError
from lookalike.formats.registry import OWN, format_named, known_suffixes, names, names_by_suffix
from lookalike.formats.writers import check_output


def install(folder, name, value, code="", group="lookalike.formats"):
    info = folder / f"{name}_package-1.0.dist-info"
    info.mkdir(parents=True)
    put(info / "METADATA", f"Metadata-Version: 2.1\nName: {name}-package\nVersion: 1.0\n")
    put(info / "entry_points.txt", f"[{group}]\n{name} = {value}\n")
    put(folder / f"{value.partition(':')[0]}.py", code)


def test_each_file_that_is_no_part_of_the_others_is_a_format():
    modules = [module.name for module in iter_modules(formats.__path__)]
    found = [name for name in modules if hasattr(importlib.import_module(f"lookalike.formats.{name}"), "FORMAT")]
    assert sorted(found) == sorted(OWN) and names() == list(OWN)
    forms = [format_named(name) for name in OWN]
    assert [form.name for form in forms if not form.suffixes] == names()
    assert {suffix for suffix in names_by_suffix() if suffix + ".gz" in names_by_suffix()} >= {
        ".jsonl",
        ".csv",
        ".txt",
        ".html",
    }
    assert not {".parquet.gz", ".pdf.gz", ".sqlite.gz"} & set(names_by_suffix())


def test_another_package_comes_and_goes(tmp_path, monkeypatch):
    code = "from lookalike.formats import Format\nclass New(Format):\n    name = 'new'\n    suffixes = ('.csv', '.new.gz')\nFORMAT = New()\n"
    install(tmp_path, "new", "new_format:FORMAT", code)
    install(tmp_path, "other", "other_format:FORMAT", group="elsewhere.formats")
    with monkeypatch.context() as installed:
        installed.syspath_prepend(tmp_path)
        assert names() == [*OWN, "new"] and known_suffixes()["new"] == [".new.gz"]
        assert names_by_suffix()[".new.gz"] == "new" and names_by_suffix()[".csv"] == "csv"  # the first keeps a suffix
        said = "files of the format new cannot be written"
        refused_output(said, check_output, tmp_path / "out.new.gz", force=False)
        assert not (tmp_path / "out.new.gz").exists()
    assert names() == list(OWN)


@pytest.mark.parametrize(
    ("code", "error", "message"),
    [
        ("import no_such_module_at_all", MissingExtraError, "the format 'bad' cannot be loaded from bad_format:FORMAT: No module"),
        ("", MissingExtraError, "the format 'bad' cannot be loaded from bad_format:FORMAT: .*FORMAT"),
        ("FORMAT = 3", ParameterError, "the entry point 'bad' of lookalike.formats must be a Format of that name; bad_format:FORMAT is 3"),
        ("from lookalike.formats.csv import FORMAT", ParameterError, "must be a Format of that name"),
    ],
)  # fmt: skip
def test_a_package_that_is_broken_is_named(tmp_path, monkeypatch, code, error, message):
    install(tmp_path, "bad", "bad_format:FORMAT", code)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "bad_format", raising=False)
    assert names()[-1] == "bad"
    refused(message, format_named, "bad", error=error)
    assert format_named("csv").name == "csv"


def test_two_formats_of_one_name_are_refused(tmp_path, monkeypatch):
    install(tmp_path, "csv", "my_csv:FORMAT")
    monkeypatch.syspath_prepend(tmp_path)
    refused_option("two formats are named 'csv', one of them by the entry point my_csv:FORMAT", names)


A = " ".join(f"word{i}" for i in range(40))
ROWS = f"id;text;n\na;{A};1\nb;another text of a few words;\nc;{A} more;3\n"


@pytest.fixture
def pages(tmp_path):
    return put(tmp_path / "pages.ssv", ROWS)


def test_it_is_not_known_where_it_is_not_installed(pages):
    refused("unrecognized suffix", la.dedup, pages)


@pytest.mark.usefixtures("toy")
def test_folders_lists_pairs_and_texts_know_it(pages, tmp_path):
    assert len(la.dedup(tmp_path)) == len(la.dedup([str(pages)])) == 3  # a folder; a list of str is one of paths by its suffix
    assert la.dedup([str(tmp_path / "pages.xyz")]).keep.tolist() == [True]  # a text
    assert la.decontaminate(pages, against=[A], width=3).matches.num_rows == 2
    result = la.dedup(pages, id="id", keep="largest:n")
    result.write(tmp_path / "out.ssv")
    assert (tmp_path / "out.ssv").read_text() == "".join(ROWS.splitlines(keepends=True)[i] for i in (0, 2, 3))
    refused(r"known suffix.*\.txt, .*, \.ssv; compressed also with \.gz", la.dedup, [str(tmp_path), str(tmp_path)])
    (tmp_path / "empty").mkdir()
    refused(r"known suffix \(.*\.ssv", la.dedup, tmp_path / "empty")
    for name in ("xml", "format", "memory"):
        refused_option(f"must be one of {', '.join(OWN)}, ssv; got '{name}'", la.dedup, pages, format=name)
    semicolon = la.dedup(pa.table({"text": ["one; two"]}))
    refused(r"row 0: no form as \.ssv", semicolon.write, tmp_path / "more.ssv", error=OutputError)
    assert not (tmp_path / "more.ssv").exists()


@pytest.mark.usefixtures("toy")
def test_it_works_on_the_command_line(pages, tmp_path, capsys):
    assert run(capsys, "dedup", pages, "-o", tmp_path / "out.ssv", "--quiet") == (0, "", "")
    assert (tmp_path / "out.ssv").read_text() == "".join(ROWS.splitlines(keepends=True)[:3])
    code, _, said = run(capsys, "dedup", "-")
    assert code == 2 and f"what it holds: --format {', '.join(OWN)} or ssv" in said
    assert ".ssv" in run(capsys, "info")[1]
