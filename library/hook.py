"""Builds the library of kernels into a wheel: called by hatchling.

It takes the C compiler that the environment's ``CC`` names, else ``cc``, else that of ziglang; with ``SEMBLANCE_PORTABLE=1``
the last, which links for older systems too. An editable install has no library: there, kernels are compiled on their first
call, so that they are always those of the sources. With ``SEMBLANCE_NO_LIBRARY=1`` a wheel has none either, and the build
needs no Numba; it takes the extra ``jit`` to run then.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

GLIBC = "2.17"  # of the oldest systems that a library linked by zig is for
MODULE = "_native.abi3.so"


def _on(name: str) -> bool:
    return os.environ.get(name, "") not in ("", "0")


def compiler() -> list[str] | None:
    """Return the command of the C compiler to take, if it is not that of ziglang."""
    if _on("SEMBLANCE_PORTABLE"):
        return None
    if named := os.environ.get("CC"):
        return shlex.split(named)
    return ["cc"] if shutil.which("cc") else None


def link(folder: Path, objects: list[Path], command: list[str]) -> Path:
    """Compile the extension module around the objects.

    Raises
    ------
    SystemExit
        If that fails: with what the compiler said, and the way out.
    """
    library = folder / MODULE
    shared = ["-bundle", "-undefined", "dynamic_lookup"] if sys.platform == "darwin" else ["-shared", "-s"]
    include = [f"-I{path}" for path in (folder, sysconfig.get_paths()["include"])]
    sources = [str(path) for path in (Path(__file__).with_name("module.c"), *objects)]
    options = ["-O2", "-std=c11", "-fPIC", "-fvisibility=hidden", *shared, *include, "-lm", "-o", str(library)]
    done = subprocess.run([*command, *sources, *options], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(
            f"semblance: the kernels cannot be linked:\n{done.stderr}\nA C compiler and the headers of Python are needed "
            "(on Debian: apt install gcc python3-dev). Or leave the library out and compile kernels when they are called: "
            "SEMBLANCE_NO_LIBRARY=1 pip install '.[jit]'"
        )
    return library


class LibraryHook(BuildHookInterface):
    """Adds the extension module to a wheel."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Return what the build needs besides hatchling."""
        if _on("SEMBLANCE_NO_LIBRARY"):
            return []
        return ["numba>=0.61", "numpy>=2.0", *([] if compiler() else ["ziglang"])]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the library, unless the install is editable."""
        if version == "editable" or _on("SEMBLANCE_NO_LIBRARY"):
            return
        folder, command = Path(self.root, "build", "library"), compiler()
        emitted = subprocess.run(
            [sys.executable, str(Path(__file__).with_name("emit.py")), str(folder)], capture_output=True, text=True, check=False
        )
        if emitted.returncode:
            raise SystemExit(f"semblance: the kernels cannot be compiled:\n{emitted.stderr}")
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        if command is None:
            machine = os.uname().machine
            command = [sys.executable, "-m", "ziglang", "cc", "-target", f"{machine}-linux-gnu.{GLIBC}"]
            platform = f"manylinux_{GLIBC.replace('.', '_')}_{machine}"
        library = link(folder, [Path(line) for line in emitted.stdout.splitlines()], command)
        build_data["pure_python"] = False
        build_data["tag"] = f"cp311-abi3-{platform}"
        build_data["force_include"][str(library)] = f"semblance/kernels/{MODULE}"
