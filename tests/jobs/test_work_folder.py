"""The folder of a job: what is in it, to whom it belongs, and what is refused."""

import gc
from pathlib import Path

import numpy as np
import pytest

import semblance as sb
from semblance.files.container import ArrayFile


def turned(data, bit):
    out = bytearray(data)
    out[bit // 8] ^= 1 << bit % 8
    return bytes(out)


def test_other_parameters_or_inputs_are_refused(inputs, tmp_path):
    work = tmp_path / "work"
    sb.dedup(inputs, work=work)
    with pytest.raises(sb.ParameterError, match="holds an unfinished job; pass --resume"):
        sb.dedup(inputs, work=work)
    with pytest.raises(sb.ParameterError, match=r"parameters.threshold was 0.8, is 0.9"):
        sb.dedup(inputs, work=work, resume=True, threshold=0.9)
    with pytest.raises(sb.ParameterError, match="inputs was"):
        sb.dedup(inputs[:1], work=work, resume=True)
    assert sb.dedup(inputs, work=work, resume=True).keep.tolist() == sb.dedup(inputs).keep.tolist()


def test_a_result_that_is_dropped_leaves_its_folder_to_others(inputs, tmp_path):
    """Without waiting for the collector of cycles: all that holds the lock goes with the result."""
    gc.disable()
    try:
        kept = sb.dedup(inputs, work=tmp_path / "work").keep.tolist()
        assert sb.dedup(inputs, work=tmp_path / "work", resume=True).keep.tolist() == kept
    finally:
        gc.enable()


def test_a_changed_input_is_refused(inputs, tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_bytes(Path(inputs[0]).read_bytes())
    sb.dedup(path, work=tmp_path / "work")
    with path.open("a") as stream:
        stream.write('{"text": "one more", "id": "more", "score": 1}\n')
    with pytest.raises(sb.ParameterError, match=r"inputs\[0\]"):
        sb.dedup(path, work=tmp_path / "work", resume=True)


def test_a_folder_of_other_things_is_left_alone(inputs, tmp_path):
    (tmp_path / "letters.txt").write_text("dear")
    for resume in (False, True):
        with pytest.raises(sb.ParameterError, match="do not belong to a job"):
            sb.dedup(inputs, work=tmp_path, resume=resume)
    assert (tmp_path / "letters.txt").read_text() == "dear"


def test_what_others_put_there_stays(inputs, tmp_path):
    work = tmp_path / "work"
    result = sb.dedup(inputs, work=work)
    (work / "notes.txt").write_text("mine")
    (work / "mine.tmp").write_text("mine")
    result.close()
    assert sorted(p.name for p in work.iterdir()) == ["mine.tmp", "notes.txt"]


def test_values_in_memory_cannot_be_resumed(tmp_path):
    with pytest.raises(sb.ParameterError, match="files, not values in memory"):
        sb.dedup(["a", "b"], work=tmp_path / "w")
    with pytest.raises(sb.ParameterError, match="resume needs work"):
        sb.Settings(resume=True)


def test_damage_is_found(inputs, small_parts, tmp_path):
    """Every part cut short or with one bit turned."""
    work = tmp_path / "work"
    sb.dedup(inputs, work=work, id="id")
    rng = np.random.default_rng(3)
    for path in sorted(work.glob("*.part")):
        whole = path.read_bytes()
        for damaged in (whole[: int(rng.integers(0, len(whole)))], turned(whole, int(rng.integers(0, 8 * len(whole))))):
            path.write_bytes(damaged)
            with pytest.raises(sb.IndexFormatError, match=path.name):
                ArrayFile(path).check()
        path.write_bytes(whole)


def test_a_damaged_part_stops_a_resumed_job(inputs, small_parts, tmp_path):
    work = tmp_path / "work"
    sb.dedup(inputs, work=work)
    path = work / "sketches-000001.part"
    data = path.read_bytes()
    path.write_bytes(turned(data, 8 * len(data) - 9000))
    for part in [part for part in work.glob("*.part") if not part.name.startswith("sketches")]:
        part.unlink()
    with pytest.raises(sb.IndexFormatError, match="sketches-000001"):
        sb.dedup(inputs, work=work, resume=True)


def test_two_processes_in_one_folder(inputs, tmp_path):
    first = sb.dedup(inputs, work=tmp_path / "work")
    with pytest.raises(sb.OutputError, match="another process is using this folder"):
        sb.dedup(inputs, work=tmp_path / "work", resume=True)
    first.close()
