import numpy as np
import pyarrow as pa
import pytest
from engine_kinds import prepare
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from naive.repeats import repeated_lines, repeated_passages

import lookalike as la
from lookalike.engines.memory import Memory
from lookalike.errors import OutputError, ParameterError
from lookalike.recipes import repeats

WORDS = ["a", "b", "Ab", "é", "e\u0301", "Straße", "日", "日本", "ก", "x" * 20, "_", "-", "0", "\u0301", "\ufeff", "\u2028", "\x00", "\u00a0",
         "=\u0338", "\u2adc", "\u1100\u1161", "o\u0301\u0327", "\u212a", "\u00a8\u0301", "\u0f76", "e\u00ad", "\u200d\u0301", "\u034f\u0327"]  # fmt: skip
SEPARATORS = [" ", "  ", "\n", "\n\n", "\r\n", "\t", ". ", " \n \n"]


def texts(words, separators, most):
    pieces = st.tuples(st.sampled_from(words), st.sampled_from(separators)).map("".join)
    return st.lists(pieces, max_size=most).map("".join)


corpora = st.lists(texts(WORDS, SEPARATORS, 40) | texts(["a", "b", "日"], [" ", "\n"], 60), max_size=12)
LIMITS = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def ranges(found, n):
    out = [[] for _ in range(n)]
    for row in found.removed.to_pylist():
        out[row["id"]].append((row["begin"], row["end"]))
    return out


def dropped(found, documents, path):
    found.write(path, force=True)
    left = pa.parquet.read_table(path)["number"].to_pylist()
    return [number not in left for number in range(len(documents))]


def as_table(documents):
    return pa.table({
        "text": pa.array(documents, pa.large_binary()).view(pa.large_string()),
        "number": pa.array(np.arange(len(documents))),
    })  # fmt: skip


def check_lines(documents, path, how, **given):
    removed, empty, told = repeated_lines(documents, **given)
    found = la.repeats(as_table(documents), **given, **how)
    assert ranges(found, len(documents)) == removed
    assert dropped(found, documents, path) == empty
    listed = [(row["text"], row["count"], row["documents"]) for row in found.repeated.to_pylist()]
    assert listed == [(text.decode("utf-8", "replace"), *more) for text, *more in told]
    best = sorted(told, key=lambda some: -some[1])[:3]
    assert [tuple(row.values())[:3] for row in found.top(3).to_pylist()] == [(text.decode(), *more) for text, *more in best]
    left = [row for row in range(len(documents)) if removed[row]]
    s = found.summary
    assert (s["changed"], s["dropped"], s["repeated_lines"]) == (len(left), sum(empty), len(told))
    assert s["removed_bytes"] == sum(end - begin for some in removed for begin, end in some)


def check_passages(documents, path, how, length, **given):
    removed, empty = repeated_passages(documents, length, **given)
    found = la.repeats(as_table(documents), unit="passage", length=length, **given, **how)
    assert ranges(found, len(documents)) == removed
    assert dropped(found, documents, path) == empty
    assert found.summary["removed_passages"] == sum(map(len, removed))


@LIMITS
@given(corpora, st.sampled_from(["line", "paragraph"]), st.integers(1, 4), st.none() | st.integers(1, 3))
def test_lines_follow_the_definition(tmp_path, documents, unit, min_words, drop_over):
    documents = [text.encode() for text in documents]
    check_lines(documents, tmp_path / "out.parquet", {"threads": 1}, unit=unit, min_words=min_words, drop_over=drop_over)


@LIMITS
@given(corpora, st.integers(1, 6), st.booleans(), st.sampled_from(["NFC", "none"]))
def test_passages_follow_the_definition(tmp_path, documents, length, fold_case, normalization):
    documents = [text.encode() for text in documents]
    more = {"fold_case": fold_case, "normalization": normalization}
    check_passages(documents, tmp_path / "out.parquet", {"threads": 1}, length=length, **more)


def patchwork(seed, n=40):
    """Blocks, windows and lines are repeated in all ways."""
    rng = np.random.default_rng(seed)
    sources = [
        rng.choice(["ape", "bee", "cat", "dog", "eel", "fox", "日", "gnu.", "hen\n", "\n\n"], 600).tolist() for _ in range(4)
    ]
    documents = []
    for _ in range(n):
        words = []
        for _ in range(rng.integers(0, 6)):
            source = sources[rng.integers(4)]
            begin = rng.integers(600)
            words += source[begin : begin + rng.integers(200)]
        for place in rng.integers(0, max(len(words), 1), rng.integers(0, 5)).tolist() if words else ():
            words[place] = "new"
        documents.append(" ".join(words).encode())
    return documents


@pytest.mark.parametrize("kind", ["threads", "spilled"])
@pytest.mark.parametrize("many", [1 << 20, 0])
def test_threads_and_memory_do_not_matter(kind, many, monkeypatch, tmp_path):
    """With ``many`` 0 what comes often is added up, and does not meet."""
    monkeypatch.setattr(repeats, "MANY", many)
    monkeypatch.setattr(repeats, "FREQUENT", 20)
    documents = patchwork(5)
    for more in ({}, {"unit": "paragraph"}, {"min_words": 1, "drop_over": 3}):
        check_lines(documents, tmp_path / "lines.parquet", prepare(kind, monkeypatch), **{"min_words": 2, **more})
    for length in (3, 12):
        check_passages(documents, tmp_path / "passages.parquet", prepare(kind, monkeypatch), length)


BANNER = "one two three four five six\n"


def test_a_large_line_and_a_million_equal_ones():
    large, many = b"word of a line " * (50_000_000 // 15), BANNER.encode()
    found = la.repeats(as_table([large, many * 1_000_000, b"start\n" + large + b"\nend", many * 3]), memory="1GB")
    assert ranges(found, 4) == [[], [(28, 28_000_000)], [(6, 6 + len(large) + 1)], [(0, 84)]]
    assert found.repeated["count"].to_pylist() == [2, 1_000_003]
    assert found.top(1)["documents"].to_pylist() == [2]


def _sampled(kind, n, seed):
    rng = np.random.default_rng(seed)
    if kind == "ideographs":
        return rng.integers(0x4E00, 0x9000, n).astype(np.uint32).tobytes().decode("utf-32-le")
    mark = "e\u0301" if kind == "accents" else "w"
    return "\n".join(f"{mark}{number:x}" for number in rng.integers(0, 1 << 40, n).tolist())


@pytest.mark.parametrize(("kind", "n"), [("words", 300_000), ("ideographs", 900_000), ("accents", 250_000)])
def test_a_text_of_megabytes_is_taken_in_parts_and_nobody_notices(kind, n):
    one, other = (_sampled(kind, some, seed) for seed, some in enumerate((n, n // 3)))
    gap = "" if kind == "ideographs" else "\n"
    text = gap.join([one, other, one, other, one])
    found = la.repeats([text, f"{other}{gap}end", "nothing"], unit="passage")
    first, whole, again = (len(some.encode()) for some in (f"{one}{gap}{other}{gap}", text, other))
    assert found.removed.to_pylist() == [
        {"id": 0, "begin": first, "end": whole, "words": 2 * n + n // 3},
        {"id": 1, "begin": 0, "end": again, "words": n // 3},
    ]
    period = _sampled(kind, 5000, 9) + gap
    found = la.repeats([period * (n // 2500)], unit="passage")
    end = len(period.encode()) * (n // 2500) - len(gap)
    assert found.removed.to_pylist() == [{"id": 0, "begin": len(period.encode()), "end": end, "words": 5000 * (n // 2500 - 1)}]


def test_what_there_is_no_room_to_mark_is_refused(monkeypatch):
    monkeypatch.setattr(Memory, "free", 64)
    with pytest.raises(ParameterError, match="lines or words may be repeated, and a bit for each takes"):
        la.repeats([BANNER * 2000], memory="1GB", threads=1)


def test_the_top_lists_repeated_lines_only(monkeypatch):
    monkeypatch.setattr(repeats, "MANY", 0)
    assert la.repeats([BANNER] * 400, threads=1).top(9)["count"].to_pylist() == [400]


@pytest.mark.parametrize("name", ["in.html", "in.mbox"])
def test_nothing_is_cut_out_of_what_is_parsed(name, tmp_path):
    line = "one line that comes again"
    (tmp_path / name).write_text(f"From a@b.c Mon Nov  2 10:00:00 2026\nSubject: <p>\n\n{line}<p>\n{line}<p>\nand more\n")
    result = la.repeats(tmp_path / name, min_words=1)
    with pytest.raises(OutputError, match="no part of a text can be removed from files of the format"):
        result.write(tmp_path / "out")
    assert not (tmp_path / "out").exists()
