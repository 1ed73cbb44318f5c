"""A job that is killed goes on where it was and ends with the same bytes; memory decides how, never what."""

import gc
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from corpora import planted

import semblance as sb
from semblance.engines import local, local_keeping
from semblance.engines import memory as memory_module
from semblance.files.container import ArrayFile

FIXED = {"id": "id", "threads": 1, "annotate": True, "keep": "largest:score"}


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs")
    rng = np.random.default_rng(11)
    texts = planted(rng, n_families=120)
    texts += texts[:40] + [""] + ["the same words in every page " * 6 + f"and page number {i % 300}" for i in range(400)]
    files = []
    for i, some in enumerate((texts[: len(texts) // 3], texts[len(texts) // 3 :])):
        files.append(folder / f"{i}.jsonl")
        rows = [json.dumps({"id": f"{i}-{j}", "text": text, "score": j % 7}) for j, text in enumerate(some)]
        files[-1].write_text("\n".join(rows) + "\n")
    return [str(file) for file in files]


@pytest.fixture(scope="module")
def runner():
    command = [sys.executable, "-W", "ignore", str(Path(__file__).with_name("interrupted.py"))]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(inputs, output, kill=None, **settings):
        job = {"inputs": inputs, "output": str(output), "kill": kill, "settings": settings}
        process.stdin.write(json.dumps(job) + "\n")
        process.stdin.flush()
        return int(process.stdout.readline())

    yield run
    process.stdin.close()
    process.wait()
    process.stdout.close()


@pytest.fixture(scope="module")
def expected(inputs, tmp_path_factory):
    path = tmp_path_factory.mktemp("expected") / "out.jsonl"
    result = sb.dedup(inputs, **FIXED)
    assert result.summary.near_duplicates > 100 and result.summary.exact_duplicates >= 30
    result.write(path, annotate=True)
    return path.read_bytes()


def check_clean(output, work, expected):
    assert output.read_bytes() == expected
    assert sorted(p.name for p in output.parent.iterdir()) == ["out.jsonl", "out.jsonl_semblance.json"]
    assert not work.exists() or not list(work.iterdir())


def kill_and_resume(runner, inputs, expected, folder, kill):
    folder.mkdir()
    output, work = folder / "out" / "out.jsonl", folder / "work"
    output.parent.mkdir()
    code = runner(inputs, output, kill, work=str(work), **FIXED)
    assert code in (-9, 0)
    if code:
        assert not output.exists() or output.read_bytes() == expected
        assert runner(inputs, output, None, work=str(work), resume=True, **FIXED) == 0
    check_clean(output, work, expected)
    return code


def test_killed_at_every_part(runner, inputs, expected, tmp_path):
    """Before and after each part is written, until there is no part more."""
    number, codes = 0, [-9]
    while codes[-1] == -9:
        number += 1
        codes.append(kill_and_resume(runner, inputs, expected, tmp_path / f"a{number}", ["put", number, "before"]))
        if number % 2 or number < 6:
            kill_and_resume(runner, inputs, expected, tmp_path / f"b{number}", ["put", number, "after"])
    assert number > 25, "all stages leave parts"


def moments(runner, inputs, expected, folder, n):
    rng = np.random.default_rng(5)
    killed = sum(
        kill_and_resume(runner, inputs, expected, folder / str(i), ["seconds", float(rng.uniform(0, 0.35))]) == -9
        for i in range(n)
    )
    assert killed > n // 3


def test_killed_at_random_moments(runner, inputs, expected, tmp_path):
    moments(runner, inputs, expected, tmp_path, 20)


@pytest.mark.slow
def test_killed_at_many_random_moments(runner, inputs, expected, tmp_path):
    moments(runner, inputs, expected, tmp_path, 300)


def test_killed_again_and_again(runner, inputs, expected, tmp_path):
    """Each run gets a few parts further."""
    output, work = tmp_path / "out" / "out.jsonl", tmp_path / "work"
    output.parent.mkdir()
    runs = 1
    while runner(inputs, output, ["put", 5, "after"], work=str(work), resume=True, **FIXED) != 0:
        runs += 1
    assert 4 < runs < 100
    check_clean(output, work, expected)


@pytest.fixture
def small_parts(monkeypatch):
    """Makes every limit small, so that a small corpus takes all ways of a large one."""
    monkeypatch.setattr(local_keeping, "PART_BYTES", 30_000)
    monkeypatch.setattr(local, "SPILL_BYTES", 15_000)
    monkeypatch.setattr(memory_module.Memory, "partition", lambda self, threads: 20_000)
    monkeypatch.setattr(memory_module.Memory, "slice", lambda self, threads: 5_000)


def same(a, b):
    assert a.keep.tolist() == b.keep.tolist()
    for name in ("removed", "pairs", "annotations"):
        assert getattr(a, name).equals(getattr(b, name)), name
    for name in ("candidate_pairs", "verified_pairs", "crowded", "exact_duplicates", "empty", "recall_vouched"):
        assert getattr(a.summary, name) == getattr(b.summary, name), name


@pytest.mark.parametrize(
    "settings",
    [{}, {"against": True}, {"verify": "sketch", "against": True}, {"method": "simhash", "radius": 6, "threshold": 0.7}, {"keep": "longest", "against": True}, {"empty": "drop"},
     {"method": "simhash", "verify": "sketch"}, {"within": "score"}, {"threads": 2}, {"id": "id", "keep": "last"},
     {"max_bucket": 5}, {"max_bucket": 2, "verify": "sketch"}],
)  # fmt: skip
def test_memory_decides_how_and_never_what(inputs, small_parts, monkeypatch, tmp_path, settings):
    settings = dict(settings)
    against = settings.pop("against", False)
    files, reference = (inputs[1:], inputs[:1]) if against else (inputs, None)
    whole = sb.dedup(files, against=reference, **settings)
    on_disk = sb.dedup(files, against=reference, work=tmp_path / "work", **settings)
    assert (tmp_path / "work").exists()
    same(whole, on_disk)
    same(whole.rethreshold(0.9), on_disk.rethreshold(0.9))
    monkeypatch.setattr(memory_module.Memory, "held", property(lambda self: 50_000))
    same(whole, sb.dedup(files, against=reference, **settings))
    strict = on_disk.rethreshold(0.9)
    on_disk.close()
    assert (
        repr(strict) == repr(whole.rethreshold(0.9))
        and strict.summary.least_alike == whole.rethreshold(0.9).summary.least_alike
    )
    assert not (tmp_path / "work").exists()


@pytest.mark.parametrize("name", ["sketches", "leaders", "links", "pairs", "components", "standing", "tallies"])
def test_what_grows_too_large_for_the_memory_goes_to_the_disk(inputs, small_parts, monkeypatch, name):
    """The memory is enough until some table is made."""
    texts = [json.loads(line)["text"] for file in inputs for line in Path(file).read_text().splitlines()]
    whole = sb.dedup(texts, threads=2)
    counted = whole.kept
    whole.rethreshold(0.9)
    held, spilled = [1 << 40], []
    monkeypatch.setattr(memory_module.Memory, "held", property(lambda self: held[0]))
    store, components, spill = local.LocalEngine.store, local.LocalEngine.components, local.LocalEngine.spill

    def storing(self, rows, table):
        if table == name:
            held[0] = 100
        return store(self, rows, table)

    def connecting(self, pairs):
        if name == "components":
            held[0] = 100
        return components(self, pairs)

    monkeypatch.setattr(local.LocalEngine, "store", storing)
    monkeypatch.setattr(local.LocalEngine, "components", connecting)
    monkeypatch.setattr(local.LocalEngine, "spill", lambda self: spilled.append(name) or spill(self))
    found = sb.dedup(texts, threads=2)
    assert found.kept.equals(counted)
    assert spilled == [name]
    same(whole, found)
    same(whole.rethreshold(0.9), found.rethreshold(0.9))
    found.close()


def test_a_list_that_is_cut_does_not_depend_on_the_memory(inputs, small_parts, monkeypatch):
    whole = sb.pairs(inputs, threshold=0.5, max_pairs=200)
    monkeypatch.setattr(memory_module.Memory, "held", property(lambda self: 50_000))
    assert whole.num_rows == 200 and sb.pairs(inputs, threshold=0.5, max_pairs=200).equals(whole)


def test_html_is_extracted_once(tmp_path, small_parts, monkeypatch):
    from semblance.text import html

    body = " ".join(f"word{i}" for i in range(120))
    pages = [f"<html><body><main><p>{body} {i % 2}</p></main></body></html>" for i in range(6)]
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps({"text": page}) + "\n" for page in pages))
    whole = sb.dedup(path, html=True)
    count = []
    extract = html.html_to_text
    monkeypatch.setattr(html, "html_to_text", lambda page: count.append(1) or extract(page))
    assert sb.dedup(path, html=True, work=tmp_path / "w", threads=1).keep.tolist() == whole.keep.tolist()
    assert len(count) <= len(pages)
    count.clear()
    monkeypatch.setattr(memory_module.Memory, "held", property(lambda self: 3000))  # all goes to the disk on the way
    assert sb.dedup(path, html=True, threads=1).keep.tolist() == whole.keep.tolist()
    assert len(count) <= len(pages)


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


def test_another_memory_after_a_crash(runner, inputs, expected, tmp_path):
    """Limits that are gone take with them what they made, also when that was stopped half way."""
    output, work = tmp_path / "out" / "out.jsonl", tmp_path / "work"
    output.parent.mkdir()
    assert runner(inputs, output, ["put", "texts-000001", "after"], work=str(work), **FIXED) == -9
    (work / "limits.part").unlink()
    (work / "texts-000000.part").unlink()
    assert runner(inputs, output, None, work=str(work), resume=True, **FIXED) == 0
    check_clean(output, work, expected)


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


def turned(data, bit):
    out = bytearray(data)
    out[bit // 8] ^= 1 << bit % 8
    return bytes(out)


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


def test_a_full_disk_leaves_the_output_alone(inputs, expected, tmp_path):
    """Files may not grow beyond a limit: a clear error; with the limit gone the job goes on."""
    output, work = tmp_path / "out" / "out.jsonl", tmp_path / "work"
    output.parent.mkdir()
    code = (
        "import resource, signal, sys, json, semblance as sb\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))\n"
        "from semblance.cli.main import main\n"
        "main(sys.argv[1:])\n"
    )
    arguments = [*inputs, "--work", str(work), "-o", str(output), "--id", "id", "--keep", "largest:score", "--annotate"]
    done = subprocess.run([sys.executable, "-c", code, "dedup", *arguments], capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    assert "cannot be written: File too large" in done.stderr
    assert not output.exists() and not [p for p in work.iterdir() if p.name.endswith(".tmp")]
    from click.testing import CliRunner

    from semblance.cli.main import program

    again = CliRunner().invoke(program, ["dedup", *arguments, "--resume", "--quiet"])
    assert again.exit_code == 0, again.output
    check_clean(output, work, expected)


def test_two_processes_in_one_folder(inputs, tmp_path):
    first = sb.dedup(inputs, work=tmp_path / "work")
    with pytest.raises(sb.OutputError, match="another process is using this folder"):
        sb.dedup(inputs, work=tmp_path / "work", resume=True)
    first.close()


@pytest.mark.parametrize(("size", "n"), [("4GB", 4e9), ("512 MiB", 2**29), (10**9, 1e9), ("1.5g", 1.5e9), ("2000000000", 2e9)])
def test_sizes(size, n):
    assert memory_module.parse_bytes(size) == n


@pytest.mark.parametrize("size", ["", "much", "-4GB", "4 PB", "4GBB"])
def test_what_is_no_size(size):
    with pytest.raises(sb.ParameterError, match="such as 4GB"):
        memory_module.parse_bytes(size)


def test_a_cap_below_the_floor_is_refused(inputs):
    with pytest.raises(sb.ParameterError, match="at least 387 MB"):
        sb.dedup(inputs, memory="200MB")
    with pytest.raises(sb.ParameterError, match=r"100,000,000 documents need 5,58\d MB"):
        memory_module.Memory(10**9).check_documents(10**8)


def test_a_disk_too_small_is_refused_before_the_start(inputs, tmp_path, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda path: Usage)
    with pytest.raises(sb.OutputError, match=r"the disk is too small: about .* documents"):
        sb.dedup(inputs, work=tmp_path / "work")


class Usage:
    free = 1000


def test_peak_memory_stays_below_the_cap(tmp_path):
    """A process with a cap, on far more text than it may hold."""
    path = tmp_path / "in.jsonl"
    rng = np.random.default_rng(0)
    words = np.array([f"{w:x}" for w in rng.integers(0, 1 << 40, 5000)])
    with path.open("w") as stream:
        for i in range(60_000):
            if i % 3 or i == 0:
                text = " ".join(words[rng.integers(0, 5000, 400)])
            stream.write(json.dumps({"text": text + f" {i}"}) + "\n")
    code = (
        "import sys, semblance as sb; r = sb.dedup(sys.argv[1], memory='500MB', threads=2); "
        "print(r.summary.peak_memory, r.keep.sum())"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    peak, kept = map(int, done.stdout.split())
    assert path.stat().st_size > 250e6
    assert kept == 40_001
    assert peak < 500e6
