"""Ids, names of files and columns, and texts that would steer a terminal: shown with escapes there, the same bytes in files."""

import csv
import json
import os
import pty
import subprocess
import sys

import pyarrow.parquet as pq
import pytest
from cli.commands import status
from json_lines import read_lines, write_lines

import lookalike as la

NASTY = "\x1b]0;x\x07\x9b2J\x7f\u202egpj\u2066\u200b\ufeff\u061c\n\rerror: all is well"
SHOWN = r"\x1b]0;x\x07\x9b2J\x7f\u202egpj\u2066\u200b\ufeff\u061c\n\rerror: all is well"
FILE = NASTY.replace("/", "") + ".jsonl"
TEXT = " ".join(f"word{i}" for i in range(60))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Rows whose ids, columns and texts are hostile, in files whose names are."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    rows = [{"id": f"{NASTY}{i}", NASTY: f"{TEXT} {i} {NASTY}", "text": f"{TEXT} {i}"} for i in range(3)]
    write_lines(tmp_path / "in" / FILE, rows)
    (tmp_path / "in" / f"{NASTY}.xyz").write_text("left out")
    write_lines(tmp_path / "few.jsonl", ({"id": f"{NASTY}{i}", "text": "one"} for i in range(2)))
    (tmp_path / "same.jsonl").write_text(2 * (json.dumps({"id": NASTY, "text": TEXT}) + "\n"))
    (tmp_path / "broken.jsonl").write_text(f'{{"text": {NASTY}\n')
    return tmp_path


def terminal(*arguments, kind="dumb"):
    """Run the program with a terminal as standard output and error; return its exit code, and what came there."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "lookalike", *map(str, arguments)]
    with subprocess.Popen(command, stdout=theirs, stderr=theirs, stdin=subprocess.DEVNULL,
                          env=os.environ | {"TERM": kind, "PYTHONUTF8": "1"}) as process:  # fmt: skip
        os.close(theirs)
        data = b""
        try:
            while chunk := os.read(ours, 1 << 16):
                data += chunk
        except OSError:  # the other end was closed
            pass
        os.close(ours)
        code = process.wait()
    return code, data.decode().replace("\r\n", "\n")


def checked(text):
    """Return what was printed: lines that steer nothing, none of which begins in the middle of a name."""
    lines = text.split("\n")
    assert [line for line in lines if not line.isprintable() or line.startswith(("\r", "error: all is well"))] == []
    return text


def run(capfd, *arguments):
    """Run the program in this process; return its exit code, and what it printed."""
    code = status(*arguments)
    return code, checked("".join(capfd.readouterr()))


@pytest.mark.parametrize(
    ("code", "arguments", "said"),
    [
        (0, ["dedup", "in", "--id", "id", "-t", "0.5"], f"{SHOWN}1  ->  {SHOWN}0"),
        (0, ["dedup", "in", "-t", "0.5", "-o", f"out{FILE}"], f"written: out{SHOWN}.jsonl"),
        (0, ["dedup", "in", "-t", "0.5"], f"{SHOWN}.jsonl:2  ->  in/{SHOWN}.jsonl:1"),
        (0, ["dedup", "in"], f"of no known text format: in/{SHOWN}.xyz)"),
        (0, ["dedup", "in", "--id", "id", "-t", "0.5", "--json"], r'"least_alike": [["\u001b]0;x'),
        (1, ["dedup", f"none{FILE}"], f"error: none{SHOWN}.jsonl: no file of that name"),
        (1, ["dedup", "in", "--text", "other"], f"fields found: id, {SHOWN}, text"),
        (2, ["dedup", "in", "--within", f"no{NASTY}"], f"got 'no{SHOWN}'"),
        (1, ["dedup", "broken.jsonl"], "it starts with"),
        (1, ["dedup", "same.jsonl", "--id", "id"], "appears twice"),
        (1, ["dedup", "in", "-o", f"none{NASTY}/out/"], f"none{SHOWN}"),
        (2, ["dedup", "in", f"--no{NASTY}"], f"--no{SHOWN}"),
        (2, ["dedup", "in", "--keep", NASTY], SHOWN),
        (0, ["pairs", "in", "--id", "id", "-o", f"{NASTY}.csv"], f"written: {SHOWN}.csv"),
        (0, ["pairs", "in"], f"of no known text format: in/{SHOWN}.xyz)"),
        (1, ["pairs", "in", "--against", f"none{FILE}"], f"error: none{SHOWN}.jsonl: no file of that name"),
        (0, ["decontaminate", "in", "--against", "few.jsonl", "--id", "id", "-o", f"{NASTY}.jsonl", "--matches", f"{NASTY}.csv"],
         f"{SHOWN}0, {SHOWN}1\nwritten: {SHOWN}.jsonl\nwritten: {SHOWN}.csv"),
        (1, ["decontaminate", "few.jsonl", "--against", "in", "--against-text", "other"], f"fields found: id, {SHOWN}, text"),
        (1, ["compare", f"none{NASTY}", "few.txt"], f"error: none{SHOWN}: no file of that name"),
        (2, ["compare", "broken.jsonl", "in", f"more{NASTY}"], f"Got unexpected extra argument (more{SHOWN})"),
    ],
)  # fmt: skip
def test_nothing_that_is_printed_steers_a_terminal(capfd, folder, code, arguments, said):
    if any("none" in a and a.endswith("/") for a in arguments):
        (folder / f"none{NASTY}").write_text("not a folder")
    found, text = run(capfd, *arguments)
    assert (found, said in text) == (code, True), text


def test_nothing_steers_a_real_terminal(folder):
    """Progress is drawn over itself, and is gone when the summary comes."""
    code, text = terminal("dedup", "in", "--id", "id", "-t", "0.5", kind="xterm")
    assert code == 0 and f"{SHOWN}1  ->  {SHOWN}0" in text
    assert text.rpartition("\r")[2].startswith("3 documents"), "what was drawn, if the job took long enough for it"
    assert not any(steering in text for steering in ("\x1b]0", "\x9b", "\x07", "\x7f", "\u202e", "\u2066", "\u200b", "\nerror"))
    code, text = terminal("pairs", f"none{FILE}")
    assert code == 1 and f"error: none{SHOWN}.jsonl: no file of that name" in checked(text)


def test_nothing_of_an_index_steers_a_terminal(capfd, folder):
    path, rows = f"{NASTY}.idx", f"in/{FILE}"
    code, text = run(capfd, "index", "create", path, "-t", "0.5")
    assert code == 0 and f"Index {SHOWN}.idx: 0 documents" in text and f"lookalike index add {SHOWN}.idx FILES" in text
    assert run(capfd, "index", "add", path, rows, "--id", "id")[0] == 0
    code, text = run(capfd, "index", "add", path, rows, "--id", "id")
    assert code == 2 and SHOWN in text
    code, text = run(capfd, "index", "query", path, rows, "--id", "id")
    assert code == 0 and {json.loads(line)["query"] for line in text.splitlines() if line[:1] == "{"} == {
        f"{NASTY}{i}" for i in range(3)
    }
    assert f"written: {SHOWN}.csv" in run(capfd, "index", "query", path, rows, "-o", f"{NASTY}.csv")[1]
    assert f"3 documents written: {SHOWN}.parquet" in run(capfd, "index", "export", path, "-o", f"{NASTY}.parquet")[1]
    assert pq.read_table(f"{NASTY}.parquet")["id"].to_pylist() == [f"{NASTY}{i}" for i in range(3)]
    assert run(capfd, "index", "info", path)[0] == 0
    assert f"{SHOWN}.idx: no damage found" in run(capfd, "index", "check", path)[1]
    assert run(capfd, "index", "compact", path)[1].startswith(f"Index {SHOWN}.idx: 3 documents")
    (segment,) = (folder / path).glob("segment-*")
    segment.write_bytes(segment.read_bytes()[:-1])
    code, text = run(capfd, "index", "check", path)
    assert code == 1 and f"{SHOWN}.idx/segment-" in text
    code, text = run(capfd, "index", "info", f"none{NASTY}")
    assert code == 1 and f"error: none{SHOWN}" in text


def test_files_and_pipes_keep_every_byte(folder):
    ids = [f"{NASTY}{i}" for i in range(3)]
    la.dedup("in", id="id", threshold=0.5).write("out.jsonl", annotate=True)
    written = read_lines(folder / "out.jsonl")
    assert [row["id"] for row in written] == ids and [row["duplicate_of"] for row in written] == [None, ids[0], ids[0]]
    assert all(NASTY in row for row in written)
    la.dedup("in", threshold=0.5).write("out.parquet", annotate=True)
    table = pq.read_table("out.parquet")
    assert table["duplicate_of"].to_pylist() == [None, *[f"in/{FILE}:1"] * 2] and NASTY in table.column_names
    command = [sys.executable, "-m", "lookalike"]
    subprocess.run([*command, "pairs", "in", "--id", "id", "-t", "0.5", "-o", "out.csv"], check=True, capture_output=True)
    with open("out.csv", newline="") as stream:
        assert {row["left_id"] for row in csv.DictReader(stream)} == set(ids[:2])
    done = subprocess.run([*command, "dedup", "in", "--id", "id", "-t", "0.5", "--json"], check=True, capture_output=True)
    assert {tuple(some[:2]) for some in json.loads(done.stdout)["least_alike"]} == {(ids[1], ids[0]), (ids[2], ids[0])}


@pytest.mark.parametrize(
    "call",
    [
        lambda: la.dedup(f"none{FILE}"),
        lambda: la.dedup("in", text="other"),
        lambda: la.dedup("in", within=f"no{NASTY}"),
        lambda: la.dedup("broken.jsonl"),
        lambda: la.dedup("same.jsonl", id="id"),
        lambda: la.dedup("in", keep=NASTY),
        lambda: la.dedup("in", work="in"),
        lambda: la.pairs("in", format=NASTY),
        lambda: la.decontaminate("in", against="in", text="other"),
        lambda: la.Index.open(NASTY),
        lambda: la.Index.create("in"),
        lambda: la.Result.load(NASTY),
        lambda: la.dedup([TEXT]).write(f"{NASTY}.unknown/x/"),
    ],
)  # fmt: skip
def test_the_text_of_an_exception_is_one_printable_line(folder, call):
    (folder / f"{NASTY}.unknown").write_text("")
    with pytest.raises(la.LookalikeError) as caught:
        call()
    assert str(caught.value).isprintable() and (r"\x1b" in str(caught.value) or "in" in str(caught.value))


def test_summaries_names_and_log_records_are_printable(folder, caplog):
    caplog.set_level("INFO", logger="lookalike")
    result = la.dedup("in", id="id", threshold=0.5, work=f"work{NASTY}")
    assert all(line.isprintable() for line in str(result.summary).split("\n")) and SHOWN in str(result.summary)
    assert all(record.getMessage().isprintable() for record in caplog.records)
    result.close()
    with la.Index.create(NASTY) as index:
        assert repr(index).isprintable()


@pytest.mark.parametrize(("error", "code"), [(RuntimeError(NASTY.partition("\n")[0]), 70), (KeyboardInterrupt(), 130)], ids=str)
def test_bugs_and_interrupts_cannot_steer_it_either(capfd, folder, monkeypatch, error, code):
    def fails(*_args, **_kwargs):
        raise error

    monkeypatch.setattr("lookalike.results.result.Result.write", fails)
    found, text = run(capfd, "dedup", "few.jsonl", "-o", f"{NASTY}.jsonl")
    assert found == code and SHOWN.partition(r"\n")[0] in text
