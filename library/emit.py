"""Emit the kernels as objects for a linker: `python library/emit.py FOLDER [TRIPLE]`.

Numba compiles each kernel once, for its only signature; LLVM turns that into one object for each level of processors. Beside
the objects stands ``kernels.h``: how a kernel is called, and what arguments it takes, for the extension module of ``module.c``.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

SOURCE = Path(__file__).resolve().parents[1] / "src"
LEVELS = {
    "x86_64": ("x86-64", "x86-64-v3", "x86-64-v4"),
    "aarch64": ("generic",),
    "arm64": ("apple-m1",),
}
"""Processors that get code of their own, by the first word of the triple; those with more come last."""
FEATURES = {"x86-64-v4": "-prefer-256-bit"}
"""Loops multiply 64-bit numbers, twice as fast in vectors of 512 bits; LLVM keeps to 256 for the first such processors."""
COUNTED = re.compile(r"(define [^\n]*@NRT_(?:inc|dec)ref\([^\n]*\{)\n.*?\n\}", re.DOTALL)
"""Functions that count references to arrays: here arrays belong to Python, which holds them during a call."""
MOST_WORDS, MOST_RESULTS = 256, 4  # that module.c has room for
LETTERS = {"int": "i", "uint": "u", "float": "f", "bool": "?"}


def prepare(cache: str) -> None:
    """Let Numba compile for a processor that many have, without what stands in the way of that."""
    for name in [name for name in os.environ if name.startswith("NUMBA_")]:
        del os.environ[name]
    os.environ |= {
        "NUMBA_CPU_NAME": "x86-64-v3" if os.uname().machine == "x86_64" else "generic",
        "NUMBA_CPU_FEATURES": "",
        "NUMBA_CACHE_DIR": cache,  # empty: of code from a cache Numba does not tell the assembly
        "NUMBA_DISABLE_INTEL_SVML": "1",
        "LOOKALIKE_KERNELS": "jit",
    }
    sys.path.insert(0, str(SOURCE))


def kernels() -> dict[str, Any]:
    """Return all kernels by their names, ``module.function``."""
    package = import_module("lookalike.kernels")
    kind = import_module("lookalike.kernels._jit").Kernel
    found = {}
    for module in sorted(info.name for info in iter_modules(package.__path__)):
        held = import_module(f"lookalike.kernels.{module}")
        for name, value in vars(held).items():
            if isinstance(value, kind) and value.py_func.__module__ == held.__name__:
                found[f"{module}.{name}"] = value  # by the name in its module: two kernels may come of one function
    return found


def symbol(name: str) -> str:
    """Return what a kernel is called in the objects."""
    return name.replace(".", "__")


def do_nothing(function: re.Match[str]) -> str:
    """Return a function of LLVM's assembly with its head, and a body that returns at once."""
    return "\n".join([function[1], "ret void", "}"])


def assemble(found: dict[str, Any]) -> Any:
    """Compile all kernels into one module of LLVM, in which only they can be seen from outside."""
    import llvmlite.binding as llvm

    whole = llvm.parse_assembly("")
    for name, kernel in found.items():
        kernel.compile(None)
        (compiled,) = kernel.overloads.values()
        part = llvm.parse_assembly(COUNTED.sub(do_nothing, compiled.library.get_llvm_str()))
        for thing in (*part.functions, *part.global_variables):
            if not thing.is_declaration and thing.name != compiled.fndesc.llvm_func_name:
                thing.linkage = "internal"
        main = part.get_function(compiled.fndesc.llvm_func_name)
        main.name, main.linkage = symbol(name), "external"
        whole.link_in(part)
    return whole


def emit(whole: Any, level: str, triple: str, path: Path) -> None:
    """Write the object of one level of processors; its symbols end in the level."""
    import llvmlite.binding as llvm

    target = llvm.Target.from_triple(triple)
    machine = target.create_target_machine(cpu=level, features=FEATURES.get(level, ""), opt=3, reloc="pic", codemodel="default")
    part = llvm.parse_assembly(str(whole))
    part.triple, part.data_layout = triple, str(machine.target_data)
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(3))
    builder.getModulePassManager().run(part, builder)  # wrappers for Python's objects go, too, since nobody calls them now
    for function in part.functions:
        if not function.is_declaration and function.linkage.name == "external":
            function.name += suffix(level)
            function.visibility = "hidden"
    path.write_bytes(machine.emit_object(part))


def suffix(level: str) -> str:
    """Return a level as part of a symbol."""
    return "__" + level.replace("-", "_")


def field(kind: Any) -> list[str]:
    """Return the C initializers of an argument: kind, element, dimensions, is written to, is contiguous, how many follow."""
    from numba import types

    if isinstance(kind, types.Array):
        letter, size = LETTERS[str(kind.dtype).rstrip("0123456789")], getattr(kind.dtype, "bitwidth", 8) // 8
        return [f"{{ARRAY, '{letter}', {size}, {kind.ndim}, {int(kind.mutable)}, {int(kind.layout == 'C')}, 0}}"]
    if isinstance(kind, types.BaseTuple):
        inside = [field(item) for item in kind.types]
        return [f"{{TUPLE, 0, 0, 0, 0, 0, {len(inside)}}}", *(line for lines in inside for line in lines)]
    return [f"{{{scalar(kind)}, 0, 0, 0, 0, 0, 0}}"]


def words(kind: Any) -> int:
    """Return how many words module.c passes for an argument."""
    from numba import types

    if isinstance(kind, types.Array):
        return 5 + 2 * kind.ndim
    return sum(words(item) for item in kind.types) if isinstance(kind, types.BaseTuple) else 1


def scalar(kind: Any) -> str:
    """Return what module.c calls a scalar."""
    return {"int64": "INT64", "uint64": "UINT64", "float64": "FLOAT64", "bool": "BOOL", "none": "NOTHING"}[str(kind)]


def result(kind: Any) -> tuple[str, int]:
    """Return the kind of a result and how many there are."""
    from numba import types

    if isinstance(kind, types.BaseTuple):
        (only,) = {scalar(item) for item in kind.types}
        if only not in ("INT64", "UINT64") or len(kind.types) > MOST_RESULTS:
            raise SystemExit(f"module.c does not return {kind}")
        return only, len(kind.types)
    return scalar(kind), 1


def header(found: dict[str, Any], whole: Any, levels: tuple[str, ...]) -> str:
    """Describe the kernels in C."""
    lines, table = [], []
    for name, kernel in found.items():
        main, (signature,) = whole.get_function(symbol(name)), kernel.nopython_signatures
        kinds = [str(argument.type) for argument in main.arguments][2:]  # after those of the result and of an exception
        passed = ", ".join(["result", "&raised", *(_passed(kind, at) for at, kind in enumerate(kinds))])
        declared = ", ".join(["void *", "void **", *(_c_type(kind) for kind in kinds)])
        for level in levels:
            function = symbol(name) + suffix(level)
            lines += [
                f"int32_t {function}({declared});",
                f"static int32_t call_{function}(const union word *w, void *result)",
                f"{{ void *raised = 0; (void)w; return {function}({passed}); }}",
            ]
        fields = [line for argument in signature.args for line in field(argument)]
        if len(kinds) > MOST_WORDS or len(kinds) != sum(words(argument) for argument in signature.args):
            raise SystemExit(f"{name} takes {len(kinds)} words, which is not what module.c passes on")
        lines.append(f"static const struct field of_{symbol(name)}[] = {{{', '.join(fields)}}};")
        names = ", ".join(f'"{given}"' for given in kernel.__code__.co_varnames[: len(signature.args)])
        lines.append(f"static const char *const names_{symbol(name)}[] = {{{names}}};")
        kind, count = result(signature.return_type)
        calls = ", ".join(f"call_{symbol(name)}{suffix(level)}" for level in levels)
        key = f"{kernel.__module__.rpartition('.')[2]}.{kernel.__name__} {kernel.declared}"
        counts = f"{len(signature.args)}, {len(kinds)}, {kind}, {count}"
        table.append(f'{{"{name}", "{key}", {counts}, of_{symbol(name)}, names_{symbol(name)}, {{{calls}}}}},')
    lines.append(f"#define LEVELS {len(levels)}")
    lines.append("static const char *const level_names[] = {" + ", ".join(f'"{level}"' for level in levels) + "};")
    return "\n".join([*lines[-2:], "KERNEL_TYPES", *lines[:-2], "static const struct kernel kernels[] = {", *table, "};", ""])


def _c_type(kind: str) -> str:
    if kind.endswith("*") or kind == "ptr":
        return "void *"
    return {"i64": "int64_t", "i8": "uint8_t", "i1": "uint8_t", "double": "double"}[kind]


def _passed(kind: str, at: int) -> str:
    member = {"void *": "pointer", "int64_t": "number", "uint8_t": "number", "double": "real"}[_c_type(kind)]
    return f"({_c_type(kind)})w[{at}].{member}"


def main(folder: Path, triple: str | None = None) -> list[Path]:
    """Write header and objects; return the objects."""
    folder.mkdir(parents=True, exist_ok=True)
    machine = triple.split("-")[0] if triple else os.uname().machine
    if machine not in LEVELS:
        raise SystemExit(f"there is no list of levels for processors of the kind {machine}: see LEVELS in library/emit.py")
    levels = LEVELS[machine]
    with tempfile.TemporaryDirectory() as cache:
        prepare(cache)
        import llvmlite.binding as llvm

        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
        triple = triple or llvm.get_process_triple()
        found = kernels()
        whole = assemble(found)
    (folder / "kernels.h").write_text(header(found, whole, levels))
    objects = [folder / f"kernels{suffix(level)}.o" for level in levels]
    for level, path in zip(levels, objects, strict=True):
        emit(whole, level, triple, path)
    return objects


if __name__ == "__main__":
    for made in main(Path(sys.argv[1]), *sys.argv[2:]):
        print(made)
