"""All texts that a user can see, of code, pages and help, by file: tests/messages.txt has them, and ``make wording`` stores them.

With ``--check``: name the words in them that nobody should have to read.
"""

import ast
import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import click

from lookalike.cli.main import program

TOP = Path(__file__).parents[1]
ROOT, STORED = TOP / "src/lookalike", TOP / "tests/messages.txt"
# Words of another language, or of politeness, with what to write instead.
BANNED = {
    r"please": "(the request alone)", r"anew": "again", r"heed\w*": "ignore, use", r"fore(see|saw|told)\w*": "estimate", r"whoever": "anyone who",
    r"likewise": "also", r"stands? for": "is", r"in place of": "instead of", r"beside": "next to", r"goes on": "continues",
    r"but for": "apart from", r"vouched": "guaranteed", r"thereby": "so", r"(?<![Tt]here )(?:is|are) no (?!longer)[a-z]+": "is not a",
    r"do(?:es)? not fit its": "does not match its", r"whatever (?:the|its|their|it)": "regardless of", r"of use from": "useful from",
}  # fmt: skip
WORDS = re.compile(r"[A-Za-z]{2,},? (?:[a-z(-]|\{)")
CODE = re.compile(r"```.*?```|`[^`]*`|<!--.*?-->|\]\([^)]*\)|^::: .*?$", re.DOTALL | re.MULTILINE)
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


def texts_of(node: ast.AST) -> Iterator[str]:
    """Yield the texts of a module or expression, docstrings apart."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
            continue
        if isinstance(child, ast.JoinedStr) or (isinstance(child, ast.Constant) and not isinstance(node, ast.JoinedStr)):
            yield rendered(child)
        yield from texts_of(child)


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


def wording() -> str:
    """Return all texts."""
    lines = [f"# {name} --help\n{' '.join((one.help or '').split())}\n" for name, one in commands(program, "lookalike")]
    files = [file for end in ("py", "html", "js") for file in ROOT.rglob(f"*.{end}")]
    for file in sorted(files):
        texts = [" ".join(text.split()) for text in texts_of_file(file)]
        kept = dict.fromkeys(text for text in texts if WORDS.search(text) and not NO_TEXT.search(text))
        lines += ["\n".join((f"# {file.relative_to(ROOT)}", *kept, ""))] if kept else []
    return "\n".join(lines)


def banned(text: str, name: str = STORED.name) -> list[str]:
    """Return the lines with words that are banned, what is filled in apart."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        for word, better in BANNED.items():
            if (hit := re.search(rf"\b{word}\b", re.sub(r"\{\w+\}", "{}", line))) and not line.startswith("#"):
                found.append(f"{name}:{number}: {hit[0]!r}, better {better!r}: {line:.160}")
    return found


def banned_in_pages() -> list[str]:
    """Return the same of the pages for users, code apart."""
    pages = [TOP / "README.md", TOP / "CHANGELOG.md", TOP / "SECURITY.md", *sorted((TOP / "docs").rglob("*.md"))]
    texts = ((page, CODE.sub(lambda code: re.sub(r"[^\n]", "", code[0]), page.read_text(encoding="utf-8"))) for page in pages)
    return [line for page, text in texts for line in banned(text, str(page.relative_to(TOP)))]


def main() -> None:
    """Store all texts, or check the words in them."""
    if sys.argv[1:] != ["--check"]:
        STORED.write_text(wording(), encoding="utf-8")
    elif found := banned(wording()) + banned_in_pages():
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
