import shutil
import tempfile
from types import SimpleNamespace

import pytest

import lookalike as la
from lookalike.engines import memory as memory_module
from lookalike.engines.memory import Memory
from lookalike.errors import OutputError, ParameterError
from lookalike.recipes import preparation
from lookalike.recipes.preparation import open_job

NAMES = ["sketches", "leaders", "links", "pairs", "matches", "matches-at-0.9", "matches-slice-3-9", "verified", "states-1", "standing",
         "tallies", "reading candidates again"]  # fmt: skip


@pytest.fixture
def files(tmp_path):
    for name in ("a", "b", "ref"):
        (tmp_path / f"{name}.jsonl").write_text('{"text": "one two three", "id": "x", "n": 1}\n')
    return [str(tmp_path / f"{name}.jsonl") for name in ("a", "b")], str(tmp_path / "ref.jsonl")


@pytest.mark.parametrize("engine", [None, "local"])
def test_progress_is_told_by_the_names_that_people_know(files, engine):
    seen = []
    opened = open_job(files[0], la.Settings(engine=engine), lambda *told: seen.append(told))
    for number, name in enumerate(NAMES):
        opened.engine.progress(name, number)
    said = ["sketching", *["finding candidates"] * 3, *["verifying"] * 3, *["deciding"] * 4, "reading candidates again"]
    assert seen == [(name, number) for number, name in enumerate(said)]
    with pytest.raises(ParameterError, match="engine"):
        open_job(files[0], la.Settings(engine="none such"), None)


@pytest.fixture
def disk(monkeypatch):
    made = SimpleNamespace(free=0, asked=[])
    monkeypatch.setattr(shutil, "disk_usage", lambda path: made.asked.append(path) or made)
    return made


def check(found, memory=None, **settings):
    preparation._check_room(found, la.Settings(**settings), memory or Memory(1 << 30))


def splits(n, rows, size, known=True):
    form = SimpleNamespace(counts_rows=known)
    return [SimpleNamespace(expected=lambda text: (rows, size), form=form, remote_bytes=0)] * n


RECORD = 384  # 16 keys of 8 bytes, 96 codes of 2, and 64 besides


def test_a_disk_is_too_small_below_what_is_surely_needed(tmp_path, disk):
    for n in (1, 63, 64):
        disk.free = n * 50 * RECORD
        check(splits(n, 50, 900), work=tmp_path / "deep/er")
        assert {*disk.asked} == {tmp_path}, "the folder that is there"
        disk.free -= 1
        with pytest.raises(OutputError, match=rf"the disk is too small: about {n * 50:,} documents"):
            check(splits(n, 50, 900), work=tmp_path / "deep/er")


def test_what_fits_the_memory_needs_no_disk(disk):
    text = Memory(1 << 30).table_budget - 10 * RECORD
    check(splits(1, 10, text))
    check([])
    assert not disk.asked
    with pytest.raises(OutputError, match="pass work="):
        check(splits(1, 10, text + 1))
    assert [str(path) for path in disk.asked] == [tempfile.gettempdir()]


def test_a_job_that_goes_on_has_the_room_of_its_own_parts(tmp_path, disk):
    (tmp_path / "x.part").write_bytes(bytes(300))
    (tmp_path / "y.other").write_bytes(bytes(9000))
    disk.free = RECORD - 300
    check(splits(1, 1, 5), work=tmp_path)
    (tmp_path / "x.part").write_bytes(bytes(299))
    with pytest.raises(OutputError, match="too small"):
        check(splits(1, 1, 5), work=tmp_path)


LITTLE = Memory(memory_module.FLOOR + memory_module.LEAST_ROOM + memory_module.BYTES_PER_DOCUMENT * 1000)


def test_too_many_documents_are_refused_at_once(disk):
    disk.free = 1 << 60
    check(splits(1, 1000, 1 << 40), LITTLE)
    with pytest.raises(ParameterError, match="1,001 documents need"):
        check(splits(1, 1001, 1 << 40), LITTLE)


def test_an_estimate_ends_no_job(tmp_path, disk, caplog):
    """Judged by the beginning of a file, or by some of very many files."""
    for n, known in ((1, False), (65, True)):
        with caplog.at_level("INFO", "lookalike"):
            check(splits(n, 5000, 1 << 40, known), LITTLE, work=tmp_path)
        assert (
            f"about {n * 5000:,} documents" in caplog.text and "if this estimate is right, the disk is too small" in caplog.text
        )


def test_how_large_documents_may_be(files):
    inputs, reference = files
    for settings, most, skip in (
        ({"memory": "1GB"}, 100_000_000, False),
        ({"memory": "1GB", "max_document": "30MB"}, 30_000_000, False),
        ({"max_document": "2KB", "on_error": "skip"}, 2000, True),
    ):
        opened = open_job(inputs, la.Settings(against=reference, **settings), None)
        assert {(split.limit.most, split.limit.skip) for split in opened.splits} == {(most, skip)}
        assert opened.reading.skip is skip and ("skipped" in opened.reading.schema.names) is skip
        said = opened.settings.to_dict()
        assert ("max_document" in said) is ("on_error" in said) is skip
    opened = open_job(inputs, la.Settings(on_error="skip"), None)
    assert not any(split.limit.skip for split in opened.splits), "a limit that depends on the memory leaves nothing out"
    with pytest.raises(ParameterError, match="max_document must be a number of bytes"):
        la.dedup(inputs, max_document=True)
