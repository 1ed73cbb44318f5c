import pytest
import weekly
from object_store import held, put_folder
from samples import one_in
from weekly import said, weeks, written

from lookalike.errors import InputDataError
from lookalike.files.disk import SIDECAR
from lookalike.files.secrets import bytes_of
from lookalike.files.store import PLANNED, OutputObjects
from lookalike.files.urls import Url
from lookalike.inputs import sketches as folders_of_sketches
from lookalike.inputs.sketch_rows import DESCRIPTION, ROWS
from lookalike.inputs.sketches import saved_in
from lookalike.recipes import saved_sketches

WEEKS = weeks(1, 27)


@pytest.fixture
def files(tmp_path, bucket):
    (tmp_path / "in").mkdir()
    paths = [[*written(table, tmp_path / "in", f"week{i}")] for i, table in enumerate(WEEKS[1:], 1)]
    first = [path for k in (0, 9, 18) for path in written(WEEKS[0].slice(k, 9), tmp_path / "in", f"week0-{k:02}")]
    put_folder(tmp_path / "in", bucket / "in")
    return [[str(bucket / "in" / path.name) for path in some] for some in (first, *paths)]


def job(data, against=None, **given):
    return weekly.job(data, against=str(against) if isinstance(against, Url) else against, **given)


def saved(data, folder, force=False):
    with job(data) as result:
        result.save_sketches(str(folder), force=force)


def against(data, folder):
    with job(data, folder) as result:
        return said(result)


def test_two_generations(files, bucket, tmp_path, monkeypatch):
    """With counts, of which the bytes are those on a disk; copies are as good, there and here."""
    counts = {"counts": True, "source": "site"}
    for week, some in enumerate(files[:2]):
        for seen in (bucket / "history", tmp_path / "history"):
            with job(some, seen if week else None, **counts) as result:
                result.save_sketches(f"{seen}/w{week}")
                found = said(result)
        with job(some, [tmp_path / f"clean{i}" for i in range(week)] or None, **counts) as result:
            assert said(result) == found
            result.write(tmp_path / f"clean{week}")
        same = tmp_path / f"history/w{week}/sketches-counts.parquet"
        assert (bucket / f"history/w{week}/{ROWS}/counts.parquet").read_bytes() == same.read_bytes()
    wanted = against(files[2], [tmp_path / f"clean{i}" for i in range(2)])
    assert any(row["duplicate_is_reference"] for row in wanted[0])
    for name, data in held(bucket / "history").items():
        (tmp_path / "copied" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "copied" / name).write_bytes(data)
    for seen in (
        tmp_path / "history",
        tmp_path / "copied",
        bucket / "history",
        put_folder(tmp_path / "history", bucket / "copied"),
    ):
        for listed in (1, 1000):  # the files asked for together, or one by one
            monkeypatch.setattr(folders_of_sketches, "_LISTED", listed)
            assert against(files[2], seen) == wanted
    saved(files[0], tmp_path / "copied/w0", force=True)
    assert not (tmp_path / "copied/w0" / ROWS).exists()


def turned(data):
    place = len(data) // 3
    return data[:place] + bytes([data[place] ^ 255]) + data[place + 1 :]


SECRETLESS = "missing, damaged, unreadable, or of another job"
DAMAGE = [
    (DESCRIPTION, lambda data: data.replace(b'"bands": ', b'"bands": 1'), "damaged or changed: the checksum"),
    (
        DESCRIPTION,
        lambda data: data.replace(b'"format": 1', b'"format": 2'),
        "saved by .*, which this version .* cannot read: upgrade",
    ),
    (f"{ROWS}/00000.parquet", lambda data: data[:-9], "damaged: .* bytes were written, .* are there"),
    (f"{ROWS}/00000.parquet", turned, "damaged: .*; save the"),
    (f"{ROWS}/00000.parquet", None, ".*cannot be read: no such object"),
    ("secret", None, SECRETLESS),
    ("secret", lambda data: bytes_of(b"?" * 16), SECRETLESS),
]


def test_damaged_folders(files, bucket, monkeypatch):
    """And a store that stops answering, which is no damage."""
    folder = bucket / "history"
    saved(files[0], folder)
    for name, change, wrong in DAMAGE:
        data = (folder / name).read_bytes()
        (folder / name).unlink()
        if change is not None:
            (folder / name).write_bytes(change(data))
        with pytest.raises(InputDataError, match=f"history.*: {wrong}"):
            against(files[1], folder)
        (folder / name).write_bytes(data)
    opened = Url.open_anywhere

    def refusing(url, *args):
        if url.key.startswith(f"history/{ROWS}"):
            raise OSError("AWS Error NETWORK_CONNECTION during GetObject")
        return opened(url, *args)

    monkeypatch.setattr(Url, "open_anywhere", refusing)
    with pytest.raises(InputDataError, match=r"00000\.parquet: cannot be read: AWS Error NETWORK_CONNECTION[^;]*$"):
        against(files[1], folder)
    with pytest.raises(InputDataError, match="history holds saved sketches, which have no texts"):
        against(str(folder / f"{ROWS}/00000.parquet"), None)


@pytest.mark.parametrize("listed", [1, 1000])
def test_inputs_that_changed_are_named_before_any_work(listed, files, bucket, monkeypatch):
    monkeypatch.setattr(folders_of_sketches, "_LISTED", listed)
    saved(files[0], bucket / "history")
    url = bucket / "in/week0-00-0.parquet"
    url.write_bytes(url.read_bytes() + b" ")
    for wrong in ("has changed since it was sketched", "cannot be read: no such object"):
        with pytest.raises(InputDataError, match=rf"week0-00-0\.parquet: {wrong}; .*/history needs this file: restore it"):
            against(files[1], bucket / "history")
        url.unlink(missing_ok=True)


def test_a_folder_of_folders_with_something_else_in_it(files, bucket):
    """What is hidden or was never finished is passed over."""
    seen = bucket / "history"
    saved(files[0], seen / "w0")
    wanted = against(files[1], seen / "w0")
    for name in (".hidden/a", f"w1/{PLANNED}", f"w1/{ROWS}/x.parquet", "w1/secret"):
        (seen / name).write_bytes(b"{}")
    for other in ("notes.txt", "w1/a.parquet", "documents/a.parquet", "w1-clean/_lookalike.json"):
        (seen / other).write_bytes(b"{}")
        with pytest.raises(InputDataError, match=rf"holds saved sketches \(w0\) and something else \({other.split('/')[0]}\)"):
            against(files[1], seen)
        (seen / other).unlink()
    assert against(files[1], seen) == wanted
    (seen / "w1" / PLANNED).unlink()
    with pytest.raises(InputDataError, match=r"something else \(w1\)"):
        against(files[1], seen)


def stopped(*args):
    raise KeyboardInterrupt


def before(name):
    """Stops when this file is about to be written."""
    made = OutputObjects.file

    def file(folder, which):
        return stopped() if which == name else made(folder, which)

    return file


STOPS = {
    "rows": (OutputObjects, "file", before(f"{ROWS}/00000.parquet")),
    "secret": (saved_sketches, "write_secret", stopped),
    "list": (OutputObjects, "file", before(SIDECAR)),
    "description": (OutputObjects, "file", before(DESCRIPTION)),
}


@pytest.mark.parametrize("where", one_in(3, STOPS))
def test_a_save_that_is_killed_leaves_no_sketches(where, files, bucket, monkeypatch):
    """Later jobs pass it over, and the next save replaces it, also where it was replacing one that was whole."""
    seen = bucket / "history"
    saved(files[0], seen / "w0")
    wanted = against(files[2], seen)
    with job(files[1], seen / "w0") as result:
        for force in (False, True):
            with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
                patched.setattr(*STOPS[where])
                result.save_sketches(str(seen / "w1"), force=force)
            left = held(seen / "w1")
            assert PLANNED in left and DESCRIPTION not in left
            assert against(files[2], seen) == wanted
            with pytest.raises(InputDataError, match=r"/w1: the folder holds no file with a known suffix"):
                against(files[2], seen / "w1")
            result.save_sketches(str(seen / "w1"))
            assert set(held(seen / "w1")) == {DESCRIPTION, SIDECAR, "secret", f"{ROWS}/00000.parquet"}
    assert saved_in(str(seen)) == [seen / "w0", seen / "w1"]
    assert against(files[2], seen)[2]["reference"] > wanted[2]["reference"]


def test_a_save_that_is_killed_while_it_removes_the_old_one(files, bucket, monkeypatch):
    """First goes what says that it is whole."""
    folder, removed, unlink = bucket / "history", [], Url.unlink
    saved(files[0], folder)

    def third(url, missing_ok=False):
        removed.append(url.name)
        stopped() if len(removed) == 3 else unlink(url, missing_ok)

    with job(files[1]) as result:
        with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
            patched.setattr(Url, "unlink", third)
            result.save_sketches(str(folder), force=True)
        assert removed[:2] == [DESCRIPTION, SIDECAR] and set(held(folder)) == {PLANNED, "secret", f"{ROWS}/00000.parquet"}
        result.save_sketches(str(folder))
    assert PLANNED not in held(folder) and against(files[2], folder)[2]["reference"]
