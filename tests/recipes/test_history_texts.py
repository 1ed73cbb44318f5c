"""A folder of what was seen keeps the texts that later jobs compare: the inputs of earlier weeks can go, or change."""

import shutil

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from cli.commands import run
from json_lines import write_lines

import lookalike as la

WORDS = [f"w{i}" for i in range(60)]
FIRST = {f"a{i}": " ".join([*WORDS[:40], f"own{i}", *[f"a{i}x{j}" for j in range(30 * (i > 0))]]) for i in range(4)}
SECOND = {"b0": FIRST["a0"], "b1": FIRST["a1"] + " more", "b2": "nothing like the others at all", "b3": FIRST["a2"][:-4]}


def as_jsonl(path, texts):
    write_lines(path, ({"id": name, "text": text} for name, text in texts.items()))


def begun(folder, monkeypatch):
    """A history of the first of two files."""
    monkeypatch.chdir(folder)
    as_jsonl(folder / "first.jsonl", FIRST)
    as_jsonl(folder / "second.jsonl", SECOND)
    with la.History("history") as history:
        history.add("first.jsonl", "out1.jsonl", la.Settings(id="id")).close()


def as_csv(path, texts):
    pyarrow.csv.write_csv(pa.table({"id": list(texts), "text": list(texts.values())}), path)


def as_parquet(path, texts):
    pq.write_table(pa.table({"id": list(texts), "text": list(texts.values())}), path, row_group_size=3)


def as_pages(path, texts):
    as_jsonl(path, {name: f"<html><body><p>{text}</p><script>x</script></body></html>" for name, text in texts.items()})


def as_folder(path, texts):
    path.mkdir()
    for name, text in texts.items():
        (path / f"{name}.txt").write_text(text)


KINDS = {"jsonl": as_jsonl, "csv": as_csv, "parquet": as_parquet, "html": as_pages, "txt": as_folder}


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


def test_a_file_of_the_same_name_every_week(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "current.jsonl"
    for week, texts in enumerate((FIRST, SECOND, {"c": "another text of new words"})):
        as_jsonl(path, texts)
        with la.History("history") as history:
            result = history.add("current.jsonl", f"fresh{week}.jsonl", la.Settings(id="id"))
            result.close()
        assert result.summary.kept == (4, 1, 1)[week]


def test_the_same_file_again_is_told(tmp_path, monkeypatch):
    """With another input beside it, it is another job, but its documents were added before."""
    begun(tmp_path, monkeypatch)
    said = r"first.jsonl is both an input and a reference \(its sketches are in history/000001\)"
    with la.History("history") as history, pytest.raises(la.errors.InputDataError, match=said):
        history.add(["first.jsonl", "second.jsonl"], "out2", la.Settings(id="id"))


def test_damaged_texts_are_told(tmp_path, monkeypatch):
    begun(tmp_path, monkeypatch)
    (path,) = (tmp_path / "history/000001").glob("sketches-*.parquet")
    table = pq.read_table(path)
    changed = table.set_column(table.schema.get_field_index("text"), "text", pa.array([b"x"] * len(table), pa.large_binary()))
    size = path.stat().st_size
    pq.write_table(changed, path, compression="none")
    path.write_bytes(path.read_bytes().ljust(size, b"\0"))
    with pytest.raises(la.errors.InputDataError, match="sketches-00000.parquet"), la.History("history") as history:
        history.add("second.jsonl", "out2.jsonl", la.Settings(id="id"))
    assert not (tmp_path / "out2.jsonl").exists()


@pytest.mark.parametrize("at_most", [2, 3])
def test_documents_that_are_spared_are_compared_with_too(at_most, tmp_path, monkeypatch, capsys):
    """As in a job against the texts that were written."""
    monkeypatch.chdir(tmp_path)
    chain = {f"{week}{i}": " ".join(WORDS[6 * i : 6 * i + 30]) for i, week in enumerate("aabb")}  # neighbours are alike
    for week in "ab":
        as_jsonl(tmp_path / f"{week}.jsonl", {name: text for name, text in chain.items() if name.startswith(week)})
    how = f"--id id -t 0.5 --width 1 --recall 0.999 --set at_most={at_most} --quiet".split()
    assert run(capsys, "dedup", "a.jsonl", "--history", "history", "-o", "a-new.jsonl", *how)[0] == 0
    assert run(capsys, "dedup", "b.jsonl", "--history", "history", "-o", "b-new.jsonl", "--save", "one", *how)[0] == 0
    assert run(capsys, "dedup", "b.jsonl", "--against", "a-new.jsonl", "-o", "other.jsonl", "--save", "two", *how)[0] == 0
    one, two = (la.Result.load(name).decisions.drop(["duplicate_source"]) for name in ("one", "two"))
    columns = ["id", "duplicate_of", "kept", "resemblance", "reason"]
    assert one.select(columns).to_pylist() == two.select(columns).to_pylist()
    assert (tmp_path / "b-new.jsonl").read_bytes() == (tmp_path / "other.jsonl").read_bytes()
    assert "spared" in one["reason"].to_pylist()


def test_without_texts_the_inputs_are_needed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    as_jsonl(tmp_path / "a.jsonl", FIRST)
    as_jsonl(tmp_path / "b.jsonl", SECOND)
    how = ("--id", "id", "--history", "history", "--set", "history_texts=false")
    assert run(capsys, "dedup", "a.jsonl", *how, "-o", "a-new.jsonl")[0] == 0
    (tmp_path / "a.jsonl").unlink()
    code, _, err = run(capsys, "dedup", "b.jsonl", *how, "-o", "b-new.jsonl")
    assert code == 1 and "a.jsonl: cannot be read" in err and not (tmp_path / "b-new.jsonl").exists()


@pytest.mark.parametrize("what", ["text", "page", "secret", "no secret"])
def test_what_later_weeks_need_is_checked(what, tmp_path, monkeypatch):
    """Texts and secrets, even those that the next week would not read."""
    monkeypatch.chdir(tmp_path)
    with la.History("history") as history:
        for week, texts in enumerate((FIRST, SECOND)):
            (as_pages if what == "page" else as_jsonl)(tmp_path / f"{week}.jsonl", texts)
            history.add(f"{week}.jsonl", f"out{week}.jsonl", la.Settings(id="id", html=what == "page")).close()
    path, secret = tmp_path / "history/000002/sketches-00000.parquet", tmp_path / "history/000002/secret"
    if what == "secret":
        secret.chmod(0o600)
        secret.write_bytes(b"x")
    elif what == "no secret":
        secret.unlink()
    else:
        chunk = pq.ParquetFile(path).metadata.row_group(0)
        (place,) = (i for i in range(chunk.num_columns) if chunk.column(i).path_in_schema == "text")
        data = bytearray(path.read_bytes())
        data[chunk.column(place).data_page_offset + chunk.column(place).total_compressed_size - 4] ^= 1
        path.write_bytes(data)
    with la.History("history") as history:
        (problem,) = history.check()
    assert f"000002/{'secret' if 'secret' in what else 'sketches-00000.parquet'}" in problem
