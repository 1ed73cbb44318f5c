import gc
import os

import pytest

from lookalike.files import publication

HOW = "-t 0.6 --width 1 --id id --history history/ --work job --quiet"


def interrupt(*_):
    raise KeyboardInterrupt


@pytest.mark.parametrize("late", [False, True])
def test_a_job_with_a_work_folder_goes_on(crawl, run, monkeypatch, late):
    """Killed before or after its outputs have appeared, all together."""

    def week(number):
        return run(f"dedup w{number} {HOW} -o fresh/w{number}/ --removed gone{number}.jsonl")

    publish = publication.Publication.publish
    week(0)
    with monkeypatch.context() as broken:
        broken.setattr(publication.Publication, "publish", lambda *given: interrupt(late and publish(*given)))
        assert week(1)[0] == 130
    gc.collect()  # whose lock ends with a process
    assert os.path.exists("job/job.json") and os.path.exists("fresh/w1") is os.path.exists("gone1.jsonl") is late
    assert week(1)[:2] == (0, "") and os.path.exists("gone1.jsonl") and not os.listdir("job")
    assert week(2)[0] == 0
