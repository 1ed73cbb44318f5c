"""A review on the disk: judgements survive restarts and torn lines, overrides follow, and others' lines stay."""

import os

import pytest
from json_lines import read_lines

import lookalike as la
from lookalike.serve.desk_review import Judgement, Removed, Review

KEEP, DUPLICATE, UNSURE = Judgement("keep"), Judgement("duplicate"), Judgement("unsure")


def removed(row):
    """Rows 0 to 99 are removals."""
    if not 0 <= row < 100:
        raise la.errors.ParameterError(f"{row} was not removed")
    return Removed(f"id{row}", f"id{row + 1000}")


@pytest.fixture
def open_review(tmp_path):
    """Opens the review of one folder."""
    opened = []

    def open_it(source_of=lambda row: {"input": "a.jsonl", "sha256": "ab"}):
        for review in opened:
            review.close()
        opened.append(Review(tmp_path, removed, source_of))
        return opened[-1]

    yield open_it
    for review in opened:
        review.close()


def overrides(folder):
    path = folder / "overrides.jsonl"
    return read_lines(path) if path.exists() else None


def kept(folder):
    return [line["id"] for line in overrides(folder) or []]


def test_looking_writes_nothing(open_review, tmp_path):
    assert open_review().judged == {} and list(tmp_path.iterdir()) == []


def test_what_is_kept_is_written_as_the_report_exports_it(open_review, tmp_path):
    review = open_review()
    review.judge([3], KEEP)
    review.judge([1], Judgement("duplicate", "clear"))
    assert overrides(tmp_path) == [{"id": "id3", "action": "keep", "input": "a.jsonl", "sha256": "ab"}]
    lines = read_lines(tmp_path / "review.jsonl")
    assert lines[0]["judgement"] == "keep"
    assert lines[1] == {"row": 1, "id": "id1", "duplicate_of": "id1001", "note": "clear",
        "judgement": "duplicate", "undo": False, "more": False}  # fmt: skip


def test_the_last_line_of_a_pair_wins_and_a_restart_forgets_nothing(open_review, tmp_path):
    review = open_review()
    for row, said in ((3, KEEP), (4, KEEP), (3, DUPLICATE), (5, UNSURE), (4, Judgement("keep", "look"))):
        review.judge([row], said)
    again = open_review()
    assert again.judged == {3: DUPLICATE, 4: Judgement("keep", "look"), 5: UNSURE}
    assert kept(tmp_path) == ["id4"]


def test_undo_goes_back_over_restarts(open_review, tmp_path):
    review = open_review()
    review.judge([3], KEEP)
    review.judge([3], DUPLICATE)
    review.judge([4], KEEP)
    assert review.undo() == [4] and kept(tmp_path) == []
    again = open_review()
    assert again.judged == {3: DUPLICATE}
    assert again.undo() == [3] and again.judged == {3: KEEP} and kept(tmp_path) == ["id3"]
    assert again.undo() == [3] and again.judged == {} and kept(tmp_path) == []
    assert again.undo() == [] and open_review().undo() == []


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


def test_a_new_judgement_after_undo_is_the_next_to_be_taken_back(open_review):
    review = open_review()
    review.judge([1], KEEP)
    review.judge([2], KEEP)
    review.undo()
    review.judge([5], UNSURE)
    assert open_review().undo() == [5] and open_review().undo() == [1]


def test_a_note_without_a_judgement_is_held(open_review, tmp_path):
    open_review().judge([7], Judgement(None, "ask Ann\n\u202e</script>"))
    assert open_review().judged == {7: Judgement(None, "ask Ann\n\u202e</script>")} and kept(tmp_path) == []


@pytest.mark.parametrize("torn", [b'{"row": 5, "id": "id5", "dup', b"\xff\xfe", b"{}"])
def test_a_torn_last_line_does_not_count_and_is_written_over(open_review, tmp_path, torn):
    open_review().judge([3], KEEP)
    with open(tmp_path / "review.jsonl", "ab") as log:
        log.write(torn)
    open_review().judge([4], KEEP)
    assert sorted(open_review().judged) == [3, 4]
    assert torn not in (tmp_path / "review.jsonl").read_bytes() or torn == b"{}"


def test_overrides_that_a_crash_left_behind_are_mended_at_the_start(open_review, tmp_path):
    open_review().judge([3], KEEP)
    (tmp_path / "overrides.jsonl").unlink()
    open_review()
    assert kept(tmp_path) == ["id3"]


def test_lines_of_others_in_the_overrides_stay_as_they_are(open_review, tmp_path):
    others = b'{"id": "x",   "action": "remove"}\nnot JSON\n[]\n'
    (tmp_path / "overrides.jsonl").write_bytes(others + b'{"id": "id3", "action": "keep"}\n')
    review = open_review()
    review.judge([3], KEEP)
    review.judge([5], KEEP)
    assert (tmp_path / "overrides.jsonl").read_bytes().startswith(others)
    assert (tmp_path / "overrides.jsonl").read_bytes().count(b"\n") == 5
    review.judge([5], DUPLICATE)
    review.undo()
    assert (tmp_path / "overrides.jsonl").read_bytes().startswith(others)


def test_what_the_input_was_is_held_in_the_log_for_when_it_is_gone(open_review, tmp_path):
    open_review().judge([3], KEEP)

    def gone(row):
        raise la.errors.InputDataError("a.jsonl: cannot be read")

    review = open_review(gone)
    with pytest.raises(la.errors.InputDataError, match="cannot be read"):
        review.judge([4], KEEP)
    assert sorted(review.judged) == [3], "nothing of it was written"
    review.judge([4], DUPLICATE)
    review.judge([3], DUPLICATE)
    review.undo()
    assert overrides(tmp_path) == [{"id": "id3", "action": "keep", "input": "a.jsonl", "sha256": "ab"}]


def test_a_second_process_can_look_and_cannot_judge(open_review, tmp_path):
    review = open_review()
    review.judge([3], KEEP)
    other = Review(tmp_path, removed, lambda row: {"input": "a", "sha256": None})
    assert other.judged == {3: KEEP}
    with pytest.raises(la.errors.OutputError, match="another process reviews"):
        other.judge([4], KEEP)
    review.judge([5], UNSURE)
    review.close()
    other.judge([4], KEEP)
    assert sorted(other.judged) == [3, 4, 5], "what was added meanwhile is read"
    other.close()


@pytest.mark.parametrize(
    "line, said",
    [
        (b"nonsense", "line 2: damaged"),
        (b'{"row": 1}', "line 2: damaged"),
        (b'{"row": Infinity, "judgement": null, "note": ""}', "line 2: damaged"),
        (b'{"row":1,"id":"id1","duplicate_of":"id1001","judgement":"maybe","note":""}', "line 2: damaged"),
        (b'{"row":1,"id":"id1","duplicate_of":"id1001","judgement":"keep","note":""}', "line 2: damaged"),
        (b'{"row":1,"id":"id2","duplicate_of":"id1001","judgement":"unsure","note":""}', "another result"),
        (b'{"row":500,"id":"id2","duplicate_of":"id1001","judgement":"unsure","note":""}', "another result"),
    ],
)
def test_a_log_that_is_damaged_or_foreign_is_refused(open_review, tmp_path, line, said):
    open_review().judge([3], DUPLICATE)
    with open(tmp_path / "review.jsonl", "ab") as log:
        log.write(line + b"\n")
    with pytest.raises(la.errors.InputDataError, match=said):
        open_review()


def test_a_folder_that_cannot_be_written_is_an_error_and_nothing_counts(open_review, tmp_path):
    review = open_review()
    (tmp_path / "review.jsonl").mkdir()
    with pytest.raises(la.errors.OutputError, match="cannot be written"):
        review.judge([3], KEEP)
    assert review.judged == {}


def test_a_log_that_cannot_grow_is_cut_back(open_review, tmp_path, monkeypatch):
    review = open_review()
    review.judge([3], KEEP)
    before = (tmp_path / "review.jsonl").read_bytes()

    def fail(file):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("lookalike.serve.desk_review.os.fsync", fail)
    with pytest.raises(la.errors.OutputError, match="No space left"):
        review.judge([4], KEEP)
    monkeypatch.undo()
    assert (tmp_path / "review.jsonl").read_bytes() == before and sorted(review.judged) == [3]


def test_overrides_that_could_not_be_written_follow_with_the_next_try(open_review, tmp_path):
    review = open_review()
    (tmp_path / "overrides.jsonl").mkdir()
    for _ in range(2):  # the second time nothing is new, and it is still not on the disk
        with pytest.raises(la.errors.OutputError):
            review.judge([3], KEEP)
    (tmp_path / "overrides.jsonl").rmdir()
    review.judge([3], KEEP)
    assert kept(tmp_path) == ["id3"] and len((tmp_path / "review.jsonl").read_text().splitlines()) == 1


def test_judgements_are_checked():
    for wrong in [("yes",), ([],), ("keep", "x" * 2001), ("keep", 5)]:
        with pytest.raises(la.errors.ParameterError):
            Judgement(*wrong)


def test_what_was_not_removed_cannot_be_judged(open_review, tmp_path):
    with pytest.raises(la.errors.ParameterError):
        open_review().judge([100], KEEP)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["review.jsonl", "overrides.jsonl"])
def test_links_and_pipes_of_a_strangers_folder_are_not_followed(tmp_path, name):
    """A link would have a file of whoever reviews cut off, or copied into the folder."""
    mine = tmp_path / "mine.txt"
    mine.write_text("no line of ours")
    path = tmp_path / name

    def made():
        review = Review(tmp_path, removed, lambda row: {"input": "a.jsonl", "sha256": "ab"})
        try:
            review.judge([3], KEEP)
        finally:
            review.close()

    for make in (lambda: path.symlink_to(mine), lambda: path.symlink_to("nowhere"), lambda: os.mkfifo(path)):
        make()
        with pytest.raises((la.errors.InputDataError, la.errors.OutputError), match="in the place of a file"):
            made()
        assert mine.read_text() == "no line of ours" and not (tmp_path / "nowhere").exists()
        for file in ("review.jsonl", "overrides.jsonl"):
            (tmp_path / file).unlink(missing_ok=True)
