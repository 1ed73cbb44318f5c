"""The format of CONTRIBUTING.md, added from outside the package by its entry point: in Python, and on the command line."""

import os
import subprocess
import sys

import pytest

import lookalike as la

A = " ".join(f"word{i}" for i in range(40))
ROWS = f"id;text;n\na;{A};1\nb;another text of a few words;\nc;{A} more;3\n"


@pytest.fixture
def pages(tmp_path):
    (tmp_path / "pages.ssv").write_text(ROWS)
    return tmp_path / "pages.ssv"


def test_it_is_not_known_where_it_is_not_installed(pages):
    with pytest.raises(la.InputDataError, match="unrecognized suffix"):
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
    result.write(tmp_path / "all.ssv", annotate=True)
    assert [line.rpartition(";")[0] for line in (tmp_path / "all.ssv").read_text().splitlines()[::3]] == [
        "id;text;n;keep;duplicate_of;resemblance", f"c;{A} more;3;true;;",
    ]  # fmt: skip


@pytest.mark.usefixtures("toy")
def test_folders_lists_pairs_and_texts_know_it(pages, tmp_path):
    assert len(la.dedup(tmp_path)) == len(la.dedup([str(pages)])) == 3  # a folder; a list of str is one of paths by its suffix
    assert la.dedup([str(tmp_path / "pages.xyz")]).keep.tolist() == [True]  # a text
    found = la.overlap(pages, against=[A], width=3)
    assert found.matches.num_rows == 2
    with pytest.raises(la.InputDataError, match=r"known suffix.*\.txt, .*, \.ssv; compressed also with \.gz"):
        la.dedup([str(tmp_path), str(tmp_path)])
    (tmp_path / "empty").mkdir()
    with pytest.raises(la.InputDataError, match=r"known suffix \(.*\.ssv"):
        la.dedup(tmp_path / "empty")
    with pytest.raises(la.ParameterError, match="must be one of parquet, jsonl, json, csv, tsv, txt, ssv; got 'xml'"):
        la.dedup(pages, format="xml")


@pytest.mark.usefixtures("toy")
def test_it_refuses_what_it_does_not_hold(tmp_path):
    (tmp_path / "in.jsonl").write_text('{"text": "one; two"}\n')
    with pytest.raises(la.OutputError, match=r"in\.jsonl, row 1: no form as \.ssv"):
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
    done = lookalike(toy_folder, "dedup", "-", "--format", "ssv", "--annotate", "-o", tmp_path / "2.ssv", input=ROWS.encode())
    assert done.returncode == 0, done.stderr
    assert len((tmp_path / "2.ssv").read_text().splitlines()) == 4
    done = lookalike(toy_folder, "pairs", pages, "-o", tmp_path / "pairs.ssv", "--quiet")
    assert done.returncode == 0 and (tmp_path / "pairs.ssv").read_text().startswith("left_id;right_id;resemblance\n")
    done = lookalike(toy_folder, "dedup", "-", input=ROWS.encode())
    assert done.returncode == 2 and b"pass --format parquet, jsonl, json, csv, tsv, txt or ssv with" in done.stderr
    shown = lookalike(toy_folder, "dedup", "--help").stdout.decode()
    assert "[parquet|jsonl|json|csv|tsv|txt|ssv]" in shown
    done = lookalike(toy_folder, "dedup", pages, "--format", "xml")
    assert done.returncode == 2 and b"'xml' is not one of 'parquet', 'jsonl', 'json', 'csv', 'tsv', 'txt', 'ssv'" in done.stderr
