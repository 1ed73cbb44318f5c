"""All benchmarks as one program: ``python -m benchmarks`` lists them, ``python -m benchmarks NAME ...`` runs one."""

import ast
import os
import sys
from pathlib import Path

HERE = Path(__file__).parent


def described() -> dict[str, str]:
    """Return the first paragraph of what each program says of itself, by name."""
    texts = {path.stem: path.read_text() for path in sorted(HERE.glob("*.py")) if path != Path(__file__)}
    said = {
        name: ast.get_docstring(ast.parse(text)) or "" for name, text in texts.items() if 'if __name__ == "__main__"' in text
    }
    return {name: text.partition("\n\n")[0].replace("\n", " ") for name, text in said.items()}


if __name__ == "__main__":
    programs = described()
    if not programs.keys() & {*sys.argv[1:2]}:
        print(*(f"{name:{max(map(len, programs))}}  {text}" for name, text in programs.items()), sep="\n")
        sys.exit("name one of these" if sys.argv[1:] not in ([], ["-h"], ["--help"]) else 0)
    os.execv(sys.executable, [sys.executable, str(HERE / f"{sys.argv[1]}.py"), *sys.argv[2:]])
