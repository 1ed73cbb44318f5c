import gc
import shutil

import pytest
from json_lines import write_lines

import lookalike as la
from lookalike.engines.local import tables as local_tables
from lookalike.errors import IndexFormatError, OutputError, ParameterError


def test_inputs_that_cannot_be_read_again_are_refused(tmp_path):
    """tests/jobs/guards.job has other inputs and parameters than those of the folder."""
    for data in (["text of words"], iter(["some text"])):
        with pytest.raises(ParameterError, match="a work folder is for inputs that can be read again"):
            la.dedup(data, work=tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_a_result_that_is_dropped_leaves_its_folder_to_others(inputs, tmp_path):
    """Without waiting for the collector of cycles: all that holds the lock goes with the result."""
    gc.disable()
    try:
        kept = la.dedup(inputs, work=tmp_path / "work").keep.tolist()
        assert la.dedup(inputs, work=tmp_path / "work").keep.tolist() == kept
    finally:
        gc.enable()


def test_a_damaged_part_stops_a_resumed_job(inputs, small_parts, tmp_path):
    work = tmp_path / "work"
    la.dedup(inputs, work=work)
    path = work / "sketches-000001.part"
    data = bytearray(path.read_bytes())
    data[-1125] ^= 1
    path.write_bytes(data)
    for part in [part for part in work.glob("*.part") if not part.name.startswith("sketches")]:
        part.unlink()
    with pytest.raises(IndexFormatError, match="sketches-000001"):
        la.dedup(inputs, work=work)


def test_two_processes_in_one_folder(inputs, tmp_path):
    first = la.dedup(inputs, work=tmp_path / "work")
    with pytest.raises(OutputError, match="another process is using this folder"):
        la.dedup(inputs, work=tmp_path / "work")
    first.close()


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """The work folder as a crash before the end leaves it."""
    folder = tmp_path_factory.mktemp("stopped")
    texts = [" ".join(f"w{17 * i * i % 9973 + j}" for j in range(40)) for i in range(400)]
    write_lines(folder / "in.jsonl", [*texts, *(f"{text} more" for text in texts), texts[0]])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_tables, "PART_BYTES", 2000)
        result = la.dedup(folder / "in.jsonl", work=folder / "work")
        shutil.copytree(folder / "work", folder / "left")
        kept = result.keep.tolist()
        result.close()
    return folder / "in.jsonl", folder / "left", kept


@pytest.mark.parametrize("table", ["sketches", "leaders", "links", "pairs", "matches", "standing"])
def test_a_missing_part_stops_a_resumed_job_and_a_whole_folder_does_not(stopped, tmp_path, table):
    data, left, kept = stopped
    parts = sorted(left.glob(f"{table}-0*.part"))
    assert parts, "this table is not stored"
    for part in {parts[0], parts[-1]}:
        work = tmp_path / part.name
        shutil.copytree(left, work)
        (work / part.name).unlink()
        with pytest.raises(IndexFormatError, match="parts of the job are missing; empty the folder and start again"):
            la.dedup(data, work=work)
        shutil.copy2(left / part.name, work)
        assert la.dedup(data, work=work).keep.tolist() == kept
