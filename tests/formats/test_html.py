"""Files of web pages: a document each, of any encoding, compared by their text, copied as they are."""

import gzip
import shutil

import pytest
from formats.jobs import put, reasons, refused
from json_lines import read_lines

import lookalike as la
from lookalike.text.html import page_of

ARTICLE = "<article>" + "".join(
    f"<p>Paragraph {i} says that the river number {i} rises in the hills and falls into the sea.</p>" for i in range(30)
) + "</article>"  # fmt: skip
MENU = "<nav><ul>" + "".join(f"<li>Entry {i} of the menu</li>" for i in range(60)) + "</ul></nav>"


def page(body, head=""):
    return f"<!doctype html><html><head>{head}<title>t</title></head><body>{body}</body></html>"


@pytest.fixture
def site(tmp_path):
    """A folder of pages that differ in their frames, and of texts."""
    folder = tmp_path / "site"
    folder.mkdir()
    put(folder / "a.html", page(ARTICLE))
    put(folder / "b.htm", page(MENU + ARTICLE))
    put(folder / "c.html.gz", gzip.compress(page(ARTICLE, "<script>x = 1</script>").encode()))
    put(folder / "d.xhtml", page(ARTICLE.replace("river", "road")))
    put(folder / "e.txt", "a text beside them that is like none of them at all")
    return folder


def kept_names(result):
    return [name.rpartition("/")[2] for name in result.kept["id"].to_pylist()]


@pytest.mark.parametrize("how", [{}, {"threads": 1}, {"html": True}, {"memory": "400MB"}])
def test_a_site(site, tmp_path, how):
    result = la.dedup(site, **how)
    assert kept_names(result) == ["a.html", "d.xhtml", "e.txt"]
    result.write(tmp_path / "out/")
    result.write(tmp_path / "out.jsonl")
    written = {p.name: p.read_bytes() for p in (tmp_path / "out").glob("*ml")}
    assert written == {name: (site / name).read_bytes() for name in ("a.html", "d.xhtml")}
    first = read_lines(tmp_path / "out.jsonl")[0]
    assert first["text"].startswith("Paragraph 0 says that the river number 0 rises") and first["id"] == f"{site}/a.html"


def test_menus_count_if_asked(site, tmp_path):
    """Also when texts are read again: from a saved result, and from saved sketches."""
    how = {"boilerplate": True, "threshold": 0.9}
    result = la.dedup(site, **how)
    assert kept_names(result) == ["a.html", "b.htm", "d.xhtml", "e.txt"]
    result.save(tmp_path / "saved")
    result.save_sketches(tmp_path / "history")
    loaded = la.Result.load(tmp_path / "saved")
    texts = loaded.inputs.texts(loaded.decisions["position"].to_numpy(), loaded.settings)
    assert b"Entry 59 of the menu" in list(texts.values())[1]
    other = shutil.copytree(site, tmp_path / "other")
    assert la.dedup(other, against=tmp_path / "history", **how).kept.num_rows == 0
    refused("boilerplate", la.dedup, other, against=tmp_path / "history", threshold=0.9, error=la.errors.ParameterError)


def test_tags_count_in_texts(site):
    put(site / "b.htm", page(f"{MENU}<p>One two.</p>"))
    assert la.dedup(site, format="txt", glob="[ab].*").kept.num_rows == 2


@pytest.mark.parametrize(
    ("encoding", "declared", "text"),
    [
        ("utf-8", "", "Gr\u00fc\u00dfe"), ("utf-8-sig", "", "Gr\u00fc\u00dfe"), ("utf-8", "latin-1", "Gr\u00fc\u00dfe"),
        ("latin-1", "iso-8859-1", "Gr\u00fc\u00dfe aus K\u00f6ln"), ("cp1251", "windows-1251", "\u043f\u0440\u0438\u0432\u0435\u0442"),
        ("shift_jis", "shift_jis", "\u3053\u3093\u306b\u3061\u306f"), ("gb18030", "gb2312", "\u4f60\u597d\u4e16\u754c"),
        ("iso2022_jp", "iso-2022-jp", "\u3053\u3093\u306b\u3061\u306f"), ("utf-16", "", "Gr\u00fc\u00dfe"), ("euc_kr", "euc-kr", "\uc548\ub155"),
        ("cp1251", "", "\u041f\u0440\u0438\u0432\u0435\u0442, \u043a\u0430\u043a \u0434\u0435\u043b\u0430? \u0421\u0435\u0433\u043e\u0434\u043d\u044f \u0445\u043e\u0440\u043e\u0448\u0430\u044f \u043f\u043e\u0433\u043e\u0434\u0430 " * 9),
        ("utf-8", "of-nobody", "Gr\u00fc\u00dfe"),
    ],
)  # fmt: skip
def test_encodings(encoding, declared, text):
    """As the page says, but UTF-8 where it is that; where it says nothing, as it looks."""
    head = f'<meta charset="{declared}">' if declared else ""
    assert page_of(page(f"<p>{text}</p>", head).encode(encoding)) == page(f"<p>{text}</p>", head)


POLISH = "Zażółć gęślą jaźń, żeby źdźbła trawy rosły nad rzeką " * 9
RUSSIAN = "Москва является столицей России, крупнейший город страны. " * 9
LATE = f"<script>{'x = 1;' * 2000}</script><!-- <meta charset='koi8-r'> --><meta http-equiv=Content-Type content='text/html; charset={{}}'>"


@pytest.mark.parametrize(
    ("text", "head", "encoding", "end"),
    [
        (POLISH, LATE.format("iso-8859-2"), "iso-8859-2", b""), (POLISH, LATE.format("utf-8"), "cp1250", b""),
        (RUSSIAN, "<meta charset=utf-8>", "cp1251", b""), (RUSSIAN, "<meta charset=utf-16>", "cp1251", b""),
        (POLISH, "", "utf-16-le", b""), (POLISH, "<meta charset=utf-8>", "utf-16-be", b""), (POLISH, "", "utf-8", b"\xc5"),
        (POLISH, "<meta charset=iso-8859-2>", "utf-8", "ż".encode()[:1]),
    ],
)  # fmt: skip
def test_what_a_page_says_of_its_encoding_late_or_wrongly(tmp_path, text, head, encoding, end):
    """Also of one that was cut within a character."""
    put(tmp_path / "a.html", page(f"<p>{text}</p>"))
    put(tmp_path / "b.html", page(f"<p>{text}</p>", head).encode(encoding) + end)
    assert reasons(tmp_path, threshold=1.0)[1] in ("exact", "near")


@pytest.mark.parametrize(
    "content", [bytes(range(256)) * 4, b"\0" * 99, b"\x1f\x9d\x90\1\2\3", b"\xff" * 4 + b"\xa8\0\0\0\x10\0\0\0\1"]
)
def test_what_is_no_page_is_left_out_and_named(tmp_path, caplog, content):
    put(tmp_path / "a.html", page(f"<p>{POLISH}</p>", "\x0c\x1b"))
    put(tmp_path / "b.html", content)
    assert reasons(tmp_path) == ["kept", "skipped"]
    assert caplog.records[0].getMessage().startswith(f"left out: {tmp_path}/b.html is ")
