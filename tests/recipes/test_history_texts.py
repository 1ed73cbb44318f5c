"""A folder of what was seen keeps the texts that later jobs compare: the inputs of earlier weeks can go, or change."""

import os
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from json_lines import write_lines
from weekly import forge

import lookalike as la
from lookalike.errors import InputDataError

WORDS = [f"w{i}" for i in range(60)]
FIRST = {f"a{i}": " ".join([*WORDS[:40], f"own{i}", *[f"a{i}x{j}" for j in range(30 * (i > 0))]]) for i in range(4)}
SECOND = {"b0": FIRST["a0"], "b1": FIRST["a1"] + " more", "b2": "nothing like the others at all", "b3": FIRST["a2"][:-4]}


def as_jsonl(path, texts):
    write_lines(path, ({"id": name, "text": text} for name, text in texts.items()))


def as_pages(path, texts):
    as_jsonl(path, {name: f"<html><body><p>{text}</p><script>x</script></body></html>" for name, text in texts.items()})


def as_table(write, **how):
    return lambda path, texts: write(pa.table({"id": list(texts), "text": list(texts.values())}), path, **how)


def as_folder(path, texts):
    path.mkdir()
    for name, text in texts.items():
        (path / f"{name}.txt").write_text(text)


KINDS = {
    "jsonl": as_jsonl, "csv": as_table(pyarrow.csv.write_csv), "parquet": as_table(pq.write_table, row_group_size=3),
    "html": as_pages, "txt": as_folder,
}  # fmt: skip


def decisions(result):
    table = result.decisions.select(["id", "duplicate_of", "duplicate_source", "kept", "resemblance", "reason"])
    return table.to_pylist()


def test_decisions_without_the_inputs_of_earlier_weeks(tmp_path, monkeypatch):
    for kind, write in KINDS.items():
        (folder := tmp_path / kind).mkdir()
        monkeypatch.chdir(folder)
        first, second, third = (Path({"html": "{}.jsonl", "txt": "{}"}.get(kind, "{}." + kind).format(i)) for i in range(3))
        for path, texts in ((first, FIRST), (second, SECOND), (third, {f"{name}c": text for name, text in SECOND.items()})):
            write(path, texts)
        settings, found = la.Settings(html=kind == "html", id=None if kind == "txt" else "id"), {}
        for texts in (False, True):
            with la.History(f"history{texts}") as history:
                history.add(first, f"out1{texts}", settings, texts=texts).close()
        for texts in (False, True):
            if texts:
                shutil.rmtree(first) if first.is_dir() else first.unlink()
            with la.History(f"history{texts}") as history:
                assert history.check() == []
                result = history.add(second, f"out2{texts}", settings, texts=texts)
                found[texts] = decisions(result)
                assert result.audit(10)["missed"] == 0
                assert [result.sample(3, seed=1).num_rows, result.summary.kept] == [3, 1]
                result.close()
                history.compact()
        assert found[True] == found[False] and sum(row["reason"] in ("exact", "near") for row in found[True]) == 3
        with la.History("historyTrue") as history:
            result = history.add(third, "out3", settings)
            assert result.summary.kept == 0, kind
            result.close()


def test_without_texts_the_inputs_are_needed(tmp_path, monkeypatch):
    """And damaged texts are told."""
    for texts, said in ((False, "first.jsonl: cannot be read"), (True, "sketches-00000.parquet")):
        (folder := tmp_path / str(texts)).mkdir()
        monkeypatch.chdir(folder)
        as_jsonl(folder / "first.jsonl", FIRST)
        as_jsonl(folder / "second.jsonl", SECOND)
        with la.History("history") as history:
            history.add("first.jsonl", "out1.jsonl", la.Settings(id="id"), texts=texts).close()
        if texts:
            path = folder / "history/000001/sketches-00000.parquet"
            table = pq.read_table(path)
            other = pa.array([b"x"] * len(table), pa.large_binary())
            pq.write_table(table.set_column(table.schema.get_field_index("text"), "text", other), path)
            forge(
                path.parent,
                lambda held: held["files"][0].update(bytes=os.path.getsize("history/000001/sketches-00000.parquet")),
            )
        else:
            (folder / "first.jsonl").unlink()
        with la.History("history") as history, pytest.raises(InputDataError, match=said):
            history.add("second.jsonl", "out2.jsonl", la.Settings(id="id"))
        assert not (folder / "out2.jsonl").exists()
