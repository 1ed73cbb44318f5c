import re
import subprocess
import sys
import time

from json_lines import write_lines

import lookalike as la
from lookalike.engines.memory import peak_memory

TEXTS = [" ".join(f"w{(n * 7 + k) % 50}" for k in range(40)) for n in range(60)]


def test_the_time_is_that_of_the_whole_command(run):
    write_lines("x.jsonl", TEXTS)
    for more in ("", "--save saved -o out.jsonl"):
        began = time.perf_counter()
        _, out, _ = run(f"dedup x.jsonl {more}")
        whole = time.perf_counter() - began
        said = re.search(r"^([0-9.]+) s.*peak memory ([0-9,]+) MB$", out, re.MULTILINE)
        assert 0.5 * whole - 0.1 <= float(said[1]) <= whole + 0.01


def test_results_count_what_is_done_with_them():
    result = la.dedup(TEXTS)
    assert not {"writing", "saving", "auditing"} & set(result.summary.seconds)
    result.audit(5)
    result.save("saved")
    result.write("a.jsonl")
    once = result.summary.seconds["writing"]
    result.write("b.jsonl")
    assert result.summary.seconds["writing"] > once > 0 and {"saving", "auditing"} <= set(result.summary.seconds)


def test_the_memory_of_a_parser_counts():
    big = subprocess.run([sys.executable, "-c", "b = bytearray(700_000_000); b[::4096] = b[::4096]"], check=False)
    assert big.returncode == 0 and peak_memory() > 700_000_000
