import subprocess

import java_home


def fake(folder, version, *, rc=0):
    """A program that says that it is some Java, and otherwise what it is called with."""
    program = folder / "bin/java"
    program.parent.mkdir(parents=True)
    program.write_text(
        f'#!/bin/sh\nif [ "$1" = -version ]; then echo \'openjdk version "{version}" 2025-01-01\' >&2; exit {rc}; fi\nprintf "%s|" "$@"\n'
    )
    program.chmod(0o755)
    return folder


def test_versions(tmp_path):
    for said, version in (("17.0.15", 17), ("21", 21), ("1.8.0_402", 8), ("26-ea", 26)):
        assert java_home.version_of(fake(tmp_path / said, said)) == version
    assert java_home.version_of(tmp_path) == java_home.version_of(fake(tmp_path / "broken", "17", rc=1)) == 0


def test_an_old_java_is_passed_over(tmp_path, monkeypatch):
    old, new = fake(tmp_path / "old", "11.0.2"), fake(tmp_path / "new", "17.0.1")
    monkeypatch.setattr(java_home, "of_the_package", lambda: None)
    monkeypatch.setenv("JAVA_HOME", str(old))
    monkeypatch.setenv("PATH", "/nowhere")
    assert java_home.java_home() is None
    monkeypatch.setenv("PATH", f"{new}/bin:/bin")
    assert java_home.java_home() == new
    monkeypatch.delenv("JAVA_HOME")
    assert java_home.java_home() == new


def test_the_module_that_a_java_lacks_is_left_out(tmp_path):
    home = java_home.wrapped(fake(tmp_path / "it's java", "21"), tmp_path / "wrapped")
    said = subprocess.run(
        [home / "bin/java", "-cp", "a b", java_home.LEFT_OUT, "Main", ""], capture_output=True, text=True, check=True
    )
    assert said.stdout == "-cp|a b|Main||"
    assert java_home.version_of(home) == 21
