import io
import logging
import sys
import time
from collections import Counter, defaultdict
from types import ModuleType, SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from row_files import lines, write
from waiting import until

import lookalike as la
from lookalike.cli.progress import progress as command_progress
from lookalike.recipes import progress as module
from lookalike.recipes.progress import Bar, Lines, duration, make_bar, no_progress, show_progress

TEXTS = [" ".join(f"word{(i // 2) * j}" for j in range(200)) + f" {i}" for i in range(400)]


def bar_at(width):
    lines = []
    return Bar(lines.append, lambda: width), lines


def line_after(width, seconds, *reports):
    bar, _ = bar_at(width)
    for report in reports:
        bar.of(*report) if len(report) > 2 else bar(*report)
    return bar.line(bar._stage.began + seconds)


def test_a_line_says_what_how_much_how_quickly_and_how_long():
    known = ("sketching", 0, 300_000_000, "bytes"), ("sketching", 123_000_000, 300_000_000, "bytes")
    assert line_after(100, 10, *known) == "sketching  41%  ########------------  123.0 of 300.0 MB  12.3 MB/s  14 s left"
    assert line_after(100, 2, *known) == "sketching  41%  ########------------  123.0 of 300.0 MB", "too early to tell"
    for seconds, before, done, total, unit, end in (
        (5000, 0, 10**11, 10**12, "bytes", "100.0 of 1,000.0 GB  20.0 MB/s  12 h 30 min left"),
        (60, 0, 19, 57, "bands", "19 of 57 bands  2 min 0 s left"),  # no rate of few things
        (10, 0, 5 * 10**5, 10**6, "documents", "500,000 of 1,000,000 documents  50,000 documents/s  10 s left"),
        (10, 2 * 10**8, 21 * 10**7, 3 * 10**8, "bytes", "1.0 MB/s  1 min 30 s left"),  # what an earlier run did is no speed
    ):
        assert line_after(120, seconds, ("verifying", before, total, unit), ("verifying", done, total, unit)).endswith(end)


def test_without_a_total_there_is_no_share():
    for seconds, said, *reports in (
        (12, "sketching  1,234 documents  12 s", ("sketching", 1000), ("sketching", 234)),
        (70, "finding candidates  1 min 10 s", ("finding candidates", 999)),
        (5, "verifying  7 pairs  5 s", ("verifying", 10, 10, "bytes"), ("verifying", 7)),  # the stage is not done
        (5, "verifying  5 s", ("sketching", 50, 100, "bytes"), ("verifying", 0)),  # a new stage begins anew
    ):
        assert line_after(80, seconds, *reports) == said
    assert "99%" in line_after(80, 5, ("sketching", 0, 1000, "bytes"), ("sketching", 999, 1000, "bytes"))
    known = {0: "0 s", 59.4: "59 s", 59.6: "1 min 0 s", 61: "1 min 0 s", 119.99999: "2 min 0 s", 599: "9 min 50 s", 600: "10 min",
             3600: "1 h 0 min", 44_999.9999: "12 h 30 min", 90_000: "25 h 0 min"}  # fmt: skip
    assert {seconds: duration(seconds) for seconds in known} == known


def test_a_line_fits_any_width():
    reports = ("sketching", 0, 300_000_000, "bytes"), ("sketching", 123_000_000, 300_000_000, "bytes")
    parts = ["41%", "14 s left", "12.3 MB/s", "123.0 of 300.0 MB"]
    for width in range(1, 100):
        line = line_after(width, 10, *reports)
        assert len(line) <= max(0, width - 1) and line == line.rstrip()
        shown = [part for part in parts if part in line]
        assert shown == parts[: len(shown)], "what matters most stays longest"


def test_a_bar_draws_seldom_and_leaves_nothing():
    bar, lines = bar_at(60)
    began = time.monotonic()
    with bar:
        while len(lines) < 3:
            bar("sketching", 1)
        bar.above(lambda: lines.append("note"))
    at = lines.index("note")
    assert lines[at - 1] == "" and lines[-1] in ("", "note")
    assert len(lines) <= 5 + (time.monotonic() - began) / module.EVERY


@pytest.mark.parametrize("make", [lambda gone: Bar(gone, lambda: 80, 0.01), lambda gone: Lines(gone, every=0.01)])
def test_a_terminal_or_reader_that_is_gone_ends_no_job(make):
    tried = []

    def gone(line):
        tried.append(line)
        raise OSError(5, "Input/output error")

    with make(gone) as shows:
        shows("sketching", 1)
        until(lambda: len(tried) > 2)
        assert shows._thread.is_alive()


class Terminal(io.StringIO):
    encoding = "ascii"

    def isatty(self):
        return True


def test_on_a_terminal_the_line_is_drawn_over(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", Terminal())
    draw = make_bar()._draw
    draw("sketching 1%")
    draw("deciding")
    draw("")
    assert sys.stderr.getvalue() == "\rsketching 1%\rdeciding    \r        \r"
    assert make_bar()._blocks == ("#", "-"), "what it can show"
    monkeypatch.setenv("TERM", "dumb")
    assert make_bar() is None


def test_nothing_is_drawn_into_files_or_where_nobody_asks(monkeypatch):
    for stream, asked in ((io.StringIO(), True), (None, True), (Terminal(), None), (Terminal(), False)):
        monkeypatch.setattr(sys, "stderr", stream)
        with show_progress(asked) as said:
            assert said is None
    with show_progress(print) as said:
        assert said is print
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert la.dedup(["a b c d e f"], progress=True).keep.tolist() == [True]
    for wrong in ("yes", 1.5, 1):
        with pytest.raises(la.errors.ParameterError, match="progress must be True, False, or a callable"):
            la.dedup(["a"], progress=wrong)


def test_in_a_notebook_one_output_is_updated(monkeypatch):
    seen = []
    handle = SimpleNamespace(update=lambda data, raw: seen.append(("update", data, raw)))
    ipython, display = ModuleType("IPython"), ModuleType("IPython.display")
    ipython.get_ipython = lambda: SimpleNamespace(kernel=object())
    display.display = lambda data, raw, display_id: seen.append(("new", data, raw)) or handle
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    monkeypatch.setattr(module, "IN_NOTEBOOKS", 0.01)
    with show_progress(True) as bar:
        bar("sketching", 3)
        until(lambda: len(seen) > 1)
    assert seen[0][0] == "new" and seen[0][1]["text/plain"].startswith("sketching  3 documents")
    assert seen[-1] == ("update", {"text/plain": ""}, True) and all(kind == "update" for kind, *_ in seen[1:])
    ipython.get_ipython = lambda: SimpleNamespace()  # the shell on a terminal
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert make_bar() is None


class Heard:
    def __init__(self):
        self.amounts, self.shares = Counter(), defaultdict(list)

    def __call__(self, stage, amount):
        self.amounts[stage] += amount

    def of(self, stage, *share):
        self.shares[stage].append(share)


def stored(folder, kind):
    folder.mkdir()
    for name, some in (("a", TEXTS[:250]), ("b", TEXTS[250:])):
        path = folder / f"{name}.{kind}"
        if kind == "parquet":
            pq.write_table(pa.table({"text": some}), path, row_group_size=60)
        elif kind == "csv":
            path.write_text("\n".join(["text", *some, ""]))
        elif kind == "txt":
            for i, text in enumerate(some):
                (folder / f"{name}{i}.txt").write_text(text)
        else:
            write(path, lines([{"text": text} for text in some]))
    return sum(path.stat().st_size for path in folder.iterdir())


def test_reading_reports_bytes_on_the_disk(tmp_path):
    for kind in ("jsonl", "jsonl.gz", "jsonl.zst", "csv", "parquet", "txt"):
        n_bytes, heard, plain = stored(tmp_path / kind, kind), Heard(), Heard()
        la.dedup(tmp_path / kind, progress=heard)
        la.dedup(tmp_path / kind, progress=plain.__call__)
        assert not plain.shares and plain.amounts == heard.amounts and heard.amounts["sketching"] == len(TEXTS), (
            "who takes amounts is told the same"
        )
        done = [report[0] for report in heard.shares["sketching"]]
        assert done == sorted(done) and {report[1:] for report in heard.shares["sketching"]} == {(n_bytes, "bytes")}
        assert 0.99 * n_bytes - 10 <= done[-1] <= n_bytes, kind


def test_later_stages_have_totals_of_their_own(tmp_path, small_parts):
    n_bytes, heard, data = stored(tmp_path / "in", "jsonl"), Heard(), tmp_path / "in"
    result = la.dedup(data, threshold=0.6, progress=heard, work=tmp_path / "work", threads=2)
    assert result.summary.near_duplicates
    result.close()
    for stage, unit in (("finding candidates", "bands"), ("verifying", "bytes"), ("reading candidates again", "documents")):
        done, total, units = zip(*heard.shares[stage], strict=True)
        assert set(units) == {unit} and list(done) == sorted(done) and len(set(total)) == 1 and done[-1] == total[0] > 0, stage
    assert heard.shares["reading candidates again"][-1][1] == len(TEXTS)
    for some, told in ((TEXTS, (len(TEXTS), "documents")), (data, (n_bytes, "bytes"))):
        la.pairs(some, progress=heard)
        assert heard.shares["sketching"][-1][1:] == told
    la.decontaminate(data, against=TEXTS[:3], progress=heard)
    assert heard.shares["matching"][-1] == (n_bytes, n_bytes, "bytes") and heard.amounts["matching"] == len(TEXTS)


def test_the_command_draws_on_terminals_unless_it_is_quiet(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", Terminal())
    with command_progress(quiet=False) as said:
        said("sketching", 1)
        until(lambda: "\rsketching" in sys.stderr.getvalue())
        logging.getLogger("lookalike").info("a note")
        until(lambda: "a note\n\rsketching" in sys.stderr.getvalue())
    drawn = sys.stderr.getvalue()
    assert "\ra note\n" in drawn and drawn.endswith("\r")
    monkeypatch.setattr(sys, "stderr", Terminal())
    with command_progress(quiet=True) as said:
        said("sketching", 1)
    assert sys.stderr.getvalue() == "" and said is no_progress


def test_lines_say_how_long_stages_took_and_that_one_lasts(monkeypatch):
    seconds, said = [0.0], []
    monkeypatch.setattr(module, "monotonic", lambda: seconds[0])
    with Lines(said.append, every=0.01) as lines:
        for stage, takes in (("starting Spark", 6), ("sketching", 0.4), ("verifying", 0.005), ("writing", 80)):
            lines(stage, 0)
            seconds[0] += takes
            lines(stage, 5)
        until(lambda: "writing: 1 min 20 s so far" in said)
    ended = [line for line in said if not line.endswith(" so far")]
    assert ended == ["starting Spark: 6 s", "writing: 1 min 20 s"], "what takes no time is not worth a line"


def test_the_command_writes_lines_where_it_cannot_draw(monkeypatch, capsys):
    seconds = [0.0]
    monkeypatch.setattr(module, "monotonic", lambda: seconds[0])
    for quiet, apart, said in ((False, True, "sketching: 5 s\n"), (True, True, ""), (False, False, "")):
        with command_progress(quiet, apart) as tell:
            tell("sketching", 0)
            seconds[0] += 5
        assert capsys.readouterr() == ("", said)
