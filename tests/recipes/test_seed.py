import json

import pytest
from cli.commands import run
from json_lines import write_lines
from listing import find_pairs

import lookalike as la
from lookalike.errors import ParameterError


def test_the_settings_have_a_number_of_64_bits_each_time_another():
    seeds = {la.Settings(seed="random").seed for _ in range(50)}
    assert len(seeds) == 50 and all(type(seed) is int and 0 <= seed < 1 << 64 for seed in seeds)
    assert max(seeds) >= 1 << 60 and la.Settings().seed == 1
    for wrong in ("Random", "", "1", b"random", ["random"]):
        with pytest.raises(ParameterError, match='seed must be an integer or "random"; got '):
            la.Settings(seed=wrong)
        with pytest.raises(ParameterError, match="seed must be of type int"):
            la.Index.create("never-made", seed=wrong)


def test_the_number_is_stated_everywhere_and_repeats_the_job(tmp_path):
    """Estimates depend on the seed, so that equal ones tell that it was used."""
    words = [f"word{i}" for i in range(60)]
    texts = [" ".join([*words[:i], "other", *words[i:]]) for i in range(0, 60, 3)]
    how = {"verify": "sketch", "threshold": 0.4}
    first, other = (find_pairs(texts, seed="random", **how) for _ in range(2))
    again = find_pairs(texts, seed=first.provenance["parameters"]["seed"], **how)
    assert len(first.table) and first.table == again.table != other.table
    result = la.dedup(texts, seed="random")
    result.save(tmp_path / "saved")
    said = [result.settings.to_dict()["seed"], result.provenance["parameters"]["seed"], result.rethreshold(0.9).settings.seed]
    assert {*said, la.Result.load(tmp_path / "saved").settings.seed} == {result.settings.seed}


def test_a_resumed_job_keeps_its_seed(tmp_path):
    given = {"data": write_lines(tmp_path / "in.jsonl", ["one two three", "quite another text"]), "work": tmp_path / "work"}
    first = la.dedup(**given, seed="random")
    seed = first.settings.seed
    del first
    with pytest.raises(ParameterError, match=f"inputs: seed was {seed}, is 1"):
        la.dedup(**given)
    again = la.dedup(**given, seed="random")
    assert again.settings.seed == seed
    again.close()
    assert la.dedup(**given, seed="random").settings.seed != seed  # nothing is left to resume


def test_commands_draw_a_seed_and_state_it(capfd, tmp_path):
    path = write_lines(tmp_path / "in.jsonl", ["one two three", "quite another text"])
    for command in ("dedup", "pairs"):
        number = run(capfd, command, path, "--set", "seed=random")[1].split("--set seed=")[1].split()[0]
        again = run(capfd, command, path, "--set", f"seed={number}", "--json")[1]
        assert json.loads(again)["settings"]["seed"] == int(number)
        assert "seed drawn" not in run(capfd, command, path, "--set", "seed=5")[1]
