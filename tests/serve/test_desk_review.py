"""A review on the disk: judgements survive restarts and torn lines, overrides follow, and others' lines stay."""

import os

import pytest
from json_lines import read_lines
from raising import assert_raises

from lookalike.errors import InputDataError, OutputError, ParameterError
from lookalike.serve.desk_review import Judgement, Removed, Review

KEEP, DUPLICATE, UNSURE = Judgement("keep"), Judgement("duplicate"), Judgement("unsure")


def removed(row):
    """Rows 0 to 99 are removals."""
    if not 0 <= row < 100:
        raise ParameterError(f"{row} was not removed")
    return Removed(f"id{row}", f"id{row + 1000}")


@pytest.fixture
def open_review(tmp_path):
    opened = []

    def open_it(source_of=lambda row: {"input": "a.jsonl", "sha256": "ab"}):
        close()
        opened.append(Review(tmp_path, removed, source_of))
        return opened[-1]

    def close():
        for review in opened:
            review.close()

    yield open_it
    close()


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
    assert first["judgement"] == "keep"
    assert second == {"row": 1, "id": "id1", "duplicate_of": "id1001", "note": "clear",
        "judgement": "duplicate", "undo": False, "more": False}  # fmt: skip


def test_the_last_line_of_a_pair_wins_and_a_restart_forgets_nothing(open_review, tmp_path):
    review = open_review()
    note = Judgement(None, "ask Ann\n\u202e</script>")
    for row, said in ((3, KEEP), (4, KEEP), (3, DUPLICATE), (5, UNSURE), (4, Judgement("keep", "look")), (7, note)):
        review.judge([row], said)
    assert open_review().judged == {3: DUPLICATE, 4: Judgement("keep", "look"), 5: UNSURE, 7: note}
    assert kept(tmp_path) == ["id4"]
    (tmp_path / "overrides.jsonl").unlink()  # what a crash left behind is mended at the start
    open_review()
    assert kept(tmp_path) == ["id4"]


def test_undo_goes_back_over_restarts(open_review, tmp_path):
    """A new judgement after it is the next to be taken back."""
    review = open_review()
    for row, said in ((3, KEEP), (3, DUPLICATE), (4, KEEP)):
        review.judge([row], said)
    assert review.undo() == [4] and kept(tmp_path) == []
    review.judge([5], UNSURE)
    for rows, judged, ids in (([5], {3: DUPLICATE}, []), ([3], {3: KEEP}, ["id3"]), ([3], {}, []), ([], {}, [])):
        again = open_review()
        assert again.undo() == rows and again.judged == judged and kept(tmp_path) == ids


def test_what_was_judged_together_is_taken_back_together(open_review, tmp_path):
    review = open_review()
    review.judge([4], UNSURE)
    review.judge([3, 4, 5], KEEP)
    review.judge([5, 3], KEEP)  # nothing new
    assert kept(tmp_path) == ["id3", "id4", "id5"]
    review.judge([6], KEEP)
    assert open_review().undo() == [6] and open_review().undo() == [3, 4, 5]
    assert open_review().judged == {4: UNSURE} and kept(tmp_path) == []
    log = tmp_path / "review.jsonl"
    log.write_bytes(log.read_bytes()[:-1])  # a torn action
    assert open_review().undo() == [3, 4, 5]


@pytest.mark.parametrize("torn", [b'{"row": 5, "id": "id5", "dup', b"\xff\xfe", b"{}"])
def test_a_torn_last_line_does_not_count_and_is_written_over(open_review, tmp_path, torn):
    log = tmp_path / "review.jsonl"
    open_review().judge([3], KEEP)
    log.write_bytes(log.read_bytes() + torn)
    open_review().judge([4], KEEP)
    assert sorted(open_review().judged) == [3, 4] and (torn == b"{}" or torn not in log.read_bytes())


def test_lines_of_others_in_the_overrides_stay_as_they_are(open_review, tmp_path):
    path = tmp_path / "overrides.jsonl"
    others = b'{"id": "x",   "action": "remove"}\nnot JSON\n[]\n'
    path.write_bytes(others + b'{"id": "id3", "action": "keep"}\n')
    review = open_review()
    review.judge([3], KEEP)
    review.judge([5], KEEP)
    assert path.read_bytes().startswith(others) and path.read_bytes().count(b"\n") == 5
    review.judge([5], DUPLICATE)
    review.undo()
    assert path.read_bytes().startswith(others)


def test_what_the_input_was_is_held_in_the_log_for_when_it_is_gone(open_review, tmp_path):
    open_review().judge([3], KEEP)
    before = read_lines(tmp_path / "overrides.jsonl")

    def gone(row):
        raise InputDataError("a.jsonl: cannot be read")

    review = open_review(gone)
    assert_raises(InputDataError, "cannot be read", review.judge, [4], KEEP)
    assert sorted(review.judged) == [3], "nothing of it was written"
    review.judge([4], DUPLICATE)
    review.judge([3], DUPLICATE)
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


def test_a_log_that_cannot_grow_is_cut_back(open_review, tmp_path, monkeypatch):
    review = open_review()
    review.judge([3], KEEP)
    before = (tmp_path / "review.jsonl").read_bytes()

    def fail(file):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("lookalike.serve.desk_review.os.fsync", fail)
        assert_raises(OutputError, "No space left", review.judge, [4], KEEP)
    assert (tmp_path / "review.jsonl").read_bytes() == before and sorted(review.judged) == [3]


def test_overrides_that_could_not_be_written_follow_with_the_next_try(open_review, tmp_path):
    review = open_review()
    (tmp_path / "overrides.jsonl").mkdir()
    for _ in range(2):  # the second time nothing is new, and it is still not on the disk
        assert_raises(OutputError, "", review.judge, [3], KEEP)
    (tmp_path / "overrides.jsonl").rmdir()
    review.judge([3], KEEP)
    assert kept(tmp_path) == ["id3"] and len((tmp_path / "review.jsonl").read_text().splitlines()) == 1


@pytest.mark.parametrize("name", ["review.jsonl", "overrides.jsonl"])
def test_links_and_pipes_of_a_strangers_folder_are_not_followed(open_review, tmp_path, name):
    """A link would have a file of whoever reviews cut off, or copied into the folder."""
    mine = tmp_path / "mine.txt"
    path = tmp_path / name
    mine.write_text("no line of ours")
    for make in (lambda: path.symlink_to(mine), lambda: path.symlink_to("nowhere"), lambda: os.mkfifo(path)):
        make()
        assert_raises((InputDataError, OutputError), "in the place of a file", lambda: open_review().judge([3], KEEP))
        assert mine.read_text() == "no line of ours" and not (tmp_path / "nowhere").exists()
        for file in ("review.jsonl", "overrides.jsonl"):
            (tmp_path / file).unlink(missing_ok=True)
