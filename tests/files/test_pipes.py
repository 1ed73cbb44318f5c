"""What can be read only once, such as a pipe, is read once, from its first byte to its last."""

import io
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from cli.commands import status
from json_lines import parse_lines

import lookalike as la
from lookalike.errors import InputDataError, OutputError, ParameterError
from lookalike.formats.sources import open_sources
from lookalike.formats.split import Columns

LINES = b"".join(json.dumps({"id": i, "text": f"row {i} {i * 7919} {i * 104729}"}).encode() + b"\n" for i in range(3000))
PROGRAM = [sys.executable, "-W", "ignore", "-m", "lookalike"]


def fed(path, data=LINES):
    """A FIFO with somebody who writes into it."""
    os.mkfifo(path)

    def write():
        with suppress(BrokenPipeError):  # where the reader gives up
            path.write_bytes(data)

    threading.Thread(target=write, daemon=True).start()
    return path


def shell(command, folder, **more):
    """Run a line of bash; return (exit code, standard output and standard error)."""
    line = command.replace("lookalike ", " ".join(map(repr, PROGRAM)) + " ")
    done = subprocess.run(
        ["bash", "-c", line], cwd=folder, capture_output=True, text=True, timeout=900, env={**os.environ, **more}, check=False
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def corpus(tmp_path):
    (tmp_path / "in.jsonl").write_bytes(LINES)
    return tmp_path / "in.jsonl"


def test_process_substitutions_and_standard_input_by_its_name(corpus, tmp_path):
    for line, words in (
        ("lookalike dedup <(cat in.jsonl) -t 1.0 --format jsonl -o a.jsonl && cmp a.jsonl in.jsonl", "kept                             3,000"),
        ("cat in.jsonl | lookalike dedup /dev/stdin -t 1.0 --format jsonl", "3,000 documents"),
    ):  # fmt: skip
        code, said = shell(line, tmp_path)
        assert code == 0 and words in said, (line, said)


@pytest.mark.parametrize(("line", "words"), [
    ("dedup in.jsonl --against PIPE --format jsonl", "kept                                 0"),
    ("pairs PIPE PIPE -t 1.0 --format jsonl", "pairs         3,000"),
    ("decontaminate PIPE --against PIPE --format jsonl", "overlapping         3,000"),
    ("index add empty PIPE --format jsonl", "3,000 documents added"),
    ("index query full PIPE --format jsonl -o q.csv", "3,000 documents looked up, 3,000 matches"),
    ("compare PIPE in.txt", "resemblance                   1.0000"),
])  # fmt: skip
def test_every_command_reads_all_of_a_pipe(corpus, tmp_path, monkeypatch, capfd, line, words):
    monkeypatch.chdir(tmp_path)
    corpus.with_suffix(".txt").write_bytes(LINES)
    la.Index.create("empty").close()
    with la.Index.create("full") as index:
        rows = parse_lines(LINES) if "full" in line else []
        index.add([row["id"] for row in rows], [row["text"] for row in rows])
    given = [str(fed(tmp_path / f"pipe{i}")) if word == "PIPE" else word for i, word in enumerate(line.split())]
    code = status(*given)
    said = "".join(capfd.readouterr())
    assert code == 0 and words in said, said


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz", ".csv", ".parquet"])
def test_a_fifo_given_by_name(tmp_path, suffix):
    made = tmp_path / f"made{suffix}"
    (tmp_path / "in.jsonl").write_bytes(LINES)
    la.dedup(tmp_path / "in.jsonl", threshold=1.0).write(made)
    pipe = fed(tmp_path / f"pipe{suffix}", made.read_bytes())
    result = la.dedup(pipe, threshold=1.0)
    assert len(result) == 3000 and result.provenance["inputs"][0]["name"] == str(pipe)
    result.write(tmp_path / "out")
    assert (tmp_path / "out" / pipe.name).read_bytes() == made.read_bytes() or suffix == ".parquet"


def test_ids_name_the_pipe_and_not_its_copy(tmp_path):
    (source,) = open_sources([fed(tmp_path / "pipe.jsonl")])
    assert source.label(5) == f"{tmp_path / 'pipe.jsonl'}:5"


def test_the_copy_is_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    sources = open_sources([fed(tmp_path / "pipe.jsonl")])
    assert len(list((tmp_path / "temporary").iterdir())) == 1
    assert sum(len(batch.texts) for batch in sources[0].batches(Columns())) == 3000
    del sources
    assert not list((tmp_path / "temporary").iterdir())


def test_a_pipe_without_a_suffix_needs_a_format(tmp_path):
    """And is not read before that is known: it could not be read again."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(
        ParameterError,
        match="pipe has no suffix: say with .* what it holds: format= parquet, jsonl, json, csv, tsv, txt, .* or",
    ):
        open_sources([tmp_path / "pipe"])


def test_a_pipe_cannot_be_read_again_after_a_crash(tmp_path):
    with pytest.raises(ParameterError, match=r"files, not values in memory, pipes or standard input; got .*pipe\.jsonl"):
        la.dedup(fed(tmp_path / "pipe.jsonl"), work=tmp_path / "w")
    with pytest.raises(ParameterError, match=r"got .*pipe\.txt"):
        la.dedup(fed(tmp_path / "pipe.txt", b"some text"), work=tmp_path / "w")
    assert not (tmp_path / "w").exists()


def test_a_pipe_given_twice(tmp_path):
    pipe = fed(tmp_path / "pipe.jsonl")
    with pytest.raises(InputDataError, match="given twice, but can be read only once"):
        open_sources([pipe, pipe])


@pytest.mark.parametrize("arguments", ["dedup - -", "dedup - --against -", "compare - -", "dedup /dev/stdin -"])
def test_standard_input_given_twice(corpus, tmp_path, arguments):
    given = "" if "compare" in arguments else " --format jsonl"
    code, said = shell(f"cat in.jsonl | lookalike {arguments}{given}", tmp_path)
    if "compare" in arguments:
        assert code == 2 and "not both" in said
    else:
        assert code == 1 and "given twice, but" in said and "can be read only once" in said


def test_standard_input_is_not_read_twice_by_a_program(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(LINES)))
    assert len(la.dedup("-", format="jsonl", threshold=1.0)) == 3000
    with pytest.raises(InputDataError, match="given twice"):
        la.dedup("-", format="jsonl")


def test_no_room_for_the_copy(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    with pytest.raises(OutputError, match="No such file or directory; name a folder with room for it in TMPDIR"):
        open_sources([fed(tmp_path / "pipe.jsonl")])
    (tmp_path / "in.jsonl").write_bytes(LINES)
    code, said = shell("ulimit -f 20; cat in.jsonl | lookalike dedup - --format jsonl", tmp_path, TMPDIR=str(tmp_path))
    assert code == 1 and "File too large; name a folder with room" in said
    assert not [p for p in tmp_path.iterdir() if p.name.startswith("lookalike-")]


def test_devices_without_an_end_are_refused():
    with pytest.raises(InputDataError, match="/dev/zero is a device, not a file"):
        open_sources(["/dev/zero"], format="jsonl")
    assert len(la.dedup(os.devnull, format="jsonl")) == 0


def test_pipes_and_sockets_in_a_folder_are_left_out(tmp_path, monkeypatch):
    """They are not waited for: nobody need ever write."""
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.jsonl").write_bytes(LINES)
    os.mkfifo(folder / "b.jsonl")
    monkeypatch.chdir(folder)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("c.jsonl")
        for given in (folder, str(folder / "*.jsonl")):
            result = la.dedup(given, threshold=1.0)
            assert len(result) == 3000
            assert result.summary.skipped["by_reason"] == {"not_regular": 2}


def test_a_list_of_names_may_name_a_pipe(tmp_path):
    """A list of str is one of paths where all of them name files; a pipe is a file here."""
    assert len(la.dedup([str(fed(tmp_path / "pipe.jsonl"))], threshold=1.0)) == 3000
    assert Path(tmp_path / "pipe.jsonl").is_fifo()
