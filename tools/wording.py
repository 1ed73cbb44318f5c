"""Print every text that a user can see: of the code, the pages and the help of commands, by file; ``make wording`` stores them."""

import ast
import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import click

from lookalike.cli.main import program

ROOT = Path(__file__).parents[1] / "src/lookalike"
WORDS = re.compile(r"[A-Za-z]{2,},? (?:[a-z(-]|\{)")
NO_TEXT = re.compile(r"^(select|with|create|import|from) |\[\\w|\(\?")


def rendered(node: ast.expr) -> str:
    """Return a text with what is filled in as its name."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(map(rendered, node.values))
    if isinstance(node, ast.FormattedValue):
        last = re.search(r"(\w+)(?:\[[^]]*\])?$", ast.unparse(node.value))
        return f"{{{last[1] if last else '...'}}}"
    return ""


def texts_of(tree: ast.AST) -> Iterator[str]:
    """Yield the texts of a module or page, docstrings apart."""
    found: list[tuple[int, int, str]] = []
    skipped = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            skipped.add(node.value)
        if isinstance(node, ast.JoinedStr):
            skipped.update(node.values)
        if isinstance(node, ast.Constant | ast.JoinedStr) and node not in skipped:
            found.append((node.lineno, node.col_offset, rendered(node)))
    yield from (text for _, _, text in sorted(found))


class Page(HTMLParser):
    """Collects the texts of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def handle_data(self, data: str) -> None:
        self.texts.append(re.sub(r"\{%.*?%\}", "", data, flags=re.S))


def texts_of_file(file: Path) -> Iterator[str]:
    """Yield the texts of a module, a page or a script."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".py":
        yield from texts_of(ast.parse(text))
    elif file.suffix == ".html":
        page = Page()
        page.feed(text)
        yield from page.texts
    else:
        yield from map("".join, re.findall(r"\"([^\"\n]+)\"|`([^`]+)`", text))


def commands(group: click.Group, before: str) -> Iterator[tuple[str, click.Command]]:
    """Yield all commands with their names."""
    for name, one in group.commands.items():
        yield f"{before} {name}", one
        if isinstance(one, click.Group):
            yield from commands(one, f"{before} {name}")


def main() -> None:
    """Print all texts."""
    for name, one in commands(program, "lookalike"):
        print(f"\n# {name} --help\n{' '.join((one.help or '').split())}")
    files = [file for end in ("py", "html", "js") for file in ROOT.rglob(f"*.{end}")]
    for file in sorted(file for file in files if file.parent.name != "kernels" or file.stem == "compiler"):
        texts = [" ".join(text.split()) for text in texts_of_file(file)]
        kept = dict.fromkeys(text for text in texts if WORDS.search(text) and not NO_TEXT.search(text))
        if kept:
            print(f"\n# {file.relative_to(ROOT)}", *kept, sep="\n")


if __name__ == "__main__":
    sys.exit(main())
