import gzip
import json
from itertools import product
from pathlib import Path

from document_files import docx, eml

import lookalike as la

SENTENCE = "so the old keeper of the light wrote down each night what the sea had brought"
WORDS = SENTENCE.split()
MENU = "<nav><ul>" + "".join(f'<li><a href="/{word}">{word}</a></li>' for word in WORDS) + "</ul></nav>"


def page(*extra):
    """A page with a menu, of which boilerplate removal leaves the article."""
    text = " ".join([*WORDS, *WORDS[::-1], *extra])
    head = "<html><head><title>A page</title><script>var a = 1;</script></head>"
    return f"{head}<body>{MENU}<article><p>{text}</p><p>{text}</p></article></body></html>".encode()


MAKE = {
    ".html": page,
    ".html.gz": lambda *extra: gzip.compress(page(*extra)),
    ".eml": lambda *extra: eml(" ".join([*WORDS, *extra])),
    ".docx": lambda *extra: docx(*WORDS, *extra),
    ".txt": lambda *extra: " ".join([*WORDS, *extra]).encode(),
}


def compared(run, suffix, line, **options):
    names = [f"{name}{suffix}" for name in "ab"]
    code, out, _ = run(f"compare {' '.join(names)} {line} --json")
    (found,) = la.pairs([Path(name) for name in names], threshold=0.05, recall=1, **options).to_pylist()
    assert code == 0 and 0 < json.loads(out)["resemblance"] == found["resemblance"] < 1


def test_the_figure_is_that_of_dedup(run):
    for (suffix, make), (line, options) in product(
        MAKE.items(),
        {
            "": {},
            "--set boilerplate=true": {"boilerplate": True},
            "--set unit=char --set width=4": {"unit": "char", "width": 4},
        }.items(),
    ):
        for name, extra in (("a", ()), ("b", ("and", "what", "it", "took"))):
            Path(f"{name}{suffix}").write_bytes(make(*extra))
        compared(run, suffix, line, **options)


def test_markup_in_texts_is_read_with_html(run):
    for name, extra in (("a.txt", ()), ("b.txt", ("and", "more"))):
        Path(name).write_bytes(page(*extra))
    compared(run, ".txt", "--html", html=True)


def test_a_file_that_cannot_be_read_is_named_with_the_reason(run):
    Path("a.txt").write_text("one two three")
    for suffix in (".pdf", ".docx", ".eml", ".html.gz"):
        Path(f"b{suffix}").write_bytes(b"" if suffix == ".eml" else b"\x1f\x8b\x08 no such file")
        code, out, error = run(f"compare a.txt b{suffix}")
        assert (code, out) == (1, "") and error.startswith(f"error: b{suffix}: ") and "--encoding-errors" not in error


def test_what_is_no_text_is_refused_as_dedup_refuses_it(run):
    Path("y.txt").write_text("hello")
    for name in ("x.rtf", "x.PNG", "x.doc", "x.xlsx"):
        Path(name).write_bytes(b"{\\rtf1 hello}")
        said = [run(f"{command} {name} y.txt") for command in ("compare", "dedup")]
        assert said[0] == said[1] and said[0][0] == 1 and "--exclude" not in said[0][2]
