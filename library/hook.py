"""Builds the library of kernels into a wheel: called by hatchling.

It takes the C compiler that the environment's ``CC`` names, else ``cc``, else that of ziglang; with ``LOOKALIKE_PORTABLE=1``
the last, which links for older systems too. An editable install has no library: there, kernels are compiled on their first
call, so that they are always those of the sources. With ``LOOKALIKE_NO_LIBRARY=1`` a wheel has none either, and the build
needs no Numba; it takes the extra ``jit`` to run then.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from platform import libc_ver
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

GLIBC = "2.17"  # of the oldest systems that a library linked by zig is for
MACOS = "11.0"  # the oldest; not tried
MODULE = "_native.abi3.so"
ZIG_LINKS = sys.platform == "linux" and libc_ver()[0] == "glibc"


_NEEDED = "A C compiler and the headers of Python are needed (on Debian: apt install gcc python3-dev)."


def _on(name: str) -> bool:
    return os.environ.get(name, "") not in ("", "0")


def compiler() -> list[str] | None:
    """Return the command of the C compiler to take, if it is not that of ziglang."""
    if _on("LOOKALIKE_PORTABLE") and ZIG_LINKS:
        return None
    if named := os.environ.get("CC"):
        return shlex.split(named)
    return ["cc"] if shutil.which("cc") or not ZIG_LINKS else None


def link(folder: Path, objects: list[Path], command: list[str]) -> Path:
    """Compile the extension module around the objects.

    Raises
    ------
    SystemExit
        If that fails: with what the compiler said, and the way out.
    """
    library = folder / MODULE
    mac = ["-bundle", "-undefined", "dynamic_lookup", "-arch", os.uname().machine, f"-mmacosx-version-min={MACOS}"]
    shared = mac if sys.platform == "darwin" else ["-shared", "-s"]
    include = [f"-I{path}" for path in (folder, sysconfig.get_paths()["include"])]
    sources = [str(path) for path in (Path(__file__).with_name("module.c"), *objects)]
    options = ["-O2", "-std=c11", "-fPIC", "-fvisibility=hidden", *shared, *include, "-lm", "-o", str(library)]
    try:
        done = subprocess.run([*command, *sources, *options], capture_output=True, text=True, check=False)
    except OSError as error:
        raise _failure("linked", f"{command[0]}: {error.strerror}\n{_NEEDED}") from None
    if done.returncode:
        raise _failure("linked", f"{done.stderr}\n{_NEEDED}")
    return library


def _failure(what: str, said: str) -> SystemExit:
    return SystemExit(
        f"lookalike: the kernels cannot be {what}:\n{said}\nWithout the library, kernels are compiled when they are called: "
        "LOOKALIKE_NO_LIBRARY=1 pip install '.[jit]'"
    )


class LibraryHook(BuildHookInterface):
    """Adds the extension module to a wheel."""

    PLUGIN_NAME = "custom"
    _folder: Path | None = None

    def dependencies(self) -> list[str]:
        """Return what the build needs besides hatchling."""
        if _on("LOOKALIKE_NO_LIBRARY"):
            return []
        return ["numba>=0.61", "numpy>=2.0", *([] if compiler() else ["ziglang"])]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the library, unless the install is editable."""
        if version == "editable" or _on("LOOKALIKE_NO_LIBRARY"):
            return
        if sysconfig.get_config_var("Py_GIL_DISABLED"):
            raise _failure("linked", "Python without its lock has no stable binary interface")
        self._folder, command = Path(tempfile.mkdtemp(prefix="lookalike-library-")), compiler()
        emitting = [sys.executable, str(Path(__file__).with_name("emit.py")), str(self._folder)]
        emitted = subprocess.run(emitting, capture_output=True, text=True, check=False)
        if emitted.returncode:
            raise _failure("compiled", f"{emitted.stderr}\nThis is a fault of lookalike: please report it.")
        machine = os.uname().machine
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        if sys.platform == "darwin":
            platform = f"macosx_{MACOS.replace('.', '_')}_{machine}"
        if command is None:
            command = [sys.executable, "-m", "ziglang", "cc", "-target", f"{machine}-linux-gnu.{GLIBC}"]
            platform = f"manylinux_{GLIBC.replace('.', '_')}_{machine}"
        library = link(self._folder, sorted(self._folder.glob("*.o")), command)
        build_data["pure_python"] = False
        build_data["tag"] = f"cp311-abi3-{platform}"
        build_data["force_include"][str(library)] = f"lookalike/kernels/{MODULE}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was built on the way."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
