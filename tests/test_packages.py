import subprocess
import sys
import zipfile

from lookalike.packages import added, extras


def metadata(points="[lookalike.toys]\na = one:a\n"):
    return {"METADATA": "Metadata-Version: 2.1\nName: one\nVersion: 1.0\n", "entry_points.txt": points}


def install(folder, **given):
    folder.mkdir(parents=True)
    for name, text in metadata(**given).items():
        (folder / name).write_text(text)


def found(group="lookalike.toys"):
    return [(point.name, point.value) for point in added(group)]


def test_entry_points_are_found_by_group_and_sorted_by_name(tmp_path, monkeypatch):
    install(tmp_path / "one-1.0.dist-info", points="[lookalike.toys]\nz = one:z\nb = one:b\n[other]\nc = one:c\n")
    install(tmp_path / "two-1.0.egg-info", points="[lookalike.toys]\na = two:a\n")
    assert found() == []
    monkeypatch.syspath_prepend(str(tmp_path))
    assert found() == [("a", "two:a"), ("b", "one:b"), ("z", "one:z")]
    assert found("lookalike.toy") == []  # named by a part of a longer name


def test_the_working_folder_and_folders_that_are_not_there(tmp_path, monkeypatch):
    install(tmp_path / "one-1.0.dist-info")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path / "none"), "", *sys.path])
    assert found() == [("a", "one:a")]


def test_packages_in_a_zip_file_are_found(tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as file:
        for name, text in metadata().items():
            file.writestr(f"one-1.0.dist-info/{name}", text)
    monkeypatch.syspath_prepend(str(tmp_path / "all.zip"))
    assert found() == [("a", "one:a")]


def test_packages_of_another_finder_are_found(tmp_path, monkeypatch):
    from importlib.metadata import DistributionFinder, PathDistribution

    class Finder(DistributionFinder):
        def find_spec(self, name, path=None, target=None):
            return None

        def find_distributions(self, context=None):
            return [PathDistribution(tmp_path / "hidden/one-1.0.dist-info")]

    install(tmp_path / "hidden/one-1.0.dist-info")
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder()])
    assert found() == [("a", "one:a")]


def test_metadata_is_only_loaded_where_a_package_names_the_group():
    look = "added({!r}); print('importlib.metadata' in sys.modules)"
    code = "; ".join(
        ["import sys; from lookalike.packages import added", *map(look.format, ("lookalike.toys", "console_scripts"))]
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


def test_an_extra_is_installed_if_all_its_packages_are(tmp_path, monkeypatch):
    needs = [
        *(f"{name}; extra == '{extra}'" for extra, name in ((1, "here"), (2, "here"), (2, "gone"))),
        "x[1,2]; extra == 'all'",
    ]
    for name, lines in (("lookalike", needs), ("here", [])):
        (tmp_path / f"{name}-1.dist-info").mkdir()
        said = ["Metadata-Version: 2.1", f"Name: {name}", "Version: 1", *(f"Requires-Dist: {line}" for line in lines)]
        (tmp_path / f"{name}-1.dist-info/METADATA").write_text("\n".join(said))
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert extras() == {"1": True, "2": False}
