"""What a job that fails leaves in its work folder."""

from importlib.metadata import version
from types import SimpleNamespace

import pytest

import lookalike as la
from lookalike.recipes.spark import job


def test_a_failed_job_can_be_resumed_while_its_error_is_kept(tmp_path, monkeypatch):
    """Notebooks keep the last error, and with it all that its traceback names."""

    def fail(*_):
        raise RuntimeError("no space")

    monkeypatch.setattr(job, "check_workers", fail)
    conf = SimpleNamespace(get=lambda *_: "2", set=lambda *_: None)
    session = SimpleNamespace(conf=conf, version=version("pyspark"), newSession=lambda: SimpleNamespace(conf=conf))
    (tmp_path / "a.txt").write_text("a text")
    errors = []
    for _ in range(2):
        with pytest.raises(RuntimeError, match="no space") as caught:
            la.dedup([str(tmp_path / "a.txt")], work=tmp_path / "work", engine=session)
        errors.append(caught)
