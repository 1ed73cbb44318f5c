"""What is foreseen of a job on Spark: held to what was measured, and to how it must grow."""

import pytest

import lookalike as la
from lookalike.engines.spark import tables as spark_tables
from lookalike.engines.spark.engine import SparkEngine
from lookalike.recipes.spark.foresight import foresee

CORPUS = {"documents": 10**6, "bytes": 4 * 10**9, "on_disk": 2 * 10**9}
MEASURED = {
    "poems": (
        75_350,
        16_434_367,
        (446_741, 92_877_492),
        26_204_214,
        {"duplicates": 0.0136, "family": 2.07},
        la.Settings(unit="char"),
    ),
    "licences": (
        37_169,
        43_195_082,
        (11_941_125, 94_040_681),
        11_652_427,
        {"duplicates": 0.315, "family": 20.5},
        la.Settings(),
    ),
    "licences, contained": (
        37_169,
        43_195_082,
        (62_792_852, 271_479_872),
        (22_895_448, 43_394_776),
        {"duplicates": 0.595, "family": 165.7},
        la.Settings(measure="containment"),
    ),
    "poems, contained": (
        75_350,
        16_434_367,
        (23_309_680, 68_077_920),
        (41_295_029, 41_705_682),
        {"duplicates": 0.03, "family": 2.0},
        la.Settings(unit="char", measure="containment"),
    ),
}
"""Documents, bytes of text, bytes shuffled by Spark's event log, also if the driver makes no tables, bytes of tables, by containment
also then; what resembles."""


def steps(settings=None, **changed):
    """{name: step} of a job."""
    found = foresee(settings=settings or la.Settings(), **CORPUS | changed)
    return {step.name: step for step in found.steps}


@pytest.fixture
def large(monkeypatch):
    """What is true of large jobs is true of others: the driver makes no tables, and there are rounds."""
    monkeypatch.setattr(SparkEngine, "few_bytes", -1)
    monkeypatch.setattr(spark_tables, "DRIVER_BYTES", -1)


@pytest.mark.parametrize("few_bytes", [SparkEngine.few_bytes, -1])
@pytest.mark.parametrize("name", MEASURED)
def test_within_a_factor_of_two_of_what_was_measured(name, few_bytes, monkeypatch):
    n, size, both, kept, alike, settings = MEASURED[name]
    monkeypatch.setattr(SparkEngine, "few_bytes", few_bytes)
    if few_bytes < 0 and settings.measure == "containment":  # and there are rounds
        monkeypatch.setattr(spark_tables, "DRIVER_BYTES", -1)
    found, shuffled = foresee(documents=n, bytes=size, on_disk=size // 3, settings=settings, **alike), both[few_bytes < 0]
    kept = kept[few_bytes < 0] if isinstance(kept, tuple) else kept
    assert shuffled / 2 < found.shuffled < 2 * shuffled
    assert kept / 2 < found.kept < 2 * kept


def test_components_take_less_than_rounds(monkeypatch):
    walked = steps()
    monkeypatch.setattr(spark_tables, "DRIVER_BYTES", -1)
    rounds = steps()
    assert walked["texts"].kept == 0 < rounds["texts"].kept
    assert walked["verify"].shuffled < rounds["verify"].shuffled and walked["verify"].kept < rounds["verify"].kept


def test_the_steps_follow_from_the_settings(large):
    usual = steps()
    assert list(usual) == [
        "read and sketch", "order", "exact duplicates", "candidates", "crowds", "cut", "texts", "verify", "decisions"]  # fmt: skip
    assert usual["order"].shuffled == steps(la.Settings(keep="last"))["order"].shuffled == 0
    assert steps(la.Settings(keep="longest"))["order"].shuffled == usual["read and sketch"].kept
    assert steps(la.Settings(verify="sketch"))["texts"].kept == 0 < usual["texts"].kept
    more = steps(la.Settings(permutations=256))
    assert all(more[name].shuffled > usual[name].shuffled for name in ("candidates", "crowds", "cut"))
    assert more["texts"].shuffled == usual["texts"].shuffled
    assert steps(la.Settings(id="url"))["decisions"].shuffled > usual["decisions"].shuffled


def test_more_duplicates_take_more(large):
    few, many = steps(duplicates=0.1), steps(duplicates=0.6)
    assert all(many[name].shuffled > few[name].shuffled for name in ("candidates", "cut", "texts", "verify"))
    assert many["decisions"] == few["decisions"]
    assert steps(family=9)["verify"].shuffled > steps(family=3)["verify"].shuffled


def test_ten_times_the_documents_take_ten_times_as_much(large):
    one = foresee(settings=la.Settings(), **CORPUS)
    ten = foresee(settings=la.Settings(), **{name: 10 * value for name, value in CORPUS.items()})
    assert ten.shuffled == pytest.approx(10 * one.shuffled, rel=0.01) and ten.kept == pytest.approx(10 * one.kept, rel=0.01)
    assert ten.cpu_seconds == pytest.approx(10 * one.cpu_seconds, rel=0.01)
    assert ten.reading_tasks == pytest.approx(10 * one.reading_tasks, abs=10)


def test_the_cluster_has_room_for_its_tasks():
    found = foresee(settings=la.Settings(memory="2GB"), documents=10**9, bytes=4 * 10**12, on_disk=10**12)
    said = found.configuration
    cores = int(said["spark.executor.cores"]) * int(said["spark.executor.instances"])
    assert cores >= found.cores >= found.cpu_seconds / 3600 > 4
    assert int(said["spark.executor.memoryOverhead"][:-1]) << 20 >= int(said["spark.executor.cores"]) * 2 * 10**9
    assert int(said["spark.sql.shuffle.partitions"]) >= 2 * found.cores


def test_nothing_takes_nothing_much():
    found = foresee(settings=la.Settings(), documents=0, bytes=0, on_disk=0)
    assert found.shuffled == found.kept == 0 and found.cores == 1
    assert "0 documents" in str(found) and found.to_dict()["configuration"]["spark.executor.instances"] == "1"
