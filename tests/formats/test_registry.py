"""Which formats there are, and the format `semicolons`, added from outside the package by its entry point."""

import importlib
import os
import subprocess
import sys
from pkgutil import iter_modules

import pytest

import lookalike as la
from lookalike import formats
from lookalike.files.names import PACKED
from lookalike.formats import Format, registry
from lookalike.formats.registry import OWN, format_named, known_suffixes, names, names_by_suffix
from lookalike.formats.writers import check_output


def install(folder, name, value, code="", group="lookalike.formats"):
    """Put a package with an entry point into a folder."""
    info = folder / f"{name}_package-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}-package\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{group}]\n{name} = {value}\n")
    (folder / f"{value.partition(':')[0]}.py").write_text(code)


def test_each_file_that_is_no_part_of_the_others_is_a_format():
    assert names() == list(OWN)
    for name in names():
        form = format_named(name)
        assert isinstance(form, Format) and form.name == name and not form.suffixes
    assert all(suffix == suffix.lower() and suffix[0] == "." for suffix in names_by_suffix())
    plain = [suffix for suffix in names_by_suffix() if not suffix.endswith(PACKED)]
    assert plain[:10] == [".parquet", ".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".txt", ".md", ".rst", ".py"]
    alone = [suffix for suffix in plain if suffix + ".gz" not in names_by_suffix()]
    assert {".parquet", ".pdf", ".sqlite"} <= set(alone) and ".jsonl" not in alone
    assert len(names_by_suffix()) == 5 * len(plain) - 4 * len(alone), "all others can be compressed"
    for module in iter_modules(formats.__path__):
        held = importlib.import_module(f"lookalike.formats.{module.name}")
        assert hasattr(held, "FORMAT") == (module.name in registry.OWN), module.name


def test_a_name_that_is_unknown():
    for name in ("xml", "format", "memory", "sources", ""):
        with pytest.raises(la.errors.ParameterError, match=rf"format must be one of {', '.join(OWN)}; got '{name}'"):
            format_named(name)


def test_names_load_nothing_heavy():
    code = (
        "import sys; from lookalike.formats.registry import names; names(); "
        "print([m for m in ('numpy', 'pyarrow', 'msgspec', 'lookalike.formats.csv') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_another_package_comes_and_goes(tmp_path, monkeypatch):
    code = "from lookalike.formats import Format\nclass New(Format):\n    name = 'new'\n    suffixes = ('.csv', '.new.gz')\nFORMAT = New()\n"
    install(tmp_path, "new", "new_format:FORMAT", code)
    install(tmp_path, "other", "other_format:FORMAT", group="elsewhere.formats")
    with monkeypatch.context() as installed:
        installed.syspath_prepend(tmp_path)
        assert names() == [*OWN, "new"]
        assert names_by_suffix()[".new.gz"] == "new"
        assert names_by_suffix()[".csv"] == "csv"  # the first keeps a suffix
        assert known_suffixes()["new"] == [".new.gz"]
        with pytest.raises(la.errors.OutputError, match="files of the format new cannot be written"):
            check_output(tmp_path / "out.new.gz", force=False)
        assert not (tmp_path / "out.new.gz").exists()
    assert names() == list(OWN)


@pytest.mark.parametrize(
    ("code", "error", "message"),
    [
        ("import no_such_module_at_all", la.errors.MissingExtraError, "the format 'bad' cannot be loaded from bad_format:FORMAT: No module"),
        ("", la.errors.MissingExtraError, "the format 'bad' cannot be loaded from bad_format:FORMAT: .*FORMAT"),
        ("FORMAT = 3", la.errors.ParameterError, "the entry point 'bad' of lookalike.formats must be a Format of that name; bad_format:FORMAT is 3"),
        ("from lookalike.formats.csv import FORMAT", la.errors.ParameterError, "must be a Format of that name"),
    ],
)  # fmt: skip
def test_a_package_that_is_broken_is_named(tmp_path, monkeypatch, code, error, message):
    install(tmp_path, "bad", "bad_format:FORMAT", code)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "bad_format", raising=False)
    assert names()[-1] == "bad"
    with pytest.raises(error, match=message):
        format_named("bad")
    assert format_named("csv").name == "csv"


def test_two_formats_of_one_name_are_refused(tmp_path, monkeypatch):
    install(tmp_path, "csv", "my_csv:FORMAT")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(
        la.errors.ParameterError, match="two formats are named 'csv', one of them by the entry point my_csv:FORMAT"
    ):
        names()


A = " ".join(f"word{i}" for i in range(40))
ROWS = f"id;text;n\na;{A};1\nb;another text of a few words;\nc;{A} more;3\n"


@pytest.fixture
def pages(tmp_path):
    (tmp_path / "pages.ssv").write_text(ROWS)
    return tmp_path / "pages.ssv"


def test_it_is_not_known_where_it_is_not_installed(pages):
    with pytest.raises(la.errors.InputDataError, match="unrecognized suffix"):
        la.dedup(pages)


@pytest.mark.usefixtures("toy")
def test_it_is_read_and_written(pages, tmp_path):
    result = la.dedup(pages, id="id", keep="largest:n")
    assert result.keep.tolist() == [False, True, True]
    assert result.removed["duplicate_of"].to_pylist() == ["c"]
    result.write(tmp_path / "out.ssv")
    assert (tmp_path / "out.ssv").read_text() == "".join(ROWS.splitlines(keepends=True)[i] for i in (0, 2, 3))
    assert (tmp_path / "out.ssv_lookalike.json").exists()
    result.write(tmp_path / "out")
    assert (tmp_path / "out/pages.ssv").read_bytes() == (tmp_path / "out.ssv").read_bytes()


@pytest.mark.usefixtures("toy")
def test_folders_lists_pairs_and_texts_know_it(pages, tmp_path):
    assert len(la.dedup(tmp_path)) == len(la.dedup([str(pages)])) == 3  # a folder; a list of str is one of paths by its suffix
    assert la.dedup([str(tmp_path / "pages.xyz")]).keep.tolist() == [True]  # a text
    found = la.decontaminate(pages, against=[A], width=3)
    assert found.matches.num_rows == 2
    with pytest.raises(la.errors.InputDataError, match=r"known suffix.*\.txt, .*, \.ssv; compressed also with \.gz"):
        la.dedup([str(tmp_path), str(tmp_path)])
    (tmp_path / "empty").mkdir()
    with pytest.raises(la.errors.InputDataError, match=r"known suffix \(.*\.ssv"):
        la.dedup(tmp_path / "empty")
    with pytest.raises(la.errors.ParameterError, match=f"must be one of {', '.join(OWN)}, ssv; got 'xml'"):
        la.dedup(pages, format="xml")


@pytest.mark.usefixtures("toy")
def test_it_refuses_what_it_does_not_hold(tmp_path):
    (tmp_path / "in.jsonl").write_text('{"text": "one; two"}\n')
    with pytest.raises(la.errors.OutputError, match=r"in\.jsonl, row 1: no form as \.ssv"):
        la.dedup(tmp_path / "in.jsonl").write(tmp_path / "out.ssv")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.jsonl"]


def lookalike(toy_folder, *arguments, **options):
    """Run the program with the package installed."""
    path = os.pathsep.join([str(toy_folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.run(
        [sys.executable, "-m", "lookalike", *map(str, arguments)], capture_output=True, env=os.environ | {"PYTHONPATH": path},
        check=False, **options,
    )  # fmt: skip


def test_it_works_on_the_command_line(toy_folder, pages, tmp_path):
    done = lookalike(toy_folder, "dedup", pages, "-o", tmp_path / "out.ssv", "--quiet")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out.ssv").read_text() == "".join(ROWS.splitlines(keepends=True)[:3])
    done = lookalike(toy_folder, "dedup", "-", input=ROWS.encode())
    assert done.returncode == 2 and f"what it holds: --format {', '.join(OWN)} or ssv".encode() in done.stderr
    assert ".ssv" in lookalike(toy_folder, "info").stdout.decode()
