"""``Result.report``: every kind of result has a page, its samples are true, it is small, and texts stay out where they must."""

import hashlib
import json
import re
import shlex

import pyarrow as pa
import pytest
from engine_kinds import KINDS, prepare
from json_lines import read_lines, write_lines

import lookalike as la
from lookalike.cli.main import main
from lookalike.report import page as page_module
from lookalike.report.samples import near_misses


def data_of(path):
    """What the script of a page reads."""
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', path.read_text(), re.DOTALL)[1])


def report(result, folder, **how):
    """Write a page; return it as text."""
    path = folder / "page.html"
    result.report(path, force=True, **how)
    assert path.stat().st_size <= 2_000_000
    return path.read_text()


def test_the_pairs_of_a_page_are_removals_of_the_result(run, tmp_path):
    result = run()
    report(result, tmp_path)
    data = data_of(tmp_path / "page.html")
    removed = {row["id"]: row for row in result.removed.to_pylist()}
    for pair in data["pairs"]:
        left, right = (data["documents"][pair[side]] for side in ("left", "right"))
        assert not pair["kept"] and removed[right["id"]]["duplicate_of"] == left["id"]
        assert removed[right["id"]]["resemblance"] == pair["score"]
    assert {pair["section"] for pair in data["pairs"]} == {"The least similar", "The largest groups", "The sample to judge"}
    assert [p["score"] for p in data["pairs"][:20]] == result.least_alike(20)["resemblance"].to_pylist()


def test_the_texts_are_those_of_the_documents(run, corpus, tmp_path):
    """Also of references, and where rows are read from several files."""
    report(run(), tmp_path)
    data = data_of(tmp_path / "page.html")
    texts = {}
    for file in corpus.glob("*.jsonl"):
        texts |= {row["id"]: row["text"] for row in read_lines(file)}
    for pair in data["pairs"]:
        for side in ("left", "right"):
            rows = [row[0 if side == "left" else -1] for row in pair["compared"]["rows"] if not isinstance(row, int)]
            shown = [" ".join("".join(run[1::2]).split()) for run in rows]
            whole = " ".join(texts[data["documents"][pair[side]]["id"]].split())
            assert all(part in whole for part in shown) and shown


def test_verdict_and_settings(run, corpus, tmp_path):
    result = run()
    page = report(result, tmp_path)
    s = result.summary
    assert f"{s.documents - s.kept:,} of {s.documents:,} documents" in page
    digest = hashlib.sha256((corpus / "b.jsonl").read_bytes()).hexdigest()
    assert digest in page and f"{s.recall_vouched:.4f}" in page and "Every document of" in page


def test_the_verdict_says_which_removals_name_nobody(tmp_path):
    texts = ["one two three four five six", "one two three four five six", "", "far too large " * 40]
    assert "each because it matches a kept document. Resemblances are exact" in report(la.dedup(texts), tmp_path)
    page = report(la.dedup(texts, empty="drop"), tmp_path)
    assert "matches a kept document, except those that have no token. Resemblances" in page
    overrides = [{"id": 0, "action": "remove"}]
    page = report(la.dedup(pa.table({"text": texts, "id": range(4)}), id="id", empty="drop", max_document=200, on_error="skip",
                           overrides=overrides), tmp_path)  # fmt: skip
    assert "except those that have no token or that overrides remove. 1 document was left out, neither compared" in page


def test_warnings_come_first(run, tmp_path):
    page = report(run(verify="sketch"), tmp_path)
    top = page.split("<main>")[0]
    warnings = top.split('<section class="alarm" id="warnings"')[1].split("</section>")[0]
    assert top.index("</h1>") < top.index('id="warnings"') < top.index("<nav")
    assert "Every document of" in warnings and "Removals rest on estimates" in warnings
    assert "There are no warnings." in report(
        la.dedup(["one two three four five six", "four five six seven eight nine"]), tmp_path
    )


def test_recalls_that_differ_are_explained(run, tmp_path):
    result = run()
    assert "Recall measured" not in report(result, tmp_path)
    found = result.audit(10)
    page = report(result, tmp_path)
    assert f"recall measured ({found['low']:.4f} to {found['high']:.4f})" in page and "not measured" not in page
    assert f"whose resemblance is exactly {result.threshold:g}, the hardest" in page
    assert "all near-duplicates of 10 kept documents, drawn at random. Most of these are more similar" in page
    assert "vouched" not in page


def test_lists_show_how_texts_begin(run, corpus, tmp_path):
    page = report(run(), tmp_path)
    texts = {row["id"]: row["text"] for file in corpus.glob("*.jsonl") for row in read_lines(file)}
    shown = re.findall(
        r'<bdi class="mono">(\w+)</bdi> <span class="soft">\(<bdi>[^<]*</bdi>\)</span> <bdi class="begins">“(.*?)…”', page
    )
    assert len(shown) >= 20 and all(begun and texts[name].startswith(begun) for name, begun in shown)
    assert '"begins"' not in report(run(), tmp_path, texts="none").split("</style>")[1]


def test_the_command_repeats_the_job(run, corpus, tmp_path, capsys):
    page = report(run(threshold=0.75, keep="longest", fold_case=False, within="w", seed=3), tmp_path)
    command = shlex.split(re.search(r"<pre>(.*?)</pre>", page, re.DOTALL)[1].replace("&#39;", "'"))
    assert command[:2] == ["lookalike", "dedup"]
    with pytest.raises(SystemExit) as ended:
        main([*command[1:], "--json"])
    told = json.loads(capsys.readouterr().out)
    again = run(threshold=0.75, keep="longest", fold_case=False, within="w", seed=3).summary.to_dict()
    assert ended.value.code == 0
    assert all(told[key] == again[key] for key in ("kept", "near_duplicates", "exact_duplicates", "reference", "plan"))


def test_what_no_command_can_say_is_python(tmp_path):
    page = report(la.dedup(["a b c", "a b c"], tokenizer=str.split, threshold=0.5), tmp_path)
    assert "lookalike.dedup(data, threshold=0.5, tokenizer=split" in page
    page = report(la.dedup({"one": pa.table({"text": ["a b c"]}), "two": pa.table({"text": ["a b c"]})}), tmp_path / "named")
    assert "lookalike.dedup(data, threshold=0.8" in page


@pytest.mark.parametrize("texts", ["none", "hash"])
def test_texts_stay_out(run, tmp_path, texts):
    page = report(run(), tmp_path, texts=texts)
    assert not re.search(r"\b(word|new)\d+\b", page)
    body = page.split('<script type="application/json"')[0]
    assert ("This report has no texts." in body) == (texts == "none")
    pairs = data_of(tmp_path / "page.html")["pairs"]
    assert all((pair["compared"] is None) == (texts == "none") for pair in pairs)


SETTINGS = [
    {"verify": "sketch"}, {"method": "simhash", "radius": 8}, {"evidence": "all"}, {"threshold": 1.0}, {"threshold": 0.02},
    {"empty": "drop"}, {"within": "w"}, {"unit": "char", "width": 7}, {"unit": "line"}, {"tokenizer": str.split},
    {"max_document": 300, "on_error": "skip", "references": False}, {"references": False, "id": None},
]  # fmt: skip


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda value: "-".join(map(str, value)))
def test_every_kind_of_result_has_a_page(run, tmp_path, settings):
    result = run(**settings)
    page = report(result, tmp_path)
    assert page.count("<h2>") == 9
    assert f"{result.summary.near_duplicates:,}" in page


def test_other_inputs(tmp_path):
    texts = ["one two three four five six seven"] * 2 + ["one two three four five six eight", ""]
    table = pa.table({"text": texts, "id": [2**60, 2, 3, 4]})
    for data, settings in (
        (texts, {}),
        (table, {"id": "id"}),
        (texts[:1], {}),
        (pa.table({"text": pa.array([], pa.string())}), {}),
    ):
        page = report(la.dedup(data, threshold=0.4, **settings), tmp_path)
        assert page.count("<h2>") == 9 and "not known" in page, "there is no digest of what is in memory"
        if data is table:
            assert {document["id"] for document in data_of(tmp_path / "page.html")["documents"]} == {str(2**60), 3}
    (tmp_path / "notes").mkdir()
    for i, text in enumerate(texts):
        (tmp_path / "notes" / f"{i}.txt").write_text(text)
    page = report(la.dedup(tmp_path / "notes", threshold=0.4), tmp_path)
    lines = "".join(f"{hashlib.sha256(text.encode()).hexdigest()}  {tmp_path}/notes/{i}.txt\n" for i, text in enumerate(texts))
    assert hashlib.sha256(lines.encode()).hexdigest() in page and "(4 files)" in page


def test_a_group_of_copies_says_so(tmp_path):
    page = report(la.dedup(["one two three four five"] * 3), tmp_path)
    assert (
        "All are exact duplicates of the kept document." in page
        and "0 of 0" not in page.split('id="groups"')[1].split("</section>")[0]
    )
    assert "There is none." in report(la.dedup(["one", "two"]), tmp_path)


def test_a_loaded_result_has_the_texts_of_files_that_are_as_they_were(tmp_path):
    file = tmp_path / "a.jsonl"
    write_lines(file, (f"one two three four five word{i}" for i in range(4)))
    la.dedup(file, threshold=0.3).save(tmp_path / "saved")
    result = la.Result.load(tmp_path / "saved")
    page = report(result, tmp_path)
    assert "word3" in page and "missing" not in page and "only a job that is open" in page
    assert page.count(hashlib.sha256(file.read_bytes()).hexdigest()) > 1, "for the reader, and for overrides"
    file.write_text("other")
    page = report(result, tmp_path)
    assert "missing: " in page and "a.jsonl: the file has changed" in page and "word3" not in page
    file.unlink()
    assert "a.jsonl: the input no longer exists" in report(result, tmp_path)


def test_a_loaded_result_of_what_was_in_memory_has_a_page_without_texts(tmp_path):
    la.dedup([f"one two three four five word{i}" for i in range(4)], threshold=0.3).save(tmp_path / "saved")
    page = report(la.Result.load(tmp_path / "saved"), tmp_path)
    assert "only a job that is open" in page and "values in memory, a pipe or part of an archive" in page
    assert not re.search(r"\bword\d+\b", page)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "local"])
def test_every_engine_gives_the_same_page(run, tmp_path, kind, monkeypatch):
    """Near misses and all."""
    settings = {"threshold": 0.93, "recall": 0.9999}
    plain = report(run(**settings), tmp_path)
    other = report(run(**settings, **prepare(kind, monkeypatch)), tmp_path)
    told = [re.sub(r'<section id="cost".*?</section>', "", text, flags=re.DOTALL) for text in (plain, other)]
    assert told[0] == told[1] and "pairs of kept documents that were compared" in plain


def test_rethresholded_results_have_pages(run, tmp_path):
    for evidence in ("keepers", "all"):
        result = run(evidence=evidence, threshold=0.6).rethreshold(0.9)
        assert f"threshold {0.9}" in report(result, tmp_path)


def test_near_misses_are_shown_and_counted(tmp_path):
    words = [f"w{i}" for i in range(100)]
    texts = [" ".join(words), " ".join([*words[:45], "x", *words[46:]]), " ".join([*words[:90], *(f"y{i}" for i in range(10))])]
    result = la.dedup(texts, threshold=0.93)
    assert result.keep.all()
    near = near_misses(result.near_misses, 0.93, 0.88, 5, result.settings.finder.recall)
    assert near.total == 1 and near.score.tolist() == [91 / 101] and near.expected == pytest.approx(1, abs=0.05)
    page = report(result, tmp_path)
    assert "1 pair of kept documents that were compared" in page
    (pair,) = data_of(tmp_path / "page.html")["pairs"]
    assert pair["kept"] and pair["section"] == "Near misses, both kept"


def test_a_page_is_made_smaller_until_it_fits(run, tmp_path, monkeypatch):
    whole = len(report(run(), tmp_path).encode())
    monkeypatch.setattr(page_module, "MOST_BYTES", whole - 6_000)
    assert len(report(run(), tmp_path).encode()) <= whole - 6_000


def test_the_worst_page_fits(tmp_path, monkeypatch):
    """Long ids and texts of characters that take most room, and many pairs of every kind."""
    rows = []
    for i in range(150):
        words = [f"<&'{i}x{j}>" * 3 for j in range(500)]
        changed = [word if j % 10 else f"<<'&{j}" for j, word in enumerate(words)]
        rows += [" ".join(words), " ".join(changed)]
    ids = [f"{i}" + "<&'" * 3000 for i in range(len(rows))]
    result = la.dedup(pa.table({"text": rows, "id": ids}), id="id", threshold=0.4)
    assert result.summary.near_duplicates == 150
    monkeypatch.setattr(page_module, "PAIR_BYTES", page_module.PAIR_BYTES[:1])  # none smaller is needed
    assert len(report(result, tmp_path).encode()) > 1_000_000
    assert {document["id"] for document in data_of(tmp_path / "page.html")["documents"]} == {None}, "too long to be named"


def test_outputs_are_guarded(run, corpus, tmp_path):
    result = run()
    (tmp_path / "there.html").write_text("mine")
    with pytest.raises(la.errors.OutputError, match="exists; pass force=True"):
        result.report(tmp_path / "there.html")
    with pytest.raises(la.errors.OutputError, match="would replace the input"):
        result.report(corpus / "a.jsonl", force=True)
    with pytest.raises(la.errors.ParameterError, match="texts must be one of full, none, hash; got 'some'"):
        result.report(tmp_path / "page.html", texts="some")
    result.close()
    with pytest.raises(la.errors.ParameterError, match="this result is closed"):
        result.report(tmp_path / "page.html")


def test_an_input_that_changed_is_an_error_and_leaves_nothing(tmp_path):
    (tmp_path / "in.jsonl").write_text('{"text": "one two three four five"}\n{"text": "one two three four five!"}\n')
    result = la.dedup(tmp_path / "in.jsonl")
    (tmp_path / "in.jsonl").write_text('{"text": "one"}\n')
    with pytest.raises(la.errors.InputDataError, match="changed during the run"):
        result.report(tmp_path / "page.html")
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]
