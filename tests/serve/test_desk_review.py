import os
import random
from contextlib import ExitStack
from unittest.mock import Mock

import pytest
from json_lines import read_lines
from raising import assert_raises

from lookalike.errors import InputDataError, OutputError, ParameterError
from lookalike.serve.desk_review import Judgement, Removed, Review

KEEP, DUPLICATE, UNSURE = Judgement("keep"), Judgement("duplicate"), Judgement("unsure")


def removed(row):
    """Rows 0 to 99 are."""
    if not 0 <= row < 100:
        raise ParameterError(f"{row} was not removed")
    return Removed(f"id{row}", f"id{row + 1000}")


@pytest.fixture
def open_review(tmp_path):
    with ExitStack() as stack:

        def opened(source_of=lambda row: {"input": "a.jsonl", "sha256": "ab"}):
            stack.close()
            review = Review(tmp_path, removed, source_of)
            stack.callback(review.close)
            return review

        yield opened


def kept(folder):
    path = folder / "overrides.jsonl"
    return [line["id"] for line in read_lines(path)] if path.exists() else []


def test_looking_writes_nothing_nor_what_is_refused(open_review, tmp_path):
    assert open_review().judged == {}
    for wrong in (("yes",), ([],), ("keep", "x" * 2001), ("keep", 5)):
        assert_raises(ParameterError, "", Judgement, *wrong)
    assert_raises(ParameterError, "", open_review().judge, [100], KEEP)
    assert list(tmp_path.iterdir()) == []


def test_what_is_kept_is_written_as_the_report_exports_it(open_review, tmp_path):
    review = open_review()
    review.judge([3], KEEP)
    review.judge([1], Judgement("duplicate", "clear"))
    assert read_lines(tmp_path / "overrides.jsonl") == [{"id": "id3", "action": "keep", "input": "a.jsonl", "sha256": "ab"}]
    first, second = read_lines(tmp_path / "review.jsonl")
    said = {"judgement": "duplicate", "note": "clear", "undo": False, "more": False}
    assert first["judgement"] == "keep" and second == {"row": 1, "id": "id1", "duplicate_of": "id1001"} | said


TORN = (b'{"row": 5, "id": "id5", "dupl{', b"\xff\xfe", b"{}", b"")  # the last one tears what was written last
SAID = (KEEP, KEEP, DUPLICATE, UNSURE, Judgement("keep", "look"), Judgement(None, "ask Ann\n\u202e</script>"), Judgement())


@pytest.mark.parametrize("seed", range(3))
def test_reviews_are_as_a_model_of_them_over_restarts_and_crashes(open_review, tmp_path, seed):
    """What was judged together is taken back together, the last first; a torn line does not count, and is written over; overrides
    follow, also those that a crash left behind.
    """
    rng, log = random.Random(seed), tmp_path / "review.jsonl"
    history, review = [[{}]], open_review()  # after each action: the states to go back to, the last one holds
    for _ in range(60):
        states = history[-1]
        match rng.randrange(6):
            case 0:
                undone = {row for row in range(6) if len(states) > 1 and states[-1].get(row) != states[-2].get(row)}
                assert set(review.undo()) == undone
                history += [states[:-1]] if undone else []
            case 1:
                torn = rng.choice(TORN) if len(history) > 1 else None
                if torn is not None:
                    log.write_bytes(log.read_bytes() + torn if torn else log.read_bytes()[:-1])
                    history = history if torn else history[:-1]
                (tmp_path / "overrides.jsonl").unlink(missing_ok=True)
                review = open_review()
            case _:
                rows, said = rng.sample(range(6), rng.choice([1, 1, 2, 3])), rng.choice(SAID)
                review.judge(rows, said)
                after = {row: one for row, one in (states[-1] | dict.fromkeys(rows, said)).items() if one != Judgement()}
                history += [[*states, after]] if after != states[-1] else []
        now = history[-1][-1]
        assert review.judged == now
        assert kept(tmp_path) == [f"id{row}" for row, said in sorted(now.items()) if said.judgement == "keep"]
        assert not log.exists() or not any(torn in log.read_bytes() for torn in TORN[:2])


def test_an_action_whose_last_lines_are_missing_does_not_count(open_review, tmp_path):
    log = tmp_path / "review.jsonl"
    open_review().judge([1, 2, 3], KEEP)
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:2]))
    review = open_review()
    assert review.judged == {}
    review.judge([5], DUPLICATE)
    review = open_review()
    assert set(review.judged) == set(review.undo()) == {5}


def test_lines_of_others_in_the_overrides_stay_as_they_are(open_review, tmp_path):
    path = tmp_path / "overrides.jsonl"
    others = b'{"id": "x",   "action": "remove"}\nnot JSON\n[]\n'
    path.write_bytes(others + b'{"id": "id3", "action": "keep"}\n')
    review = open_review()
    review.judge([3, 5], KEEP)
    assert path.read_bytes().startswith(others) and path.read_bytes().count(b"\n") == 5
    review.undo()
    assert path.read_bytes() == others


def test_what_the_input_was_is_held_in_the_log_for_when_it_is_gone(open_review, tmp_path):
    open_review().judge([3], KEEP)
    before = read_lines(tmp_path / "overrides.jsonl")
    review = open_review(Mock(side_effect=InputDataError("a.jsonl: cannot be read")))
    assert_raises(InputDataError, "cannot be read", review.judge, [4], KEEP)
    assert sorted(review.judged) == [3], "nothing of it was written"
    review.judge([3, 4], DUPLICATE)
    review.undo()
    assert read_lines(tmp_path / "overrides.jsonl") == before


def test_a_second_process_can_look_and_cannot_judge(open_review, tmp_path):
    review = open_review()
    review.judge([3], KEEP)
    other = Review(tmp_path, removed, lambda row: {"input": "a", "sha256": None})
    assert other.judged == {3: KEEP}
    assert_raises(OutputError, "another process reviews", other.judge, [4], KEEP)
    review.judge([5], UNSURE)
    review.close()
    other.judge([4], KEEP)
    assert sorted(other.judged) == [3, 4, 5], "what was added meanwhile is read"
    other.close()


def test_a_log_that_is_damaged_or_foreign_is_refused(open_review, tmp_path):
    open_review().judge([3], DUPLICATE)
    log = tmp_path / "review.jsonl"
    whole = log.read_bytes()
    for line, said in {
        b"nonsense": "line 2: damaged",
        b'{"row": 1}': "line 2: damaged",
        b'{"row": Infinity, "judgement": null, "note": ""}': "line 2: damaged",
        b'{"row":1,"id":"id1","duplicate_of":"id1001","judgement":"maybe","note":""}': "line 2: damaged",
        b'{"row":1,"id":"id1","duplicate_of":"id1001","judgement":"keep","note":""}': "line 2: damaged",
        b'{"row":1,"id":"id2","duplicate_of":"id1001","judgement":"unsure","note":""}': "another result",
        b'{"row":500,"id":"id2","duplicate_of":"id1001","judgement":"unsure","note":""}': "another result",
    }.items():
        log.write_bytes(whole + line + b"\n")
        assert_raises(InputDataError, said, open_review)


def test_what_cannot_be_written_is_not_judged(open_review, tmp_path, monkeypatch):
    """Overrides that could not be written follow with the next try, in which nothing is new."""
    review, overrides = open_review(), tmp_path / "overrides.jsonl"
    overrides.mkdir()
    for _ in range(2):
        assert_raises(OutputError, "", review.judge, [3], KEEP)
    overrides.rmdir()
    review.judge([3], KEEP)
    before = (tmp_path / "review.jsonl").read_bytes()
    assert kept(tmp_path) == ["id3"] and before.count(b"\n") == 1
    monkeypatch.setattr("lookalike.serve.desk_review.os.fsync", Mock(side_effect=OSError(28, "No space left on device")))
    assert_raises(OutputError, "No space left", review.judge, [4], KEEP)
    assert (tmp_path / "review.jsonl").read_bytes() == before and sorted(review.judged) == [3]


@pytest.mark.parametrize("name", ["review.jsonl", "overrides.jsonl"])
def test_links_and_pipes_of_a_strangers_folder_are_not_followed(open_review, tmp_path, name):
    """A link would have a file of whoever reviews cut off, or copied into the folder."""
    mine, path = tmp_path / "mine.txt", tmp_path / name
    mine.write_text("no line of ours")
    for make in (lambda: path.symlink_to(mine), lambda: path.symlink_to("nowhere"), lambda: os.mkfifo(path)):
        make()
        assert_raises((InputDataError, OutputError), "in the place of a file", lambda: open_review().judge([3], KEEP))
        assert mine.read_text() == "no line of ours" and not (tmp_path / "nowhere").exists()
        for file in ("review.jsonl", "overrides.jsonl"):
            (tmp_path / file).unlink(missing_ok=True)
