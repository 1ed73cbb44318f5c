import pytest
from formats.jobs import put, reasons

from lookalike.text.html import page_of


def page(body, head=""):
    return f"<!doctype html><html><head>{head}<title>t</title></head><body>{body}</body></html>"


ENCODINGS = [
        ("utf-8", "", "Gr\u00fc\u00dfe"), ("utf-8-sig", "", "Gr\u00fc\u00dfe"), ("utf-8", "latin-1", "Gr\u00fc\u00dfe"),
        ("latin-1", "iso-8859-1", "Gr\u00fc\u00dfe aus K\u00f6ln"), ("cp1251", "windows-1251", "\u043f\u0440\u0438\u0432\u0435\u0442"),
        ("shift_jis", "shift_jis", "\u3053\u3093\u306b\u3061\u306f"), ("gb18030", "gb2312", "\u4f60\u597d\u4e16\u754c"),
        ("iso2022_jp", "iso-2022-jp", "\u3053\u3093\u306b\u3061\u306f"), ("utf-16", "", "Gr\u00fc\u00dfe"), ("euc_kr", "euc-kr", "\uc548\ub155"),
        ("cp1251", "", "\u041f\u0440\u0438\u0432\u0435\u0442, \u043a\u0430\u043a \u0434\u0435\u043b\u0430? \u0421\u0435\u0433\u043e\u0434\u043d\u044f \u0445\u043e\u0440\u043e\u0448\u0430\u044f \u043f\u043e\u0433\u043e\u0434\u0430 " * 9),
        ("utf-8", "of-nobody", "Gr\u00fc\u00dfe"),
]  # fmt: skip


def test_encodings():
    """As the page says, but UTF-8 where it is that; where it says nothing, as it looks."""
    for encoding, declared, text in ENCODINGS:
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
