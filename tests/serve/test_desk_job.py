import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from json_lines import read_lines
from raising import assert_raises
from serve.desk_jobs import plain, saved
from waiting import MINUTES

import lookalike as la
from lookalike.serve.desk_job import Desk, Wanted
from lookalike.serve.desk_review import Judgement


@pytest.fixture
def desk(tmp_path):
    desk = Desk(plain(tmp_path))
    yield desk
    desk.close()


def rows(desk, n=50, begin=0, **wanted):
    return desk.list_removals(Wanted(**wanted), begin, n)["rows"]


def test_texts_of_a_whole_page_are_read_at_once_and_few_are_held(desk, monkeypatch, tmp_path):
    """A list shows how texts begin though they are not held."""
    monkeypatch.setattr("lookalike.serve.desk_job.HELD_BYTES", 3_000)
    monkeypatch.setattr("lookalike.serve.desk_job.MOST_BEGINS", 50)
    asked, read = [], desk.result.texts
    monkeypatch.setattr(desk.result, "texts", lambda places, most: asked.append(len(places)) or read(places, most))
    texts = {row["id"]: row["text"] for row in read_lines(tmp_path / "b.jsonl")}
    for begin in (0, 20):
        some = {row["row"]: row["name"] for row in rows(desk, n=20, begin=begin, kind="near")}
        asked.clear()
        for row in some:
            pair = desk.pair(row, list(some))
            assert pair["compared"] and pair["begins"].keys() == some.keys()
            assert all(
                begun and texts[some[other]].startswith(begun.removesuffix("…")) for other, begun in pair["begins"].items()
            )
            assert desk._texts._n_bytes == sum(map(len, desk._texts._held.values())) <= 3_000
        assert asked[0] == 40 and len(desk._texts.begins) <= 50


def test_one_input_that_is_gone_hides_no_pair_of_others(tmp_path):
    parts = {"a": "one two three four five six seven ", "b": "eleven twelve thirteen fourteen fifteen "}
    inputs = {name: [{"id": f"{name}{i}", "text": part * 6 + " x" * i} for i in range(2)] for name, part in parts.items()}
    desk = Desk(saved(tmp_path, inputs))
    (tmp_path / "a.jsonl").unlink()
    found = {row["name"]: row["row"] for row in rows(desk)}
    assert set(found) == {"a1", "b1"} and desk.pair(found["b1"], [found["a1"]])["compared"]
    lost = desk.pair(found["a1"])
    assert lost["compared"] is None and "a.jsonl" in lost["why"]


def test_texts_that_were_in_memory(tmp_path):
    la.dedup([f"some words of a text that is said again {'x' * i}" for i in range(2)], threshold=0.5).save(tmp_path / "job")
    desk = Desk(tmp_path / "job")
    (row,) = rows(desk)
    assert "in memory" in desk.pair(row["row"])["why"]
    desk.judge(row["row"], Judgement("keep"))
    (line,) = read_lines(tmp_path / "job/overrides.jsonl")
    assert line == {"id": row["row"], "action": "keep", "input": "in memory", "sha256": None}


def test_precision_is_of_the_first_in_random_order(desk):
    """What is chosen by hand is not drawn, and copies count apart."""
    some = [row["row"] for row in rows(desk, n=30, order="random", kind="near")]
    for i, row in enumerate(reversed(some[:20])):
        assert "precision" not in desk.progress(), "the first one is judged last"
        progress = desk.judge(row, Judgement("keep" if i < 2 else "duplicate"))["progress"]
    assert progress["of"] == 60 and (progress["low"], progress["high"]) == pytest.approx((0.6830, 0.9877), abs=1e-4)
    exact = rows(desk, kind="exact")[0]["row"]
    names = ("judged", "drawn", "keep", "unsure", "copies", "precision")
    for row, said, wanted in (
        (some[25], Judgement("keep"), (21, 20, 3, 0, 0, 0.9)),
        (exact, Judgement("keep"), (21, 20, 3, 0, 1, 0.9)),
        (some[20], Judgement("unsure"), (22, 21, 3, 1, 1, 0.9)),
        (some[0], Judgement(None, "only a note"), (21, 0, 3, 1, 1, None)),
    ):
        assert tuple(desk.judge(row, said)["progress"].get(name) for name in names) == wanted


@pytest.mark.parametrize("given", [{}, {"id": None}], ids=["ids of a column", "ids of file and row"])
def test_dedup_takes_the_overrides(tmp_path, given):
    """Ids of a column hold without the digest of an input that has changed since; others do not."""
    folder = plain(tmp_path, 20, **given)
    path = folder / "overrides.jsonl"
    desk = Desk(folder)
    some = rows(desk, n=3, kind="near")
    for row in some:
        desk.judge(row["row"], Judgement("keep"))
    assert len(rows(desk, judged="none", kind="near", n=200)) == 17
    assert [line["input"] for line in read_lines(path)] == [desk.result.provenance["inputs"][1]["name"]] * 3
    inputs = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    again = la.dedup(inputs, overrides=path, **{"id": "id", "threshold": 0.5} | given)
    again.save(tmp_path / "again")
    other = Desk(tmp_path / "again")
    before, after = ({row["row"] for row in rows(one, n=200)} for one in (desk, other))
    assert after == before - {row["row"] for row in some} and again.summary.kept == desk.result.summary.kept + 3
    inputs[1].write_text("changed")
    row = rows(other)[0]["row"]
    if given:
        assert_raises(la.errors.InputDataError, "changed", other.judge, row, Judgement("keep"))
        assert not other.review.judged
    else:
        other.judge(row, Judgement("keep"))
        assert read_lines(tmp_path / "again/overrides.jsonl")[0]["sha256"] is None


def test_judgements_do_not_wait_for_the_report_which_is_made_once(desk, monkeypatch):
    begun, go = threading.Event(), threading.Event()

    def write(result, path):
        begun.set()
        go.wait(MINUTES)
        path.write_bytes(b"report")

    monkeypatch.setattr("lookalike.serve.desk_job.write_report", write)
    row = rows(desk, kind="near")[0]["row"]
    with ThreadPoolExecutor(2) as pool:
        made = pool.submit(desk.report)
        assert begun.wait(MINUTES)
        try:
            assert pool.submit(desk.judge, row, Judgement("keep")).result(MINUTES / 2)["row"] == row
        finally:
            go.set()
        assert made.result(MINUTES) == b"report" and desk.report() is made.result()


def test_somebody_elses_result_shows_texts_only_of_what_is_trusted(tmp_path, monkeypatch):
    folder = plain(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for trust, why in (((), "you did not save it on this machine"), ([str(tmp_path)], None)):
        desk = Desk(folder, trust)
        pair = desk.pair(rows(desk)[0]["row"])
        assert (pair["compared"] is None) == (why is not None) and (why or "") in (pair["why"] or "")
        desk.close()
