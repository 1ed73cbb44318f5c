"""A seed that the system draws: it is stated as a number, repeats the job, and belongs to a job that is resumed."""

import json

import pytest
from cli.commands import run
from json_lines import write_lines
from listing import find_pairs

import lookalike as la
from lookalike.errors import ParameterError

TEXTS = ["one two three four five six", "One two, three four five six", "quite another text"]


@pytest.fixture
def path(tmp_path):
    return write_lines(tmp_path / "in.jsonl", TEXTS)


def test_the_settings_have_a_number_of_64_bits_each_time_another():
    seeds = {la.Settings(seed="random").seed for _ in range(50)}
    assert len(seeds) == 50 and all(type(seed) is int and 0 <= seed < 1 << 64 for seed in seeds)
    assert max(seeds) >= 1 << 60 and la.Settings().seed == 1


def test_another_word_is_refused():
    for wrong in ["Random", "", "1", b"random", ["random"]]:
        with pytest.raises(ParameterError, match='seed must be an integer or "random"; got '):
            la.Settings(seed=wrong)
        with pytest.raises(ParameterError, match="seed must be of type int"):
            la.Index.create("never-made", seed=wrong)


def test_the_number_is_in_settings_and_provenance(tmp_path):
    result = la.dedup(TEXTS, seed="random")
    seed = result.settings.seed
    assert result.provenance["parameters"]["seed"] == result.settings.to_dict()["seed"] == seed != 1
    assert result.rethreshold(0.9).settings.seed == seed
    result.save(tmp_path / "saved")
    assert la.Result.load(tmp_path / "saved").settings.seed == seed
    assert type(find_pairs(TEXTS, seed="random").provenance["parameters"]["seed"]) is int


def test_the_number_repeats_the_job():
    """Estimates depend on the seed, so that equal ones tell that it was used."""
    words = [f"word{i}" for i in range(60)]
    texts = [" ".join([*words[:i], "other", *words[i:]]) for i in range(0, 60, 3)]
    first = find_pairs(texts, seed="random", verify="sketch", threshold=0.4)
    again = find_pairs(texts, seed=first.provenance["parameters"]["seed"], verify="sketch", threshold=0.4)
    assert len(first.table) and first.table == again.table
    assert first.table != find_pairs(texts, seed="random", verify="sketch", threshold=0.4).table


def test_a_resumed_job_keeps_its_seed(path, tmp_path):
    work = tmp_path / "work"
    first = la.dedup(path, work=work, seed="random")
    seed = first.settings.seed
    del first
    with pytest.raises(ParameterError, match=f"inputs: seed was {seed}, is 1"):
        la.dedup(path, work=work)
    again = la.dedup(path, work=work, seed="random")
    assert again.settings.seed == seed
    again.close()
    assert la.dedup(path, work=work, seed="random").settings.seed != seed  # nothing is left to resume


def test_commands_draw_a_seed_and_state_it(capfd, path, tmp_path):
    for command in ("dedup", "pairs"):
        _, out, _ = run(capfd, command, path, "--set", "seed=random")
        number = out.split("seed drawn: ")[1].split("--set seed=")[1].split()[0]
        assert json.loads(run(capfd, command, path, "--set", f"seed={number}", "--json")[1])["settings"]["seed"] == int(number)
        assert "seed drawn" not in run(capfd, command, path, "--set", "seed=5")[1]
    code, _, err = run(capfd, "dedup", path, "--set", "seed=often")
    assert code == 2 and "'often' is not a valid integer" in err
    run(capfd, "index", "create", tmp_path / "index", "--set", "seed=random")
    assert json.loads(run(capfd, "index", "info", tmp_path / "index", "--json")[1])["parameters"]["seed"] > 1
