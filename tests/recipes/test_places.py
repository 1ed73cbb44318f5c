"""Jobs from bucket to bucket on one machine, through a store that fails as real ones do: the answer of a disk, or nothing."""

import os
import shutil
import tempfile
from contextlib import closing

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from faulty_store import failing
from json_lines import write_lines
from object_store import environment, held, new_bucket, put_folder
from samples import one_in

import lookalike as la
from lookalike.cli.main import main
from lookalike.errors import InputDataError, OutputError
from lookalike.files import remote, urls
from lookalike.files.disk import SIDECAR
from lookalike.files.urls import as_url

N = 400


def texts():
    """Documents of some 300 words, every fourth nearly that before it."""
    words = [f"{i * 7919 % 9973:x}" for i in range(9000)]
    for i in range(N):
        first = (i - i % 4 // 3) * 300 % 8000
        yield " ".join([*words[first : first + 299], f"number{i}"])


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Files on a disk, and the name of a bucket with the same."""
    local = tmp_path_factory.mktemp("places") / "in"
    local.mkdir()
    rows = [{"text": text, "id": i} for i, text in enumerate(texts())]
    for number in range(0, N, 50):
        some, name = rows[number : number + 50], f"{number // 50}"
        if number % 100:
            pq.write_table(pa.Table.from_pylist(some), local / f"{name}.parquet", row_group_size=20)
        else:
            write_lines(local / f"{name}.jsonl", some)
    with environment():
        yield local, str(put_folder(local, new_bucket() / "in").parent)


def decided(source, output):
    """The decisions of a job, and what it writes."""
    with closing(la.dedup(str(source), id="id", seed=1)) as result:
        result.write(str(output), force=True)
        return result.decisions.select(["reason", "resemblance", "keeper"]).to_pylist()


def files_in(folder):
    """Bytes of what a job wrote: of Parquet the rows, as its metadata name the inputs."""
    found = held(folder) if not hasattr(folder, "iterdir") else {path.name: path.read_bytes() for path in folder.iterdir()}
    return {
        name: pq.read_table(pa.BufferReader(data)).to_pylist() if name.endswith(".parquet") else data
        for name, data in found.items()
        if name != SIDECAR
    }


@pytest.fixture(scope="module")
def wanted(corpus, tmp_path_factory):
    output = tmp_path_factory.mktemp("wanted") / "clean"
    decisions = decided(corpus[0], output)
    assert {row["reason"] for row in decisions} == {"kept", "near"} and len(files_in(output)) == 8
    return decisions, files_in(output)


@pytest.mark.parametrize(
    "faults",
    one_in(2, [{}, {"every": 25}, {"every": 25, "status": 500}, {"delay": 0.01}, {"cut": 10}]),
    ids=["whole", "503", "500", "slow", "cut"],
)
def test_the_answer_is_that_of_a_disk(corpus, wanted, faults):
    output = as_url(f"{corpus[1]}clean-{'-'.join(map(str, faults))}{faults.get('status', '')}")
    with failing(**faults) as seen:
        assert decided(f"{corpus[1]}in", output) == wanted[0]
    assert seen.failed or not {"every", "cut"} & set(faults)
    with environment():
        assert files_in(as_url(str(output))) == wanted[1]
    writes = [one.split("?")[0] for one in seen.requests if one.startswith("PUT") and not one.endswith("/")]
    assert writes[-1].endswith(f"/{SIDECAR}")


def test_what_fails_for_good_publishes_nothing(corpus):
    """The store refuses one of the files: the error names it, and the folder does not count as written."""
    output = f"{corpus[1]}refused"
    with failing(every=1, only="/refused/6.jsonl") as seen, pytest.raises(OutputError) as told:
        decided(f"{corpus[1]}in", output)
    assert seen.failed >= remote.ATTEMPTS
    assert "refused/6.jsonl: cannot be written" in str(told.value) and "run the job again later" in str(told.value)
    with environment():
        assert SIDECAR not in held(as_url(output)) and "6.jsonl" not in held(as_url(output))
        decided(f"{corpus[1]}in", output)
        assert len(held(as_url(output))) == 9


@pytest.mark.parametrize("name", ["1.parquet", "2.jsonl"])
def test_an_object_that_changes_between_passes_is_named(bucket, corpus, name):
    put_folder(corpus[0], bucket / "in")
    with closing(la.dedup(str(bucket / "in"), id="id")) as result:
        (bucket / "in" / name).write_bytes((corpus[0] / name).read_bytes() + b"\n")
        with pytest.raises(InputDataError, match=f"in/{name}: the file changed during the run; run again"):
            result.write(str(bucket / "clean"))
    assert SIDECAR not in held(bucket / "clean")


def test_the_disk_holds_sketches_candidates_and_one_file(bucket, tmp_path, monkeypatch):
    """Between stores, with a small disk for the work folder and for what is uploaded."""
    rows = [{"text": f"{i} " + " ".join(f"{i % 59}x{j}w" for j in range(20_000)), "id": i} for i in range(60)]
    (tmp_path / "in").mkdir()
    for number in range(20):
        write_lines(tmp_path / f"in/{number:02}.jsonl", rows[number * 3 : number * 3 + 3])
    put_folder(tmp_path / "in", bucket / "in")
    shutil.rmtree(tmp_path / "in")
    n_bytes = sum(len(data) for data in held(bucket / "in").values())
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    most, real = [0], urls.Url.upload

    def measured(url, file):
        used = sum(os.stat(os.path.join(folder, name)).st_size for folder, _, names in os.walk(tmp_path) for name in names)
        most[0] = max(most[0], used)
        real(url, file)

    monkeypatch.setattr(urls.Url, "upload", measured)
    with pytest.raises(SystemExit, match="0"):
        main(["dedup", str(bucket / "in"), "--work", str(tmp_path / "job"), "-o", str(bucket / "clean"), "--quiet"])
    assert set(held(bucket / "clean")) == {f"{number:02}.jsonl" for number in range(20)} | {SIDECAR}
    assert 0 < most[0] < n_bytes / 10
