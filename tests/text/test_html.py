import random
from html.parser import HTMLParser
from itertools import product

import pytest
from document_files import epub
from json_lines import read_lines

import lookalike as la
from lookalike import html_to_text
from lookalike.errors import ParameterError
from lookalike.text.html import page_of

CHARACTERS = ["水", "の", "ば", "가", "은", "ก", "ๆ", "→", "—", "…", "”", "。", "é", "q", "\U00020000", "¶", "\ue000"]
NAMES = (
    "a abbr b bdi bdo cite code data del dfn em font i ins kbd label mark q ruby rb rp rt s samp small span strong sub sup time u var x-y",
    """p div section article header li dd dt blockquote h1 h6 figure figcaption details summary fieldset legend td th caption address
    dialog pre center option button textarea""",
)
INLINE, BLOCKS = (names.split() for names in NAMES)
TEXT = "the tide carries small boats past a lighthouse every morning before anybody is awake to see them go"


def bare(text):
    return "".join(text.split())


class Naive(HTMLParser):
    def __init__(self, page):
        super().__init__()
        self.text = ""
        self.feed(page)
        self.close()

    def handle_data(self, data):
        self.text += data


def test_single_characters_are_kept_in_any_element():
    wholes = "<html><body><article>{}</article></body></html>", "<body>{}", "<main>{}</main>", "{}"
    for around, tag, character in product(wholes, INLINE + BLOCKS, CHARACTERS):
        inside = f"<p>東京</p><{tag}>{character}</{tag}><p>良い</p><{tag.upper()} title='a>b'>{character}</{tag.upper()}>"
        assert bare(html_to_text(around.format(inside))) == f"東京{character}良い{character}"


def test_inline_tags_neither_add_nor_remove_characters_and_blocks_part_words():
    page = "<p><b>水</b>は<a href='/1'>山</a>の<ruby>中<rt>なか</rt></ruby>へ</p><ul><li>は<li>が</ul><table><tr><td>有<td>無</table>x<br>y"
    assert html_to_text(page) == "水は山の中なかへ\n\nは\nが\n\n有\t無\n\nx\ny"
    assert html_to_text("<p>un<i>believ</i>able <b>two</b>\n words</p>one<div>two</div>three") == (
        "unbelievable two words\n\none\ntwo\nthree"
    )
    assert html_to_text("<p>x\n  y<pre>if  x:\n    <b>y</b>") == "x y\n\nif  x:\n    y"
    assert html_to_text("<select><option>a<option>b</select><button>c</button>d") == "a\nb c d"


ATOMS = [*CHARACTERS, "two words", "&amp;", "&eacute;", "&#x27;", "a &lt; b", "&nbsp;", "\n", "<br/>", "<!-- no -->"]


def elements(rng, depth):
    if depth == 0 or rng.random() < 0.4:
        return rng.choice(ATOMS)
    tag = rng.choice(INLINE + BLOCKS[:-4])
    inside = "".join(elements(rng, depth - 1) for _ in range(rng.randrange(5)))
    return f"<{tag} class='c' title=\"a>b\">{inside}</{tag}>"


def test_the_characters_are_those_of_another_parser():
    for seed in range(40):
        rng = random.Random(seed)
        page = "".join(elements(rng, 5) for _ in range(20))
        assert bare(html_to_text(page)) == bare(html_to_text(page, boilerplate=True)) == bare(Naive(page).text)


XHTML = '<html xmlns="http://www.w3.org/1999/xhtml">'


BEGINS = ["", "<!DOCTYPE html>", '<?xml version="1.0"?>' + XHTML, XHTML, "<!doctype html [<!ENTITY e 'x'>]>"]
LEFT = [
    "<script/>", '<script src="a.js"/>', "<script src='a.js' >", "<SCRIPT SRC=a.js />", "<Script type='module' defer />", "<title/>",
    "<TITLE />", "<title>Of a page", "<style/>", "<style type=text/css />", "<style>p { x: y }", "<textarea/>", "<textarea>",
    "<noscript/>", "<noscript>", "<noscript><iframe src='x'/></noscript>", "<noscript><style/></noscript>",
    "<noscript><p><script></noscript>", "<NoScript><img src=x></NOSCRIPT>", "<iframe src='x'/>", "<IFRAME src=x>", "<iframe/>",
    "<template/>", "<template>", "<template><p>inert</p><script></template>", "<svg/>", "<svg><title/><style/></svg>",
    "<svg><script/>", "<object/>", "<select/>", "<nav/>", "<nav>", "<aside/>", "<footer>", "<div class='menu'/>", "<xmp/>",
    "<noframes/>", "<!-- left open >", "<!---->", "<!-->", "<![CDATA[", "<![endif]>", "<?php echo ?>", "</>", "<h:script/>", "<p/>",
    "<script>x = 1;", "<script>if (a < b) { f('</p>') }</script>", "<script>d.write('<script src=x><\\/script>')</script>",
]  # fmt: skip


def test_what_is_left_open_or_closes_itself_swallows_nothing():
    for left, begin in product(LEFT, BEGINS):
        for page in (
            f"{begin}<head>{left}</head><body><p>{TEXT}</p></body></html>",
            f"{begin}<body><p>{TEXT}</p><div>{left}<p>{TEXT}</p>",
        ):
            found = html_to_text(page).split()
            assert len(found) >= page.count(TEXT) * len(TEXT.split()) and " ".join(found).count(TEXT) == page.count(TEXT)
            assert not {"inert", "Of", "{", "(a", "1;"} & set(found)
        again = f"{begin}<head>{left}<title>t</title></head><body><p>{TEXT}</p><script>x()</script><textarea></textarea></body>"
        assert TEXT in " ".join(html_to_text(again).split()) and "x()" not in html_to_text(again)


DECODED = {
    "It&#x27;s &quot;so&quot; &amp; not &lt;so&gt;": "It's \"so\" & not <so>", "caf&eacute; cr&egrave;me": "café crème",
    "&copy 2020 &AMP; caf&eacute": "© 2020 & café", "R&D, AT&T &unknown; &": "R&D, AT&T &unknown; &", "&#8212;&#X2014;&#151;": "———",
    "two\n\nlines  & <p>": "two lines &", "two\n\nlines  stay": "two\n\nlines  stay", "a < b & c > d": "a < b & c > d",
    "<p>&am<b>p;</b></p>": "&amp;", "<p>&amp;lt;b&amp;gt;</p>": "&lt;b&gt;", f"<p>&#{'9' * 5000};x": "\ufffdx",
    "<p><![CDATA[a < b & <c>]]> d": "a < b & <c> d", "a<!-- <!-- --> b": "a b", "a<!-- > --> b <!-- - -- -->c": "a b c",
    "<textarea>&eacute;<b></textarea>": "é<b>", "<template shadowrootmode=open><p>shown</p></template>": "shown",
    "<a title='<p>'>x</a><img alt='>'>y<a b=c/>z": "xyz", "<noscript>enable it</noscript>x": "x",
}  # fmt: skip


def test_characters_are_decoded_where_html_has_them():
    for page, text in DECODED.items():
        assert html_to_text(page) == text


MENU = "".join(f"<li><a href='{i}.html'>Entry {i}</a></li>" for i in range(40))
MENU = f"<ul>{MENU}</ul>"
BODY = f"<h1>Tides</h1><p>{TEXT}</p><ul><li>の</li><li><a href='x'>は</a></li></ul>"


MENUS = [
    f"<html class='sidebar-visible'><body><nav id='sidebar' class='sidebar'>{MENU}</nav><div id='page-wrapper'><div class='page'>"
    f"<div id='menu-bar'><button>x</button>Book</div><main>{BODY}</main><nav class='nav-wrapper'><a href='n'>next</a></nav></div></div>",
    f"<body><div class='related' role='navigation'>{MENU}</div><div class='document'><div class='body' role='main'>{BODY}</div></div>"
    f"<div class='sphinxsidebar' role='navigation'>{MENU}</div><div class='footer' role='contentinfo'>2020</div>",
    f"<body><div class='related'>{MENU}</div><div class='document'><div class='body'>{BODY}</div></div>"
    f"<div class='sphinxsidebar'><div class='sphinxsidebarwrapper'><h3>Contents</h3>{MENU}</div></div>",
    f"<section data-toggle='wy-nav-shift' class='wy-nav-content-wrap'><nav class='wy-nav-top'>{MENU}</nav><div class='rst-content'>"
    f"<div role='navigation'>{MENU}</div><div role='main' class='document'>{BODY}</div><footer>2020</footer></div></section>",
    f"<div id='__docusaurus'><nav class='navbar'>{MENU}</nav><aside class='theme-doc-sidebar-container'>{MENU}</aside><main><nav "
    f"aria-label='Breadcrumbs'>{MENU}</nav><article>{BODY}</article><div class='theme-doc-toc-desktop'>{MENU}</div></main></div>",
    f"<div class='md-sidebar'><nav class='md-nav'>{MENU}</nav></div><article class='md-content'>{BODY}</article><footer>2020</footer>",
    f"<div class='layout with-sidebar'><div id='toc'>{MENU}</div><div>{BODY}</div></div>",
    f"<DIV CLASS=page><NAV>{MENU}</NAV><DIV ROLE=main>{BODY}</DIV></DIV>",
    f"<div class='Sidebar'>{MENU}</div><div>{BODY}</div>",
]  # fmt: skip


def test_menus_of_documentation_are_no_main_text():
    for page in MENUS:
        assert bare(html_to_text(page)) == bare(f"Tides{TEXT}のは")
        assert "Entry 39" in html_to_text(page, boilerplate=True)


NO_MENUS = [
    f"<div class='menu'><h2>Dishes</h2><p>{TEXT}</p></div>", f"<aside>{TEXT} <a href='x'>y</a></aside><p>z</p>",
    f"<article><p>x</p><footer>{TEXT}</footer></article>", f"<blockquote>x<footer>{TEXT}</footer></blockquote><p>y</p>",
    f"<nav><main>{TEXT}</main></nav>", f"<div class='with sidebar'><p>{TEXT}</p><ul>{MENU[:300]}</ul></div>", f"<nav>menu<p>{TEXT}</p>",
    f"<div><nav>menu</div><p>{TEXT}</p>", f"<p class='nav'>{TEXT}</p>", f"<p hidden>{TEXT}</p><p>x</p>",
    f"<figure><pre>{TEXT}</pre><figcaption>x</figcaption></figure>",
]  # fmt: skip


def test_what_only_looks_like_a_menu_is_main_text():
    for page in NO_MENUS:
        assert TEXT in html_to_text(page)


LITTLE = {
    "in a menu": f"<main>Hello</main><nav>{f'{TEXT} ' * 5}</nav>",
    "in a footer": f"<main><p>Welcome to us</p></main><footer>{f'{TEXT}. ' * 5}</footer>",
    "nothing else": f"<nav>{TEXT} here</nav>",
    "beside it": f"<main></main><div>{TEXT} there</div>",
}


def test_where_hardly_any_text_is_main_all_is_taken_and_counted(tmp_path):
    assert all(TEXT in html_to_text(page) for page in LITTLE.values())
    stub = f"<nav>{MENU}</nav><main>Appendix</main><div>Keys: s to search, t for themes, ? for help</div>"
    pages = [*LITTLE.values(), stub, page_of(b"<main>some text</main>")]
    assert html_to_text(stub) == "Appendix", "what is little in itself is not suspicious"
    with pytest.raises(ParameterError, match="html must be a str; got None"):
        html_to_text(None)
    for name, text in enumerate(pages):
        (tmp_path / f"{name}.html").write_text(text)
    for result in (la.dedup(tmp_path), la.dedup(pages, html=True), la.dedup(tmp_path, on_error="stop", memory="400MB")):
        assert result.summary.whole_pages == len(LITTLE)
        assert f"compared as whole pages   {len(LITTLE):>12,}" in str(result.summary)
    assert la.dedup(tmp_path, boilerplate=True).summary.whole_pages == 0


def test_chapters_of_books_are_read_like_pages(tmp_path):
    ends = ["", "<script src='a.js'/>", "<iframe/>", "<ruby>良<rt>よ</rt></ruby>い", "<TITLE/>", "<![CDATA[]]>"]
    for name, end in enumerate(ends):
        (tmp_path / f"{name}.epub").write_bytes(epub(f"{end}{TEXT}</p><p>男</p><nav>{TEXT}</nav><p>"))
    result = la.dedup(tmp_path, threshold=1.0)
    assert result.keep.tolist() == [True, False, False, True, False, False]
    result.write(tmp_path / "kept.jsonl")
    first, second = (row["text"] for row in read_lines(tmp_path / "kept.jsonl"))
    assert bare(first) == bare(f"{TEXT}男{TEXT}") and bare(second) == bare(f"良よい{TEXT}男{TEXT}")
