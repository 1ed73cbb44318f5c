import re
import subprocess
import sys
import traceback
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from json_lines import write_lines
from raising import assert_raises
from samples import words

import lookalike as la
from lookalike.errors import from_caller
from lookalike.wording import for_command_line, speak_of_keys, spoken


def test_a_message_names_an_option_as_its_reader_knows_it():
    for message, shell, python in (
        ("pass --force (force=True) to replace it", "pass --force to replace it", "pass force=True to replace it"),
        ("raise --memory (memory=), or divide", "raise --memory, or divide", "raise memory=, or divide"),
        ("--glob (glob) must be a name", "--glob must be a name", "glob must be a name"),
        ("out: --exclude PATTERN (exclude=)", "out: --exclude PATTERN", "out: exclude="),
        ("(--empty drop (empty='drop') removes)", "(--empty drop removes)", "(empty='drop' removes)"),
        ("--on-error skip (on_error='skip') and --glob (glob)", "--on-error skip and --glob", "on_error='skip' and glob"),
        ("without --id (see below) or (a)", "without --id (see below) or (a)", "without --id (see below) or (a)"),
    ):
        assert spoken(message) == python and str(la.LookalikeError(message)) == python
        with for_command_line():
            speak_of_keys({"other"})
            assert spoken(message) == shell and str(la.LookalikeError(message)) == shell
        assert spoken(message) == python
    with for_command_line():
        speak_of_keys({"max_document", "empty", "delimiter"})
        assert spoken("--delimiter ',' (delimiter=',')") == "--set delimiter=','"
        both = "--set max_document=BYTES or --set empty=..."
        assert spoken("--max-document BYTES (max_document=) or --empty (empty)") == both


@given(st.text(alphabet="ab -=_().,;:'", max_size=40))
def test_what_names_no_option_stays(text):
    if "--" not in text:
        assert spoken(text) == text


def test_each_reader_gets_its_own_words(run):
    write_lines("x.jsonl", ["one two three"])
    for named, options, said in (
        ({"text": "nope"}, "--text nope", "name another with"),
        ({"threshold": 80}, "-t 80", "threshold must be in"),
        ({"keep": "longst"}, "--keep longst", "did you mean 'longest'"),
        ({"glob": "/x"}, "--glob /x", "glob must be"),
        ({"max_document": "1TB"}, "--set max_document=1TB", "(max_document=|... )must be"),
        ({"memory": "1MB"}, "--memory 1MB", "memory must be at least"),
    ):
        code, _, err = run(f"dedup x.jsonl {options}")
        err = re.sub("--set [a-z_]+=", "", err)
        assert code in (1, 2) and re.search(said, err) and not re.search(r"\([a-z_]+=|\b[a-z]+_[a-z_]+\b|\b[a-z]+=", err), err
        with pytest.raises(la.LookalikeError, match=said) as raised:
            la.dedup(Path("x.jsonl"), **named)
        assert "--" not in str(raised.value)


def crowd(size, others=0):
    header, rows = words("header", 10 * size), [words(f"w{n}-", size) for n in range(40 + others)]
    return write_lines("x.jsonl", [f"{header} {row}" for row in rows[:40]] + rows[40:])


def test_crowds_are_helped_by_options_that_there_are(run):
    crowd(8)
    code, out, _ = run("dedup x.jsonl --set max_bucket=5 -t 0.9")
    assert code == 0 and "crowded buckets" in out and "docs/" not in out
    assert "raise --set max_bucket=..., or leave boilerplate out with --set ignore=..." in out
    assert "raise max_bucket=" in str(la.dedup("x.jsonl", max_bucket=5, threshold=0.9).summary)
    code, out, _ = run("dedup x.jsonl --set max_bucket=1000 -t 0.9")
    assert code == 0 and "crowded buckets" not in out


def test_recall_1_is_named_where_it_is_likely_to_take_less_time(run):
    """Half of the documents in crowds, and texts that are short."""
    for more, size, advised in (
        ("", 8, True), ("--unit char", 8, True), ("--set bands=20 --set rows=4", 8, True), ("", 200, False),
        ("--set verify=sketch", 8, False), ("--measure containment", 8, False), ("--recall 1", 8, False),
    ):  # fmt: skip
        code, out, _ = run(f"dedup {crowd(size)} --set max_bucket=5 -t 0.9 {more}")
        assert code == 0 and ("often take less time with --recall 1" in out) is advised
    for others, advised in ((32, True), (33, False)):
        out = run(f"dedup {crowd(8, others)} --set max_bucket=5 -t 0.9")[1]
        assert "36 documents in crowded buckets" in out and ("with --recall 1" in out) is advised


def test_commands_say_nothing_that_does_not_concern_them(run):
    out = run("pairs --help")[1]
    assert "removed" not in out and "max_bucket" not in out
    write_lines("x.jsonl", ["one two three"])
    assert "GB" not in run("dedup x.jsonl --work job")[2]


def deep(call):
    with pytest.raises((la.LookalikeError, TypeError)) as raised:
        call()
    return sum("/lookalike/" in frame.filename for frame in traceback.extract_tb(raised.value.__traceback__))


def test_an_error_leads_to_the_line_of_its_caller(monkeypatch):
    path = Path(write_lines("x.jsonl", ["one two three"]))
    result, index = la.dedup(path), la.Index.create("i")
    calls = [
        lambda: la.dedup(path, text="nope"),
        lambda: la.decontaminate(path, against=path, measure="none"),
        lambda: la.repeats(path, text="nope"),
        lambda: la.plan(threshold=3),
        lambda: la.foresee(documents=-1, bytes=1),
        lambda: result.write(path),
        lambda: la.Settings(unt="word"),
        lambda: la.shingle(["a"], unit="x"),
        lambda: la.Result.load("none"),
        lambda: la.Index.open("none"),
        lambda: index.add([1, 1], ["a", "b"]),
        lambda: la.History(5),
        lambda: la.exact_pairs([[1]], threshold=1),
        lambda: la.verify([], [], threshold=1),
        lambda: la.sketches.MinHash().sign(["a"]),
        lambda: la.sketches.save(5, "x"),
    ]
    assert [deep(call) for call in calls] == [1] * len(calls)
    result.close()
    assert deep(lambda: result.removed) == 1
    monkeypatch.setenv("LOOKALIKE_TRACEBACK", "full")
    assert deep(calls[0]) > 3


def test_an_argument_that_is_missing_is_said_of_the_function():
    missing = r"^decontaminate\(\) missing 1 required keyword-only argument: 'against'$"
    assert_raises(TypeError, missing, la.decontaminate, ["one two three"])
    with pytest.raises(TypeError, match="concatenate") as raised:
        from_caller(lambda: "" + 1)()
    assert len(raised.traceback) == 3  # of Python itself, with all lines


def test_what_a_traceback_shows():
    program = f"import lookalike as la\nla.dedup({write_lines('x.jsonl', ['one'])!r}, text='nope')\n"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stderr.count("File ") == 2 and "During handling" not in done.stderr
    assert done.stderr.splitlines()[-1].endswith("name another with text=")
