"""``semblance index`` and ``semblance overlap`` from the outside."""

import json

import pytest
from click.testing import CliRunner

import semblance as sb
from semblance.cli.main import main, program

TEXTS = ["the quick brown fox jumps over the lazy dog", "pack my box with five dozen liquor jugs", "an entirely different text"]


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps({"text": text, "key": f"k{i}"}) + "\n" for i, text in enumerate(TEXTS)))
    return path


def run(*arguments, code=0):
    done = CliRunner().invoke(program, [str(a) for a in arguments])
    assert done.exit_code == code, (done.output, done.exception)
    return done


def failure(capsys, *arguments):
    with pytest.raises(SystemExit) as stop:
        main([str(a) for a in arguments])
    return stop.value.code, capsys.readouterr().err


def test_a_life(tmp_path, corpus, capsys):
    path = tmp_path / "x.idx"
    assert "0 documents, minhash" in run("index", "create", path, "-t", "0.7", "--width", "2", "--keep-text").output
    assert run("index", "add", path, corpus, "--id", "key").output == "3 documents more, 3 in all\n"
    code, error = failure(capsys, "index", "add", path, corpus, "--id", "key")
    assert code == 2 and "the id 'k0' is in the index already" in error
    assert run("index", "add", path, corpus, "--id", "key", "--replace").output == "0 documents more, 3 in all\n"
    done = run("index", "query", path, corpus, "--id", "key")
    assert done.stderr == "3 documents looked up, 3 matches\n"
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(row["query"], row["id"], row["resemblance"]) for row in rows] == [(f"k{i}", f"k{i}", 1.0) for i in range(3)]
    run("index", "query", path, corpus, "--first", "-o", tmp_path / "found.csv")
    assert (tmp_path / "found.csv").read_text().splitlines()[0] == "query,id,estimated_resemblance,standard_error,resemblance"
    done = run("index", "remove", path, "k1", "nobody")
    assert done.stdout == "1 removed, 2 left\n" and "1 of the ids were not in the index" in done.stderr
    (tmp_path / "ids.txt").write_text("k2\n")
    assert run("index", "remove", path, "--from", tmp_path / "ids.txt").output == "1 removed, 1 left\n"
    assert "1 document," in run("index", "compact", path).output
    assert json.loads(run("index", "info", path, "--json").output)["documents"] == 1
    said = run("index", "info", path).output
    assert "documents            1\n" in said and "keep text            yes\n" in said and "damaged              none\n" in said
    assert "all is well: 1 document in 1 segment" in run("index", "check", path).output
    assert "1 document written" in run("index", "export", path, "-o", tmp_path / "out.jsonl").output
    assert json.loads((tmp_path / "out.jsonl").read_text()) == {"id": "k0", "text": TEXTS[0]}


def test_damage_is_named(tmp_path, corpus, capsys):
    path = tmp_path / "x.idx"
    run("index", "create", path)
    run("index", "add", path, corpus)
    run("index", "add", path, corpus, "--id", "key")
    segment = path / "segment-00000000"
    data = bytearray(segment.read_bytes())
    data[-1000] ^= 4
    segment.write_bytes(data)
    done = run("index", "check", path, code=1)
    assert "segment-00000000: damaged" in done.stderr
    done = run("index", "export", path, "--salvage", "-o", tmp_path / "rest.jsonl")
    assert "segment-00000000: damaged" in done.stderr and "3 documents written" in done.stdout


def test_errors(tmp_path, corpus, capsys):
    assert failure(capsys, "index", "info", tmp_path / "none") == (
        1,
        f"error: {tmp_path / 'none'}: no index here; semblance index create makes one\n",
    )
    run("index", "create", tmp_path / "x", "--kind", "simhash", "--radius", "4")
    assert failure(capsys, "index", "create", tmp_path / "x")[0] == 1
    code, error = failure(capsys, "index", "create", tmp_path / "y", "--radius", "4")
    assert code == 2 and "no parameter 'radius'" in error
    code, error = failure(capsys, "index", "remove", tmp_path / "x")
    assert code == 2 and "no id was given" in error
    (tmp_path / "bad.txt").write_bytes(b"\xff\xfe broken")
    code, error = failure(capsys, "index", "add", tmp_path / "x", tmp_path / "bad.txt")
    assert code == 1 and "invalid UTF-8" in error
    with sb.Index.open(tmp_path / "x"):
        code, error = failure(capsys, "index", "add", tmp_path / "x", corpus)
        assert code == 1 and "--wait" in error


def test_overlap(tmp_path, corpus):
    (tmp_path / "eval.jsonl").write_text(json.dumps({"text": "my box with five dozen liquor"}) + "\n")
    done = run("overlap", corpus, "--against", tmp_path / "eval.jsonl", "--width", "2", "-o", tmp_path / "clean.jsonl",
               "--matches", tmp_path / "matches.csv")  # fmt: skip
    assert "overlapping             1   (containment >= 0.8, measured; 1 pair)" in done.output
    assert [json.loads(line)["key"] for line in (tmp_path / "clean.jsonl").read_text().splitlines()] == ["k0", "k2"]
    assert (tmp_path / "matches.csv").read_text().splitlines()[1].endswith(",0.7142857142857143,1.0")
    said = json.loads(run("overlap", corpus, "--against", tmp_path / "eval.jsonl", "--measure", "resemblance", "--json").output)
    assert said["overlapping"] == 0
