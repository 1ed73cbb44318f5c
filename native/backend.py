"""Builds the package with scikit-build-core; without a C++ compiler, with that of ziglang, which is fetched for the build."""

import os
import shutil
import sys
from pathlib import Path

from scikit_build_core import build as _build
from scikit_build_core.build import *  # noqa: F403

_NO_COMPILER = "CXX" not in os.environ and not any(map(shutil.which, ("c++", "g++", "clang++")))
if _NO_COMPILER:
    os.environ["CXX"] = f"{sys.executable} -m ziglang c++ -mcpu=baseline"  # for any processor, as other compilers do unasked
for _old in sorted(Path("build/kept").glob("*/whole"), key=os.path.getmtime)[:-4]:  # see CMakeLists.txt
    shutil.rmtree(_old.parent, ignore_errors=True)


def get_requires_for_build_wheel(config_settings=None):
    """Return what the build needs besides."""
    return [*_build.get_requires_for_build_wheel(config_settings), *(["ziglang"] if _NO_COMPILER else [])]


def get_requires_for_build_editable(config_settings=None):
    """Return what the build needs besides."""
    return [*_build.get_requires_for_build_editable(config_settings), *(["ziglang"] if _NO_COMPILER else [])]


def build_editable(*given, **named):
    """Build in place, and take away what that leaves in the root."""
    made = _build.build_editable(*given, **named)
    for name in (".cmake", ".ninja_deps", ".ninja_log", ".skbuild-info.json", "CMakeCache.txt", "CMakeFiles", "CMakeInit.txt",
                 "build.ninja", "cmake_install.cmake", "libnanobind-static.a"):  # fmt: skip
        shutil.rmtree(name) if os.path.isdir(name) else os.path.exists(name) and os.remove(name)
    return made
