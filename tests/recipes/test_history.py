import shutil
from contextlib import closing
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from cli.commands import contents
from weekly import HOW, VARIANTS

import lookalike as la
from lookalike.errors import InputDataError, OutputError, ParameterError
from lookalike.files import disk
from lookalike.files.publication import JOURNAL, Publication
from lookalike.inputs.generations import next_name

GIVEN = HOW | {"threads": 1}


def add(data, output, folder="history", **given):
    own = {name: given.pop(name) for name in ("generation", "force", "texts", "fail_if_removed") if name in given}
    with la.History(folder) as history:
        result = history.add(data, output, la.Settings(**GIVEN | given), **own)
        if result is not None:
            result.close()
    return result is not None


def names(folder="history"):
    with la.History(folder, read=True) as history:
        return [one.name for one in history.generations]


def rows(folder):
    return {path.name: pq.read_table(path).to_pylist() for path in sorted(Path(folder).glob("*.parquet"))}


@pytest.mark.parametrize("variant", ["first", "within", "keys", "estimates", "fingerprints"])
def test_weeks_decide_as_jobs_against_saved_sketches(variant, crawl):
    """Also where earlier weeks are merged, one of which lay in no file; what they added is then not made again."""
    given = VARIANTS[variant]
    with closing(la.dedup(pq.read_table("w0/p-1.parquet"), **GIVEN | given)) as result:
        result.save_sketches("sketches/w0")
    shutil.copytree("sketches/w0", "history/000001")
    for week in (1, 2):
        assert add(f"w{week}", f"clean/w{week}", **given)
        with closing(la.dedup(f"w{week}", **GIVEN | given, against=crawl / "sketches")) as result:
            result.write(f"other/w{week}")
            result.save_sketches(f"sketches/w{week}")
        assert rows(f"clean/w{week}") == rows(f"other/w{week}")
        if week == 1:
            with la.History("history") as history:
                documents = sum(one.documents for one in history.generations)
                assert history.compact() == 2 and history.compact() == 0
                assert not history.check() and history.generations[0].documents == documents
    assert names() == ["000002", "000003"]
    assert not add("w1", "clean/w1", **given)  # its output is there
    shutil.rmtree("clean/w1")
    with pytest.raises(InputDataError, match="cannot be recreated: since it added 000002, generations before it"):
        add("w1", "clean/w1", **given)


def test_a_call_of_the_function_decides_again(crawl):
    """And adds nothing again; tests/jobs/history-command.job has commands that come again."""
    add("w0", "clean/w0")
    before = contents(crawl)
    with closing(la.dedup("w0", history="history", output="clean/w0", **GIVEN)) as result:
        assert result.summary.kept
    assert contents(crawl) == before


def test_what_cannot_come_again_is_refused(crawl):
    for data in (["a text"], pq.read_table(crawl / "w0/p-0.parquet")):
        with pytest.raises(ParameterError, match="is for inputs that can be read again after a crash: files"):
            add(data, "clean/w0", id=None)
    assert not (crawl / "history").exists()
    with pytest.raises(InputDataError, match="not a folder of generations"):
        la.History("nope", read=True)
    with pytest.raises(ParameterError, match="fail_if_removed must be"):
        la.dedup("w0", fail_if_removed=True)
    with pytest.raises(ParameterError, match="s3://lake/history is on an object store, where files cannot be renamed"):
        la.History("s3://lake/history")


def test_one_process_at_a_time_and_what_is_not_locked_is_not_changed(crawl):
    for week in range(2):
        add(f"w{week}", f"clean/w{week}")
    with la.History("history") as history:
        with pytest.raises(OutputError, match="history: another process is using this folder; try again"):
            la.History("history")
        assert names() == ["000001", "000002"]  # it can be read meanwhile
        reader, before = la.History("history", read=True), contents(crawl)
    for change in (
        reader.compact,
        lambda: reader.forget("000001"),
        lambda: history.add("w2", "clean/w2", la.Settings(**GIVEN)),
    ):
        with pytest.raises(OutputError, match="history: opened for reading, or closed"):
            change()
    assert contents(crawl) == before
    with la.History("history") as again:
        assert again.recovered is None and history.generations == again.generations


def test_names():
    for last, wanted, name in (
        (None, None, "000001"), ("000009", None, "000010"), ("week46", None, "week47"), ("2024-10", "2024-11", "2024-11"),
        ("b", None, "b-000001"),
    ):  # fmt: skip
        assert next_name(last, wanted) == name
    for last, wanted in (("b", "a"), ("week9", None), ("b", "b")):
        with pytest.raises(ParameterError, match=f"a new one comes after {last}"):
            next_name(last, wanted)


def interrupted(crawl, monkeypatch, at):
    """As a kill would: nothing is undone."""
    from lookalike.files import publication

    def stop(*given):
        raise KeyboardInterrupt

    with monkeypatch.context() as broken, pytest.raises(KeyboardInterrupt):
        if at == "writing":
            broken.setattr(Publication, "publish", stop)
            broken.setattr(publication, "_undo", lambda *given: None)
        else:
            broken.setattr(publication, "_finish", stop)
        add("w1", "clean/w1")
    assert (crawl / "history" / JOURNAL).exists()


@pytest.mark.parametrize(("at", "finished"), [("writing", False), ("whole", True)])
def test_the_next_process_goes_on(at, finished, crawl, monkeypatch):
    add("w0", "clean/w0")
    interrupted(crawl, monkeypatch, at)
    with pytest.raises(InputDataError, match="a job was killed while it published its outputs; to finish it, run: lookalike"):
        la.dedup("w2", against=crawl / "history", **GIVEN)
    with la.History("history", read=True) as history:
        assert history.recovered is finished and len(history.generations) == 1 + finished
    assert (crawl / "clean/w1").exists() is finished
    assert add("w1", "clean/w1") is not finished
    hidden = [path for path in crawl.rglob(".*") if path.name != ".lookalike_lock"]
    assert not hidden and names() == ["000001", "000002"]


def test_a_generation_that_could_not_be_removed_is_removed_by_the_next_process(crawl, monkeypatch):
    def fail(path, sync=disk.sync_folder):
        if path.name == "000001":
            raise OutputError("the folder cannot be synced to the disk", path)
        sync(path)

    for week in ("w0", "w1"):
        add(week, f"clean/{week}")
    with monkeypatch.context() as broken, la.History("history") as history, pytest.raises(OutputError, match="000001"):
        broken.setattr(disk, "sync_folder", fail)
        history.compact()
    with la.History("history") as history:
        assert history.recovered and [one.name for one in history.generations] == names() == ["000002"]


def test_what_somebody_else_left_is_finished_only_where_the_user_says(crawl, monkeypatch):
    add("w0", "clean/w0", texts=False)
    interrupted(crawl, monkeypatch, "whole")
    monkeypatch.setenv("XDG_STATE_HOME", str(crawl / "other user"))
    for trust in ((), crawl / "history"):
        with pytest.raises(InputDataError, match="another user, or you on another machine, .*clean/w1, trust them: trust="):
            la.History("history", trust=trust)
    assert not (crawl / "clean/w1").exists()
    with la.History("history", trust=[crawl / "history", crawl / "clean", "w0"]) as history:
        assert history.recovered and len(history.generations) == 2
        assert history.add("w2", "clean/w2", la.Settings(trust="w1", **GIVEN))
