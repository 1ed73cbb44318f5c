"""A folder of what was seen keeps the texts that later jobs compare: the inputs of earlier weeks can go, or change."""

import shutil

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


def begun(folder, monkeypatch, **given):
    """A history of the first of two files."""
    monkeypatch.chdir(folder)
    as_jsonl(folder / "first.jsonl", FIRST)
    as_jsonl(folder / "second.jsonl", SECOND)
    with la.History("history") as history:
        history.add("first.jsonl", "out1.jsonl", la.Settings(id="id"), **given).close()


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


@pytest.mark.parametrize("kind", KINDS)
def test_decisions_without_the_inputs_of_earlier_weeks(kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = {"html": "{}.jsonl", "txt": "{}"}.get(kind, "{}." + kind)
    first, second = (tmp_path / name.format(week) for week in ("first", "second"))
    KINDS[kind](first, FIRST)
    KINDS[kind](second, SECOND)
    given = {"html": kind == "html"} | ({} if kind == "txt" else {"id": "id"})
    found = {}
    for texts in (False, True):
        with la.History(f"history{texts}") as history:
            history.add(first.name, f"out1{texts}", la.Settings(**given), texts=texts).close()
    for texts in (False, True):
        if texts:
            shutil.rmtree(first) if first.is_dir() else first.unlink()
        with la.History(f"history{texts}") as history:
            assert history.check() == []
            result = history.add(second.name, f"out2{texts}", la.Settings(**given), texts=texts)
            found[texts] = decisions(result)
            assert result.audit(10)["missed"] == 0
            assert [result.sample(3, seed=1).num_rows, result.summary.kept] == [3, 1]
            result.close()
            history.compact()
    assert found[True] == found[False] and sum(row["reason"] in ("exact", "near") for row in found[True]) == 3
    other = tmp_path / name.format("third")
    KINDS[kind](other, {f"{name}c": text for name, text in SECOND.items()})
    with la.History("historyTrue") as history:
        result = history.add(other.name, "out3", la.Settings(**given))
        assert result.summary.kept == 0
        result.close()


def test_the_same_file_again_is_told_unless_it_has_changed(tmp_path, monkeypatch):
    """With another input beside it, it is another job, but its documents were added before."""
    begun(tmp_path, monkeypatch)
    said = r"first.jsonl is both an input and a reference \(its sketches are in history/000001\)"
    with la.History("history") as history:
        with pytest.raises(InputDataError, match=said):
            history.add(["first.jsonl", "second.jsonl"], "out2", la.Settings(id="id"))
        as_jsonl(tmp_path / "first.jsonl", SECOND)
        result = history.add("first.jsonl", "out2", la.Settings(id="id"))
        result.close()
    assert result.summary.kept == 1


def test_without_texts_the_inputs_are_needed(tmp_path, monkeypatch):
    begun(tmp_path, monkeypatch, texts=False)
    (tmp_path / "first.jsonl").unlink()
    with la.History("history") as history, pytest.raises(InputDataError, match="first.jsonl: cannot be read"):
        history.add("second.jsonl", "out2", la.Settings(id="id"))
    assert not (tmp_path / "out2").exists()


def test_damaged_texts_are_told(tmp_path, monkeypatch):
    begun(tmp_path, monkeypatch)
    (path,) = (tmp_path / "history/000001").glob("sketches-*.parquet")
    table = pq.read_table(path)
    other = pa.array([b"x"] * len(table), pa.large_binary())
    pq.write_table(table.set_column(table.schema.get_field_index("text"), "text", other), path)
    forge(path.parent, lambda said: said["files"][0].update(bytes=path.stat().st_size))
    with pytest.raises(InputDataError, match="sketches-00000.parquet"), la.History("history") as history:
        history.add("second.jsonl", "out2.jsonl", la.Settings(id="id"))
    assert not (tmp_path / "out2.jsonl").exists()


@pytest.mark.parametrize("at_most", [2, 3])
def test_documents_that_are_spared_are_compared_with_too(at_most, tmp_path, monkeypatch):
    """As in a job against the texts that were written."""
    monkeypatch.chdir(tmp_path)
    chain = {f"{week}{i}": " ".join(WORDS[6 * i : 6 * i + 30]) for i, week in enumerate("aabb")}  # neighbours are alike
    how = {"id": "id", "threshold": 0.5, "width": 1, "recall": 0.999, "at_most": at_most}
    found = []
    for week in "ab":
        as_jsonl(tmp_path / f"{week}.jsonl", {name: text for name, text in chain.items() if name.startswith(week)})
        with la.History("history") as history:
            result = history.add(f"{week}.jsonl", f"{week}-new.jsonl", la.Settings(**how))
            found.append(decisions(result))
            result.close()
    other = la.dedup("b.jsonl", against="a-new.jsonl", **how)
    other.write("other.jsonl")
    found.append(decisions(other))
    for rows in found:
        for row in rows:
            del row["duplicate_source"]
    assert found[1] == found[2] and "spared" in [row["reason"] for row in found[1]]
    assert (tmp_path / "b-new.jsonl").read_bytes() == (tmp_path / "other.jsonl").read_bytes()
