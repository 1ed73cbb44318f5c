"""The command compare reads two files as dedup does: the same pair has the same figure."""

import gzip
import json
import zipfile

import pytest

import lookalike as la

from .commands import run

SENTENCE = "so the old keeper of the light wrote down each night what the sea had brought"
WORDS = SENTENCE.split()
MENU = "<nav><ul>" + "".join(f'<li><a href="/{word}">{word}</a></li>' for word in WORDS) + "</ul></nav>"


def page(*extra):
    text = " ".join([*WORDS, *WORDS[::-1], *extra])
    return (f"<html><head><title>A page</title><script>var a = 1;</script></head><body>{MENU}<article><p>{text}</p>"
            f"<p>{text}</p></article></body></html>").encode()  # fmt: skip


def mail(*extra):
    return ("From: a@b\nTo: c@d\nSubject: news\nContent-Type: text/plain\n\n" + " ".join([*WORDS, *extra])).encode()


def docx(*extra):
    from io import BytesIO

    kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    types = (f'<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
             f'<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
             f'<Override PartName="/word/document.xml" ContentType="{kind}"/></Types>')  # fmt: skip
    rels = ('<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" '
            'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
            'Target="word/document.xml"/></Relationships>')  # fmt: skip
    body = "".join(f"<w:p><w:r><w:t>{word}</w:t></w:r></w:p>" for word in [*WORDS, *extra])
    space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    made = BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("[Content_Types].xml", types)
        archive.writestr("_rels/.rels", rels)
        archive.writestr("word/document.xml", f'<w:document xmlns:w="{space}"><w:body>{body}</w:body></w:document>')
    return made.getvalue()


MAKE = {".html": page, ".html.gz": lambda *extra: gzip.compress(page(*extra)), ".eml": mail, ".docx": docx,
        ".txt": lambda *extra: " ".join([*WORDS, *extra]).encode()}  # fmt: skip


@pytest.mark.parametrize("suffix", MAKE)
@pytest.mark.parametrize("options", [{}, {"boilerplate": True}, {"unit": "char", "width": 4}])
def test_the_figure_is_that_of_dedup(tmp_path, capsys, suffix, options):
    pair = tmp_path / f"a{suffix}", tmp_path / f"b{suffix}"
    pair[0].write_bytes(MAKE[suffix]())
    pair[1].write_bytes(MAKE[suffix]("and", "what", "it", "took"))
    words = [word for name, value in options.items() for word in ("--set", f"{name}={str(value).lower()}")]
    code, out, _ = run(capsys, "compare", *pair, *words, "--json")
    (found,) = la.pairs(tmp_path, threshold=0.05, recall=1, **options).to_pylist()
    assert code == 0 and 0 < json.loads(out)["resemblance"] == found["resemblance"] < 1


def test_markup_in_texts_is_read_with_html(tmp_path, capsys):
    for name, extra in (("a.txt", ()), ("b.txt", ("and", "more"))):
        (tmp_path / name).write_bytes(page(*extra))
    code, out, _ = run(capsys, "compare", tmp_path / "a.txt", tmp_path / "b.txt", "--html", "--json")
    (found,) = la.pairs(tmp_path, threshold=0.05, recall=1, html=True).to_pylist()
    assert code == 0 and json.loads(out)["resemblance"] == found["resemblance"]


@pytest.mark.parametrize("suffix", [".pdf", ".docx", ".eml", ".html.gz"])
def test_a_file_that_cannot_be_read_is_named_with_the_reason(tmp_path, capsys, suffix):
    (tmp_path / "a.txt").write_text("one two three")
    path = tmp_path / f"b{suffix}"
    path.write_bytes(b"" if suffix == ".eml" else b"\x1f\x8b\x08 no such file")
    code, out, error = run(capsys, "compare", tmp_path / "a.txt", path)
    assert (code, out) == (1, "") and error.startswith(f"error: {path}: ") and "--encoding-errors" not in error


@pytest.mark.parametrize("name", ["x.rtf", "x.PNG", "x.doc", "x.xlsx"])
def test_what_is_no_text_is_refused_as_dedup_refuses_it(tmp_path, capsys, name):
    (tmp_path / name).write_bytes(b"{\\rtf1 hello}")
    (tmp_path / "y.txt").write_text("hello")
    said = [run(capsys, command, tmp_path / name, tmp_path / "y.txt") for command in ("compare", "dedup")]
    assert said[0] == said[1] and said[0][0] == 1 and "--exclude" not in said[0][2]
