"""A work folder that lacks a part of a complete table is refused, whatever table it is."""

import json
import shutil

import pytest

import lookalike as la
from lookalike.engines.local import tables as local_tables

COMPLETE = ["sketches", "leaders", "links", "pairs", "matches", "standing"]


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """The input of a job, and its work folder as a crash before the end leaves it."""
    folder = tmp_path_factory.mktemp("stopped")
    texts = [" ".join(f"w{17 * i * i % 9973 + j}" for j in range(40)) for i in range(400)]
    rows = [json.dumps({"text": text}) for text in [*texts, *(f"{text} more" for text in texts), texts[0]]]
    (folder / "in.jsonl").write_text("\n".join(rows) + "\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_tables, "PART_BYTES", 2000)
        result = la.dedup(folder / "in.jsonl", work=folder / "work")
        shutil.copytree(folder / "work", folder / "left")
        kept = result.keep.tolist()
        result.close()
    return folder / "in.jsonl", folder / "left", kept


def test_a_whole_work_folder_is_resumed(stopped, tmp_path):
    data, left, kept = stopped
    shutil.copytree(left, tmp_path / "work")
    assert la.dedup(data, work=tmp_path / "work", resume=True).keep.tolist() == kept


@pytest.mark.parametrize("table", COMPLETE)
def test_a_missing_part_stops_a_resumed_job(stopped, tmp_path, table):
    data, left, _ = stopped
    parts = sorted(left.glob(f"{table}-0*.part"))
    assert parts, "this table is not stored"
    for part in {parts[0], parts[-1]}:
        work = tmp_path / part.name
        shutil.copytree(left, work)
        (work / part.name).unlink()
        with pytest.raises(la.IndexFormatError, match="parts of the job are missing; empty the folder and start again"):
            la.dedup(data, work=work, resume=True)
