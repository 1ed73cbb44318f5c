import pyarrow.parquet as pq
from json_lines import write_lines
from samples import words

PAGE = words("word", 40)


def test_matches_have_types_where_nothing_matches(run):
    write_lines("train.jsonl", [PAGE])
    for name, reference in (("one", PAGE), ("none", "six other words than these here")):
        write_lines("test.jsonl", [reference])
        assert run(f"decontaminate train.jsonl --against test.jsonl --matches {name}.parquet")[0] == 0
    one, none = (pq.read_table(f"{name}.parquet") for name in ("one", "none"))
    assert (len(one), len(none)) == (1, 0)
    assert one.schema.equals(none.schema) and "null" not in map(str, none.schema.types)


def test_references_that_do_not_fit_are_refused_with_what_would_do(run, ends, monkeypatch):
    monkeypatch.setattr("lookalike.recipes.decontaminate.SHINGLE_BYTES", 80_000_001)
    write_lines("train.jsonl", [PAGE])
    write_lines("test.jsonl", ["what is the capital of the old country of France"])
    job = "decontaminate train.jsonl --against test.jsonl --quiet"
    said, _, needed = ends(2, f"{job} --memory 1GB", "the limit is 1,000 MB: raise --memory").partition("need ")
    assert said.endswith("the 6 shingles read of the reference documents so far ")
    enough = needed.partition(" MB")[0].replace(",", "")
    assert run(f"{job} --memory {enough}MB") == (0, "", ""), "what the message says is enough"
