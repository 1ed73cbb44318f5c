"""Errors escape names whatever they are about: ``test_wording.py``."""

import os
import pty
import subprocess
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from cli.commands import process, status
from json_lines import write_lines
from samples import words

import lookalike as la

NASTY = "\x1b]0;x\x07\x9b2J\x7f\u202egpj\u2066\u200b\ufeff\u061c\n\rerror: all is well"
SHOWN = r"\x1b]0;x\x07\x9b2J\x7f\u202egpj\u2066\u200b\ufeff\u061c\n\rerror: all is well"
IDS = [f"{NASTY}{i}" for i in range(3)]
TEXT = words("word", 60)


@pytest.fixture(autouse=True)
def _hostile():
    os.mkdir("in")
    rows = [{"id": id, NASTY: f"{TEXT} {i} {NASTY}", "text": f"{TEXT} {i}"} for i, id in enumerate(IDS)]
    write_lines(f"in/{NASTY}.jsonl", rows)
    Path(f"in/{NASTY}.xyz").write_text("left out")
    write_lines("few.jsonl", ({"id": id, "text": "one"} for id in IDS[:2]))


def terminal(line, *words):
    ours, theirs = pty.openpty()
    env = os.environ | {"TERM": "xterm", "PYTHONUTF8": "1"}
    with subprocess.Popen([*process(line), *words], stdout=theirs, stderr=theirs, stdin=subprocess.DEVNULL, env=env) as run:
        os.close(theirs)
        data = b""
        try:
            while chunk := os.read(ours, 1 << 16):
                data += chunk
        except OSError:  # the other end was closed
            pass
        os.close(ours)
    return run.returncode, data.decode().replace("\r\n", "\n")


def checked(text):
    """Lines steer nothing, and none begins in the middle of a name."""
    lines = text.split("\n")
    assert [line for line in lines if not line.isprintable() or line.startswith(("\r", "error: all is well"))] == []
    return text


@pytest.fixture
def printed(capfd):
    """NASTY stands for the hostile name."""

    def run(line):
        code = status(*(word.replace("NASTY", NASTY) for word in line.split()))
        return code, checked("".join(capfd.readouterr()))

    return run


def test_nothing_that_is_printed_steers_a_terminal(printed):
    for line, said in {
        "0 dedup in --id id -t 0.5": f"{SHOWN}1  ->  {SHOWN}0",
        "0 dedup in -t 0.5 -o outNASTY.jsonl": f"written: out{SHOWN}.jsonl",
        "0 dedup in --id id -t 0.5 --save saved": "written: saved",
        "0 show saved": SHOWN[:24],
        "0 show saved NASTY1": f"document   {SHOWN}1",
        "0 dedup in -t 0.5": f"{SHOWN}.jsonl:2  ->  in/{SHOWN}.jsonl:1",
        "0 dedup in": f"of no known text format: in/{SHOWN}.xyz)",
        "0 dedup in --id id -t 0.5 --json": r'"least_alike": [["\u001b]0;x',
        "1 dedup noneNASTY.jsonl": f"error: none{SHOWN}.jsonl: no file of that name",
        "1 dedup in --text other": f"fields found: id, {SHOWN}, text",
        "2 dedup in --noNASTY": f"--no{SHOWN}",
        "2 compare few.jsonl in moreNASTY": f"Got unexpected extra argument (more{SHOWN})",
        "0 pairs in --id id -o NASTY.csv": f"written: {SHOWN}.csv",
        "0 pairs in": f"of no known text format: in/{SHOWN}.xyz)",
        "0 decontaminate in --against few.jsonl --id id -o NASTY.jsonl --matches NASTY.csv --force":
         f"{SHOWN}0, {SHOWN}1\nwritten: {SHOWN}.jsonl\nwritten: {SHOWN}.csv",
        "0 index create I -t 0.5": f"Index {SHOWN}.idx: 0 documents",
        "0 index create J -t 0.5": f"lookalike index add {SHOWN}.jdx FILES",
        "0 index add I in/NASTY.jsonl --id id": "3 documents added",
        "2 index add I in/NASTY.jsonl --id id": SHOWN,
        "0 index query I in/NASTY.jsonl --id id": r'{"query": "\u001b]0;x',
        "0 index query I in/NASTY.jsonl -o NASTY.csv --force": f"written: {SHOWN}.csv",
        "0 index export I -o NASTY.parquet": f"3 documents written: {SHOWN}.parquet",
        "0 index info I": "documents",
        "0 index check I": f"{SHOWN}.idx: no damage found",
        "0 index compact I": f"Index {SHOWN}.idx: 3 documents",
    }.items():  # fmt: skip
        code, line = line.split(" ", 1)
        found, text = printed(line.replace(" I", " NASTY.idx").replace(" J", " NASTY.jdx"))
        assert (str(found), said in text) == (code, True), text
    assert pq.read_table(f"{NASTY}.parquet")["id"].to_pylist() == IDS
    (segment,) = Path(f"{NASTY}.idx").glob("segment-*")
    segment.write_bytes(segment.read_bytes()[:-1])
    code, text = printed("index check NASTY.idx")
    assert code == 1 and f"{SHOWN}.idx/segment-" in text


def test_nothing_steers_a_real_terminal():
    """Progress is drawn over itself, and is gone when the summary comes."""
    code, text = terminal("dedup in --id id -t 0.5")
    assert code == 0 and f"{SHOWN}1  ->  {SHOWN}0" in text
    assert text.rpartition("\r")[2].startswith("3 documents"), "what was drawn, if the job took long enough for it"
    assert not any(steering in text for steering in ("\x1b]0", "\x9b", "\x07", "\x7f", "\u202e", "\u2066", "\u200b", "\nerror"))
    code, text = terminal("pairs", f"none{NASTY}")
    assert code == 1 and f"error: none{SHOWN}: no file of that name" in checked(text)


def test_summaries_names_and_log_records_are_printable(caplog):
    caplog.set_level("INFO", logger="lookalike")
    result = la.dedup("in", id="id", threshold=0.5, work=f"work{NASTY}")
    assert all(line.isprintable() for line in str(result.summary).split("\n")) and SHOWN in str(result.summary)
    assert all(record.getMessage().isprintable() for record in caplog.records)
    result.close()
    with la.Index.create(NASTY) as index:
        assert repr(index).isprintable()


@pytest.mark.parametrize(("error", "code"), [(RuntimeError(NASTY.partition("\n")[0]), 70), (KeyboardInterrupt(), 130)], ids=str)
def test_bugs_and_interrupts_cannot_steer_it_either(printed, monkeypatch, error, code):
    def fails(*_args, **_kwargs):
        raise error

    monkeypatch.setattr("lookalike.results.result.Result.write", fails)
    found, text = printed("dedup few.jsonl -o NASTY.jsonl")
    assert found == code and SHOWN.partition(r"\n")[0] in text
