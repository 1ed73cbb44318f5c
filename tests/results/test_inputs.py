import json
import os
import pickle
from functools import partial

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from job_inputs import A2, B2, A, B
from raising import assert_raises
from row_files import lines, write
from same_results import same

import lookalike as la
from lookalike.files.descriptions import checksum_of
from lookalike.results.inputs import INPUTS

BASE = " ".join(f"word{i}" for i in range(40))
TEXTS = [BASE, f"{BASE} more", "else", "", "größer 文書"]
UNSAVED = "you did not save it"
refused = partial(assert_raises, la.errors.InputDataError)


def texts_of(folder, places=range(5)):
    return {place: text.decode() for place, text in la.Result.open(folder).texts(list(places)).items()}


def as_files(tmp_path, kind="jsonl"):
    path = tmp_path / ("notes" if kind == "txt" else f"in.{kind}")
    if kind == "txt":
        path.mkdir()
        for i, text in enumerate(TEXTS):
            (path / f"{i}.txt").write_text(text)
    elif kind == "parquet":
        pq.write_table(pa.table({"text": TEXTS, "n": range(5)}), path)
    else:
        write(path, lines([{"text": text} for text in TEXTS]))
    return path


@pytest.mark.parametrize("kind", ["jsonl", "jsonl.gz", "parquet", "txt"])
def test_texts_are_read_again(tmp_path, kind):
    la.dedup(as_files(tmp_path, kind)).save(tmp_path / "job")
    assert texts_of(tmp_path / "job") == dict(enumerate(TEXTS))
    assert texts_of(tmp_path / "job", [4, 1]) == {1: TEXTS[1], 4: TEXTS[4]}
    assert texts_of(tmp_path / "job", []) == {}
    assert la.Result.open(tmp_path / "job").texts([0], most=5) == {0: b"word0"}


def test_places_are_rows_of_decisions_references_first(files, tmp_path):
    old, new = files
    la.dedup(new, against=old, id="id", keep="longest").save(tmp_path / "job")
    texts = la.Result.open(tmp_path / "job").texts(range(8))
    assert [text.decode() for text in texts.values()] == [A, A, B, A2, "", B2, B2, B]
    noted = pq.read_table(tmp_path / "job/inputs.parquet")
    assert noted["reference"].to_pylist() == [True, False, False, False] and noted.schema.equals(INPUTS)


def test_the_inputs_are_found_from_the_root_and_from_here(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    path = as_files(tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    la.dedup("in.jsonl").save("job")
    monkeypatch.chdir(tmp_path)
    assert texts_of("here/job")[2] == "else"
    (tmp_path / "here").rename(tmp_path / "moved")
    monkeypatch.chdir(tmp_path / "moved")
    assert texts_of("job")[2] == "else", "input and result went together"
    monkeypatch.chdir(tmp_path)
    refused(f"looked for {path} and {tmp_path}/in.jsonl: restore it", texts_of, "moved/job")


def test_an_input_that_grew_is_refused_though_its_time_is_that_of_before(tmp_path):
    path = as_files(tmp_path)
    la.dedup(path).save(tmp_path / "job")
    status = path.stat()
    path.write_bytes(path.read_bytes() + b"\n")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    refused(r"in\.jsonl: the file has changed since the result was made", texts_of, tmp_path / "job")


def test_what_was_no_file_cannot_be_read_again(tmp_path, monkeypatch):
    with as_files(tmp_path).open() as stream:
        monkeypatch.setattr("sys.stdin", stream)
        for data, how in ((TEXTS, {}), (pa.table({"text": TEXTS}), {}), ("-", {"format": "jsonl"})):
            la.dedup(data, **how).save(tmp_path / "job", force=True)
            refused("the texts cannot be read again: this input was no file", texts_of, tmp_path / "job")


def test_names_that_are_not_utf8_are_found(tmp_path):
    path = os.fsencode(tmp_path) + b"/\xe9.jsonl"
    os.rename(as_files(tmp_path), path)
    la.dedup(os.fsdecode(path)).save(tmp_path / "job")
    assert texts_of(tmp_path / "job")[2] == "else"


def test_the_inputs_go_with_copies_of_the_result(tmp_path):
    result = la.dedup(as_files(tmp_path), evidence="all")
    result.save(tmp_path / "job")
    la.Result.load(tmp_path / "job").save(tmp_path / "again")
    pickle.loads(pickle.dumps(result)).rethreshold(0.9).save(tmp_path / "third")
    for name in ("again", "third"):
        assert texts_of(tmp_path / name)[2] == "else"
    assert same(la.Result.load(tmp_path / "again"), result)


@pytest.fixture
def strangers(tmp_path, monkeypatch):
    """What somebody else saved: a result, its inputs and sketches."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "theirs"))
    result = la.dedup(as_files(tmp_path, "txt"))
    result.save(tmp_path / "job")
    result.save_sketches(tmp_path / "history")
    la.dedup(as_files(tmp_path), against=tmp_path / "history").save(tmp_path / "week")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "mine"))
    return tmp_path


def trusting(trust, job):
    return la.Result.open(job, trust=trust).texts([2])


def test_texts_of_a_strangers_result_are_read_only_where_the_user_says(strangers, monkeypatch):
    job = la.Result.open(strangers / "job")
    assert job.removed.num_rows == 1, "its tables can be looked at"
    for ask in (job.texts, job.inputs.places):
        refused(rf"job: you did not save it.*\({strangers}/notes/0\.txt\).*trust=", ask, [0] if ask == job.texts else 0)
    (strangers / "link").symlink_to(strangers / "notes")
    for trust in (strangers / "notes", str(strangers), [strangers / "other", strangers / "link"]):
        assert trusting(trust, strangers / "job") == {2: b"else"}
    monkeypatch.chdir(strangers)
    assert trusting("notes", "job") == {2: b"else"}
    refused(UNSAVED, trusting, "notes/1.txt", "job")


def test_a_link_beside_a_strangers_result_leads_nowhere(strangers):
    (strangers / "notes/2.txt").rename(strangers / "secret")
    (strangers / "notes/2.txt").symlink_to(strangers / "secret")
    refused(UNSAVED, trusting, strangers / "notes", strangers / "job")
    assert trusting(strangers, strangers / "job") == {2: b"else"}


def test_a_strangers_result_stays_one_when_it_is_saved_again(strangers):
    loaded = la.Result.load(strangers / "job")
    for one in (loaded, pickle.loads(pickle.dumps(loaded))):
        one.save(strangers / "again", force=True)
        refused(UNSAVED, texts_of, strangers / "again")


def test_a_page_of_a_strangers_result_says_why_there_are_no_texts(strangers):
    page = strangers / "page.html"
    la.Result.load(strangers / "job").report(page)
    assert "you did not save it on this machine" in page.read_text() and "word3" not in page.read_text()
    la.Result.load(strangers / "job", trust=strangers).report(page, force=True)
    assert "word3" in page.read_text()


def test_texts_of_references_need_trust_in_their_sketches_too(strangers):
    week = la.Result.open(strangers / "week", trust=strangers)
    assert len(week.texts(range(week.decisions.num_rows))) == week.decisions.num_rows
    for trust in (strangers / "history", [strangers / "notes", strangers / "in.jsonl"]):
        refused(UNSAVED, trusting, trust, strangers / "week")


def test_ones_own_result_rests_on_the_sketches_that_it_was_made_with(strangers):
    """Whoever trusted them for a job need not say it again; what they name only later is not read.

    Size and time of the description, which whoever owns it can keep, do not say that it is the same.
    """
    la.dedup(strangers / "in.jsonl", against=strangers / "history", trust=strangers / "notes").save(strangers / "own")
    assert texts_of(strangers / "own", [0])[0] == BASE
    path, secret = strangers / "history/sketches.json", strangers / "s"
    secret.write_text("x" * len(BASE))
    before, said, found = path.stat(), json.loads(path.read_bytes()), secret.stat()
    said["inputs"][0]["files"][0] |= {"path": str(secret), "bytes": found.st_size, "modified_ns": found.st_mtime_ns}
    said.pop("checksum")
    data = json.dumps({"checksum": checksum_of(said), **said}, indent=1).encode()
    path.write_bytes(data.ljust(before.st_size))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size
    refused(r"history/sketches\.json: these are not the sketches that", texts_of, strangers / "own", [0])
