import os
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from weekly import HOW, forge, weeks

import lookalike as la
from lookalike.errors import InputDataError


def add():
    for number, table in enumerate(weeks(1)[:2]):
        pq.write_table(table, f"{number}.parquet")
        with la.History("history") as history:
            history.add([f"{number}.parquet"], f"clean/{number}", la.Settings(**HOW, threads=1, counts=True)).close()


def flipped(path, place, n=1):
    data = bytearray(path.read_bytes())
    for at in range(place, place + n):
        data[at] ^= 1
    path.write_bytes(data)


def in_the_text(path):
    """The last bytes of a page of texts, which no checksum of the rows covers."""
    chunk = pq.ParquetFile(path).metadata.row_group(0)
    (column,) = (chunk.column(i) for i in range(chunk.num_columns) if chunk.column(i).path_in_schema == "text")
    flipped(path, column.data_page_offset + column.total_compressed_size - 4)


def rewritten(path):
    path.chmod(0o600)
    path.write_bytes(b"x")


COUNTS, ROWS, SECRET = "sketches-counts.parquet", "sketches-00000.parquet", "secret"
DAMAGE = [
    (COUNTS, lambda path: flipped(path, 40, 20)),
    (COUNTS, lambda path: pq.write_table(pq.read_table(path).slice(1), path)),
    (COUNTS, os.unlink),
    (ROWS, lambda path: flipped(path, path.stat().st_size // 3)),
    (ROWS, in_the_text),
    (SECRET, rewritten),
    (SECRET, os.unlink),
]


def test_damage_is_found(here):
    """Also of texts and secrets that the next week would not read."""
    add()
    (here / "history").rename("whole")
    for name, damage in DAMAGE:
        shutil.copytree("whole", "history")
        damage(here / "history/000002" / name)
        with la.History("history") as history:
            (problem,) = history.check()
            assert f"000002/{name}" in problem
            if "counts" in name:
                with pytest.raises(InputDataError, match=r"000002/sketches-counts\.parquet"):
                    history.counts()
        shutil.rmtree("history")
    flipped(here / "whole/generations.json", 200)
    with pytest.raises(InputDataError, match=r"generations\.json"):
        la.History("whole")


def fewer(path):
    pq.write_table(pq.read_table(path).slice(1), path)
    forge(path.parent, lambda said: said["files"][0].update(bytes=path.stat().st_size))


def pipe(path):
    path.unlink()
    os.mkfifo(path)


def more(path):
    forge(path.parent, lambda said: [one.update(rows=10**6) for one in (said["files"][0], said["inputs"][0])])


@pytest.mark.parametrize("damage", [lambda path: flipped(path, 220), fewer, pipe, os.unlink, more])
def test_what_is_damaged_is_not_merged(damage, here):
    """A pipe, of which a reader would wait, is not read."""
    add()
    path = here / "history/000002/sketches-00000.parquet"
    damage(path)
    held = os.open(path, os.O_RDWR | os.O_NONBLOCK) if path.is_fifo() else None
    wrong = r"000002/sketches-00000\.parquet: (damaged|cannot be)"
    with la.History("history") as history, pytest.raises(InputDataError, match=wrong):
        history.compact()
    if held is not None:
        os.close(held)
    assert sorted(os.listdir("history")) == [".lookalike_lock", "000001", "000002", "generations.json"]


def test_other_texts_are_told(here):
    """Whose checksums are right; tests/jobs/history-texts.job has jobs that read what was saved."""
    add()
    path = here / "history/000002/sketches-00000.parquet"
    table = pq.read_table(path)
    other = pa.array([b"x"] * len(table), pa.large_binary())
    pq.write_table(table.set_column(table.schema.get_field_index("text"), "text", other), path)
    forge(path.parent, lambda said: said["files"][0].update(bytes=path.stat().st_size))
    pq.write_table(weeks(1)[2], "2.parquet")
    with la.History("history") as history, pytest.raises(InputDataError, match="000002/sketches-00000.parquet"):
        history.add("2.parquet", "clean/2", la.Settings(**HOW, threads=1))
    assert not (here / "clean/2").exists()
