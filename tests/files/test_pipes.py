import io
import json
import os
import socket
import sys
import tempfile
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from cli.commands import status
from files.folder_files import limited
from json_lines import parse_lines
from raising import assert_raises

import lookalike as la
from lookalike.errors import InputDataError, OutputError, ParameterError
from lookalike.formats.sources import open_sources
from lookalike.formats.split import Columns

LINES = b"".join(json.dumps({"id": i, "text": f"row {i} {i * 7919} {i * 104729}"}).encode() + b"\n" for i in range(3000))


def fed(path, data=LINES):
    os.mkfifo(path)

    def write():
        with suppress(BrokenPipeError):  # where the reader gives up
            path.write_bytes(data)

    threading.Thread(target=write, daemon=True).start()
    return path


@pytest.fixture(autouse=True)
def _corpus():
    Path("in.jsonl").write_bytes(LINES)


def test_every_command_reads_all_of_a_pipe(capfd):
    Path("in.txt").write_bytes(LINES)
    la.Index.create("empty").close()
    with la.Index.create("full") as index:
        rows = parse_lines(LINES)
        index.add([row["id"] for row in rows], [row["text"] for row in rows])
    for line, words in {
        "dedup in.jsonl --against PIPE --format jsonl": "kept                                 0",
        "pairs PIPE PIPE -t 1.0 --format jsonl": "pairs         3,000",
        "decontaminate PIPE --against PIPE --format jsonl": "overlapping         3,000",
        "index add empty PIPE --format jsonl": "3,000 documents added",
        "index query full PIPE --format jsonl -o q.csv": "3,000 documents looked up, 3,000 matches",
        "compare PIPE in.txt": "resemblance                   1.0000",
    }.items():
        pipes = (fed(Path(f"{number}.{line.partition(' ')[0]}.{len(line)}")) for number in range(2))
        assert status(*(next(pipes) if word == "PIPE" else word for word in line.split())) == 0 and words in "".join(
            capfd.readouterr()
        )


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz", ".csv", ".parquet"])
def test_a_fifo_given_by_name(tmp_path, suffix):
    """A list of str is one of paths where all of them name files; a pipe is a file here."""
    made = tmp_path / f"made{suffix}"
    la.dedup("in.jsonl", threshold=1.0).write(made)
    pipe = fed(tmp_path / f"pipe{suffix}", made.read_bytes())
    result = la.dedup([str(pipe)], threshold=1.0)
    assert len(result) == 3000 and result.provenance["inputs"][0]["name"] == str(pipe) and pipe.is_fifo()
    assert result.kept["id"][4].as_py() == f"{pipe}:5", "the pipe, and not its copy"
    result.write("out")
    assert (tmp_path / "out" / pipe.name).read_bytes() == made.read_bytes() or suffix == ".parquet"


def test_the_copy_is_removed(tmp_path, monkeypatch):
    Path("temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    sources = open_sources([fed(Path("pipe.jsonl"))])
    assert len(os.listdir("temporary")) == 1
    assert sum(len(batch.texts) for batch in sources[0].batches(Columns())) == 3000
    del sources
    assert not os.listdir("temporary")
    with limited(20_000):
        assert_raises(OutputError, "File too large; name a folder with room", open_sources, [fed(Path("large.jsonl"))])
    assert not os.listdir("temporary")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    said = "No such file or directory; name a folder with room for it in TMPDIR"
    assert_raises(OutputError, said, open_sources, [fed(Path("other.jsonl"))])


def test_what_cannot_be_read_again_is_refused(monkeypatch):
    """After a crash, or because its format must be known first, or for a second input; devices without an end, too."""
    os.mkfifo("pipe")
    said = "pipe has no suffix: say with .* what it holds: format= parquet, jsonl, json, csv, tsv, txt, .* or"
    assert_raises(ParameterError, said, open_sources, ["pipe"])
    for name in ("pipe.jsonl", "pipe.txt"):
        said = rf"files, not values in memory, pipes or standard input; got .*{name}"
        assert_raises(ParameterError, said, la.dedup, fed(Path(name)), work="w")
    assert not Path("w").exists()
    pipe, descriptor = fed(Path("twice.jsonl")), os.open(fed(Path("open.jsonl")), os.O_RDONLY)
    assert_raises(InputDataError, "given twice, but can be read only once", open_sources, [pipe, pipe])
    assert len(la.dedup(f"/dev/fd/{descriptor}", format="jsonl", threshold=1.0)) == 3000  # as shells give what they run
    os.close(descriptor)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(LINES)))
    assert len(la.dedup("-", format="jsonl", threshold=1.0)) == 3000
    for other in ("-", "/dev/stdin"):
        assert_raises(InputDataError, "given twice", la.dedup, "-", against=other, format="jsonl")
    assert_raises(InputDataError, "given twice", la.dedup, "-", format="jsonl")
    assert_raises(InputDataError, "/dev/zero is a device, not a file", open_sources, ["/dev/zero"], format="jsonl")
    assert len(la.dedup(os.devnull, format="jsonl")) == 0


def test_pipes_and_sockets_in_a_folder_are_left_out(tmp_path):
    """They are not waited for: nobody need ever write."""
    os.mkfifo("b.jsonl")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("c.jsonl")
        for given in (tmp_path, str(tmp_path / "*.jsonl")):
            result = la.dedup(given, threshold=1.0)
            assert len(result) == 3000 and result.summary.skipped["by_reason"] == {"not_regular": 2}
