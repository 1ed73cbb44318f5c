import json
import os
import pickle
from functools import partial
from hashlib import blake2b

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli.commands import contents
from job_inputs import A2, A, B
from raising import assert_raises
from same_results import VARIANTS, corpus, same

import lookalike as la
from lookalike.files.descriptions import checksum_of
from lookalike.results import saved as saved_result

refused, closed = (partial(assert_raises, error) for error in (la.errors.InputDataError, la.errors.ParameterError))


OF_GROUPS = {"at_most": 2, "counts": True, "source": "site", "slices": "site"}


@pytest.mark.parametrize("settings", [*VARIANTS, OF_GROUPS], ids=str)
def test_saving_and_pickling_keep_everything(rng, tmp_path, settings):
    result = la.dedup(corpus(rng), id="id", threshold=0.6, **settings)
    copied = pickle.loads(pickle.dumps(result))
    result.save(tmp_path / "x=1" / "saved")  # no partition of a data set
    loaded = la.Result.load(str(tmp_path / "x=1" / "saved"))
    loaded.save(tmp_path / "again")
    result.close()
    for other in (copied, loaded, la.Result.load(tmp_path / "again"), pickle.loads(pickle.dumps(loaded))):
        assert other.summary == copied.summary and other.settings == copied.settings
        assert other.provenance == json.loads(json.dumps(copied.provenance)) and other.evidence == "keepers"
        assert same(other, copied)
    assert loaded.keep.tolist() == result.keep.tolist()


def test_only_an_open_job_writes_documents(tmp_path):
    result = la.dedup([A, A2, B])
    result.save(tmp_path / "saved")
    for other in (la.Result.load(tmp_path / "saved"), pickle.loads(pickle.dumps(result))):
        closed("loaded or unpickled", other.write, tmp_path / "out.jsonl")
        closed("does not have the inputs", other.clean)
        other.close()
        assert other.removed.num_rows == 1
    la.dedup([A, A2, B], evidence="all", threshold=0.5).rethreshold(0.99).write(tmp_path / "out.jsonl")
    assert (tmp_path / "out.jsonl").read_text().count("\n") == 3
    result.close()
    for ask in (lambda: result.save(tmp_path / "late"), lambda: pickle.dumps(result), lambda: result.decisions,
                lambda: result.groups, lambda: result.kept):  # fmt: skip
        closed("this result is closed", ask)
    assert not (tmp_path / "late").exists()


def test_a_tokenizer_is_named_and_not_kept(tmp_path):
    la.dedup([A, B], tokenizer=str.split, work=None).save(tmp_path / "saved")
    loaded = la.Result.load(tmp_path / "saved")
    assert loaded.settings.tokenizer is None and loaded.provenance["parameters"]["shingling"]["unit"] == "tokenizer split"


def test_a_saved_result_says_what_made_it(saved):
    result, folder = saved
    tables = ["decisions.parquet", "inputs.parquet", "pairs.parquet"]
    assert sorted(os.listdir(folder)) == ["_lookalike.json", *tables, "result.json"]
    said = json.loads((folder / "result.json").read_text())
    assert said["summary"]["kept"] == result.summary.kept and said["provenance"] == result.provenance
    assert said["lookalike"] == la.__version__ and said["settings"]["threshold"] == 0.7


def test_a_save_that_fails_leaves_what_was_there(saved, monkeypatch):
    result, folder = saved
    before = contents(folder)
    monkeypatch.setattr(saved_result, "encoded", lambda said, own: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        result.save(folder, force=True)
    assert contents(folder) == before
    assert [path.name for path in folder.parent.iterdir() if "saved" in path.name] == ["saved"]


def described(folder, **changes):
    said = json.loads((folder / "result.json").read_text())
    said.pop("checksum")
    for name, to in changes.items():
        said[name] = said[name] | to if isinstance(to, dict) and to else to
    (folder / "result.json").write_text(json.dumps({"checksum": checksum_of(said)} | said))


STRANGE = [
    {"files": {}}, {"files": None}, {"settings": {"threshold": 5}}, {"summary": {}}, {"summary": {"least_alike": None}},
    {"settings": []}, {"against": 1}, {"evidence": "all"}, {"summary": {"kept": 2}}, {"summary": {"documents": 10**9}},
    {"summary": {"recall_vouched": float("nan")}}, {"summary": {"audit": {"recall": 1.0}}}, {"summary": {"skipped": {}}},
    {"summary": {"seconds": {"x": "y"}}}, {"summary": {"least_alike": []}},
    {"settings": {"seed": "random"}}, {"settings": {"evidence": "all"}}, {"settings": {"overrides": "/etc/passwd"}},
    {"settings": {"method": "x"}},
    {"provenance": {"inputs": []}}, {"provenance": {"inputs": [{"bytes": 1}]}}, {"provenance": {"inputs": [{"name": 5}]}},
]  # fmt: skip


def test_a_description_that_is_newer_strange_or_contradicts_the_tables_is_refused(saved):
    _, folder = saved
    good = (folder / "result.json").read_bytes()
    newer = [({"format": 2}, "cannot read: upgrade"), ({"settings": {"no": 1}}, "does not have: no$")]
    for change, said in [*newer, *((change, "damaged") for change in STRANGE)]:
        (folder / "result.json").write_bytes(good)
        described(folder, **change)
        refused(said, la.Result.load, folder)


def column(name, value):
    def change(table):
        at, field = table.schema.get_field_index(name), table.schema.field(name)
        values = value(table[name].to_pylist()) if callable(value) else [value] * len(table)
        return table.set_column(at, field, pa.array(values, field.type))

    return change


def not_utf8(table):
    n = len(table)
    ends = pa.py_buffer(np.arange(n + 1, dtype=np.int32))
    made = pa.Array.from_buffers(pa.string(), n, [None, ends, pa.py_buffer(b"\xff" * n)])
    return table.set_column(table.schema.get_field_index("reason"), "reason", made)


CRAFTED = {
    "decisions": [
        *(column(name, None) for name in ("order", "reason", "keeper", "resemblance", "id")),
        column("order", lambda old: [old[0], *old[:-1]]),  # one twice
        column("order", lambda old: [99, *old[1:]]),
        column("position", lambda old: old[::-1]),
        column("position", lambda old: [*old[:-1], old[-1] + (1 << 50)]),  # of no input
        column("kept", True),
        column("reason", "zz"),
        column("keeper", lambda old: [len(old) - 1] * len(old)),  # which is removed
        column("resemblance", lambda old: [v and float("nan") for v in old]),
        column("n_duplicates", 0),
        lambda table: table[1:],
        lambda table: table[:0],
        lambda table: table.drop_columns(["bytes"]),
        lambda table: table.append_column("bytes", table["bytes"]),
        lambda table: table.set_column(0, "order", table["order"].cast(pa.int32())),
        lambda table: table.set_column(0, "order", pa.array(["zz"] * len(table))),
        not_utf8,
    ],
    "pairs": [
        lambda table: table.set_column(0, "left", table["right"]),
        lambda table: table.drop_columns(["left_id"]),
        column("right", 77),
    ],
    "inputs": [lambda table: table[:1], lambda table: table[::-1], column("format", "saved sketches"), column("name", None)],
}


@pytest.mark.parametrize("name", CRAFTED)
def test_tables_that_no_job_makes_are_refused_though_checksums_fit(saved, name):
    _, folder = saved
    path = folder / f"{name}.parquet"
    good = pq.read_table(path)
    for change in CRAFTED[name]:
        pq.write_table(change(good), path)
        files = json.loads((folder / "result.json").read_text())["files"]
        files[path.name]["blake2b"] = blake2b(path.read_bytes()).hexdigest()
        described(folder, files=files)
        for held in (True, False):
            refused(rf"{name}\.parquet: damaged: ", saved_result.load_result, folder, held)


FILES = ["result.json", "decisions.parquet", "inputs.parquet", "pairs.parquet"]


@pytest.mark.parametrize("name", FILES[:3])
def test_pipes_and_devices_in_a_folder_are_not_read(saved, name):
    _, folder = saved
    for make in (os.mkfifo, lambda path: path.symlink_to("/dev/zero")):
        (folder / name).unlink()
        make(folder / name)
        refused("not a file", la.Result.load, folder)


@pytest.mark.parametrize("name", FILES)
def test_every_damage_is_found(saved, rng, name):
    result, folder = saved
    good = (folder / name).read_bytes()
    for _ in range(15):
        bad = bytearray(good)
        bad[rng.integers(len(bad))] ^= 1 << int(rng.integers(8))
        (folder / name).write_bytes(bad)
        try:
            loaded = la.Result.load(folder)
        except la.errors.InputDataError as error:
            assert str(folder) in str(error)
        else:
            assert name == "result.json" and same(loaded, result), "one kind of space in JSON became another"
    for bad in (b"", good[: len(good) // 2], good + b"\0"):
        (folder / name).write_bytes(bad)
        refused(None, la.Result.load, folder)
    (folder / name).unlink()
    refused(None, la.Result.load, folder)
