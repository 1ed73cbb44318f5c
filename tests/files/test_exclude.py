"""Which files are left out, where a job cannot say it: ``tests/jobs/exclude.job`` has the rest."""

import pytest

import lookalike as la
from lookalike.errors import InputDataError

TEXT = "one two three four five six seven"


@pytest.fixture
def folder(tmp_path):
    for name in ("a.txt", "old/b.txt", "old/deep/c.txt", "new/old.txt", "config.json"):
        (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / name).write_text(f"{TEXT} {name}")
    return tmp_path / "in"


def names_of(result):
    return sorted(place.relative for split in result._job.sources for place in split.places)


def test_whole_paths_and_paths_from_here(folder, tmp_path, monkeypatch):
    exclude = ["in/config.json", f"{folder}/old", f"../{tmp_path.name}/in/new"]
    assert names_of(la.dedup("in", exclude=exclude)) == ["a.txt"]
    monkeypatch.chdir(folder / "old")
    assert names_of(la.dedup(".", exclude=["old", "./b.txt"])) == ["deep/c.txt"]
    assert names_of(la.dedup(".", exclude="deep")) == ["b.txt"]


def test_an_excluded_folder_is_not_entered(folder):
    (folder / "closed").mkdir(mode=0)
    try:
        assert len(la.dedup(folder, exclude=["*.json", "closed"])) == 4
    finally:
        (folder / "closed").chmod(0o700)


def test_the_error_of_a_stray_file_advises_it(folder):
    """But not where nothing else would be left."""
    (folder / "config.json").rename(folder / "stray.csv")
    for given, advised in ((folder, True), (folder / "stray.csv", False)):
        with pytest.raises(InputDataError, match="column 'text' is missing; columns found: ") as error:
            la.dedup(given)
        assert ("or leave the file out: exclude=" in str(error.value)) == advised
