import time

from lookalike.engines.progress import Clock, WorkProgress


def test_pieces_under_way_do_not_count():
    told = []
    counted = WorkProgress(lambda *report: told.append(report), "matches", 15, "bytes", 2)
    for amount in (1, 2, 3, 4, 5):
        counted.add(amount)
    assert told == [("matches", 0, 15, "bytes")] * 4 + [("matches", 1, 15, "bytes")]
    counted.end()
    assert told[-1] == ("matches", 15, 15, "bytes")


def test_a_clock_gives_all_time_to_stages(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    clock = Clock()
    for stage, seconds in (("one", 2.0), ("two", 0.5), ("one", 0.25)):
        now[0] += seconds
        clock.lap(stage)
    assert clock.seconds == {"one": 2.25, "two": 0.5}
    kept = clock.seconds
    now[0] += 7.0
    clock.restart()
    now[0] += 1.0
    clock.lap("two")
    assert clock.seconds == {"two": 1.0} and kept == {"one": 2.25, "two": 0.5}, "what was told stays"
