import gzip
import io
import json
import os
import sys
from hashlib import sha256
from itertools import product

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import requests
from document_files import archive
from raising import assert_raises
from web_server import serving

import lookalike as la
from lookalike.errors import InputDataError, MissingExtraError
from lookalike.files import remote
from lookalike.files.inputs import Skipped, find_places
from lookalike.files.remote import ATTEMPTS, version_of
from lookalike.files.urls import TAIL, as_url
from lookalike.formats.parquet_pages import HEADER
from lookalike.formats.registry import known_suffixes
from lookalike.formats.sources import open_sources
from lookalike.formats.split import Columns

ROWS = [{"text": f"the quick brown fox number {i % 50} jumps over the lazy dog and runs {i % 50} miles"} for i in range(3000)]
LINES = "".join(json.dumps(row) + "\n" for row in ROWS).encode()
COLUMNS = Columns()


def parquet(rows):
    stream = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), stream, row_group_size=1000)
    return stream.getvalue()


TABLE = parquet(ROWS)
FILES = {
    "/a.jsonl": LINES,
    "/in/b.parquet": TABLE,
    "/c.jsonl.gz": gzip.compress(LINES),
    "/a b%.jsonl": LINES,
    "/empty.jsonl": b"",
}
TEXTS = [row["text"] for row in ROWS]


@pytest.fixture(autouse=True)
def _fast(monkeypatch):
    monkeypatch.setattr(remote, "PAUSE", 0.01)
    yield
    if remote._session.cache_info().currsize:
        remote._session(os.getpid()).close()
    remote._session.cache_clear()


def texts_of(*urls):
    batches = (batch for split in open_sources(list(urls)) for batch in split.batches(COLUMNS))
    return [text.decode() for batch in batches for text in batch.texts.column().to_pylist()]


def refused(said, url, read=None):
    assert_raises(InputDataError, said, read or places, url)


def places(*urls):
    return find_places(urls, None, None, known_suffixes(), Skipped())


def test_what_is_read_is_what_is_there():
    """Also where parts do not say how large the file is, of a long name, of an archive, and of an empty file."""
    long = f"/a.{'b' * 240}.jsonl"
    names = {
        "/a.jsonl": "a.jsonl",
        "/in/b.parquet?download=true": "b.parquet",
        "/c.jsonl.gz": "c.jsonl.gz",
        "/a%20b%25.jsonl?x=1/2.txt": "a b%.jsonl",
        long: long[1:],
    }
    files = FILES | {long: LINES, "/x.zip": archive({"one/a.jsonl": LINES})}
    for how in ({}, {"ranges": False}, {"total": False}):
        with serving(files=files, **how) as site:
            for name, relative in names.items():
                (place,) = places(site.address + name)
                assert texts_of(place.name) == TEXTS and place.name == site.address + name and place.relative == relative
                assert place.is_temporary == bool(how)
            assert texts_of(site.address + "/empty.jsonl") == []
            if not how:
                assert texts_of(site.address + "/x.zip") == TEXTS
                assert as_url(site.address + "/a.jsonl").read_bytes() == LINES


def test_texts_that_look_like_addresses_are_texts():
    for text in ("https://example.org/one", "http://example.org/x.jsonl and more"):
        assert la.dedup([text, text, "else"]).keep.sum() == 2


def test_refusals_are_named(monkeypatch):
    asked = rf"it was asked {ATTEMPTS} times"
    cannot = "x.jsonl: cannot be read: HTTP error: "
    for status, said in {
        404: f"{cannot}status 404, there is no such file$",
        403: "status 403, you have no permission to read it$",
        418: "status 418, ",
        503: rf"status 503 .*; {asked}: run the job again later",
    }.items():
        with serving(files=FILES, every=1, status=status) as site:
            refused(said, site.address + "/x.jsonl")
        assert len(site.requests) == (ATTEMPTS if status >= 500 else 1)
    refused(f"{cannot}.*; {asked}", site.address + "/x.jsonl")
    monkeypatch.setattr(remote, "PATIENCE", 0.05)
    with serving(files=FILES, delay=0.5) as site:
        refused(f"timed out; {asked}", site.address + "/a.jsonl")


def test_what_fails_is_asked_again():
    """A few times: answers that are not whole are no file."""
    faults = [{"every": 2}, {"every": 2, "status": 429}, {"every": 2, "status": 408}, {"cut": 1}]
    faults += [{"cut": 1, "ranges": False}, {"every": 2, "ranges": False}]
    for name, fault in product(["/a.jsonl", "/in/b.parquet", "/c.jsonl.gz"], faults):
        with serving(files=FILES, most=3, **fault) as site:
            assert texts_of(site.address + name) == TEXTS and site.failed
    for said, fault in (
        ("it was asked", {"says": len(LINES) + 9, "ranges": False}),
        ("it was asked", {"cut": 1}),
        ("compresses the file differently", {"compressed": True}),
    ):
        with serving(files=FILES, **fault) as site:
            refused(f"a.jsonl: cannot be read: HTTP error: .*{said}", site.address + "/a.jsonl", texts_of)


def test_a_file_that_changes_is_noticed(hub):
    """Other bytes of the same size, or fewer where there are no tags."""
    shorter = {"/a.jsonl": LINES[:-83], "/in/b.parquet": parquet(ROWS[:2000])}
    said = "the file changed during the run; run again"
    for tags, changed in ((True, {"/a.jsonl": LINES[::-1], "/in/b.parquet": parquet(ROWS[::-1])}), (False, shorter)):
        with serving(files=dict(FILES), tags=tags) as site:
            splits = [open_sources([site.address + name])[0] for name in changed]
            for split in splits:
                split.check_unchanged()
            site.files.update(changed)
            for split in splits:
                assert_raises(InputDataError, said, split.check_unchanged)
                assert_raises(InputDataError, f"it changed while it was read; run again|{said}", list, split.batches(COLUMNS))
    assert version_of("yesterday", None) == version_of(None, None) == 0
    (split,) = open_sources(["hf://datasets/o/n/data/x-0.parquet"])
    hub.data_sets["o/n", "main"]["data/x-0.parquet"] = parquet(ROWS[::-1])
    assert_raises(InputDataError, said, split.check_unchanged)


def test_what_leads_elsewhere(monkeypatch):
    """Nothing leads from https to http."""
    monkeypatch.setattr(remote, "PATIENCE", 1)
    with serving(files=FILES) as there, serving(gone={"/a.jsonl": f"{there.address}/a.jsonl", "/r": "/r"}) as site:
        assert texts_of(site.address + "/a.jsonl") == TEXTS
        refused("Exceeded 5 redirects", site.address + "/r")

    def answer(_, request, **__):
        assert request.url.startswith("https:")
        found = requests.Response()
        headers = {"location": "http://example.org/a.jsonl"}
        vars(found).update(status_code=302, url=request.url, request=request, raw=io.BytesIO(), headers=headers)
        return found

    monkeypatch.setattr(requests.adapters.HTTPAdapter, "send", answer)
    refused("it redirects from https to http://example.org", "https://example.org/a.jsonl")


HUB = {
    ("o/n", "main"): {
        "data/x-0.parquet": TABLE,
        "data/x-1.parquet": TABLE,
        "data/deep/y.jsonl": LINES,
        ".gitattributes": b"x\n",
    },
    ("o/n", "v1"): {"a b.jsonl": LINES},
    ("o/n", "refs/convert/parquet"): {"default/0.parquet": TABLE},
}


@pytest.fixture
def hub(monkeypatch, tmp_path):
    monkeypatch.setattr("huggingface_hub.constants.HF_TOKEN_PATH", str(tmp_path / "token"))
    with serving(data_sets={key: dict(held) for key, held in HUB.items()}) as site:
        monkeypatch.setenv("HF_ENDPOINT", site.address)
        monkeypatch.delenv("HF_TOKEN", raising=False)
        yield site


@pytest.mark.usefixtures("hub")
def test_data_sets():
    for url, names in {
        "": ["data/deep/y.jsonl", "data/x-0.parquet", "data/x-1.parquet"],
        "@main/data/": ["deep/y.jsonl", "x-0.parquet", "x-1.parquet"],
        "/data/x-*.parquet": ["x-0.parquet", "x-1.parquet"],
        "/**/*.jsonl": ["y.jsonl"],
        "/data/x-1.parquet": ["x-1.parquet"],
        "@v1/a b.jsonl": ["a b.jsonl"],
        "@refs/convert/parquet/default/*.parquet": ["0.parquet"],
        "@refs%2Fconvert%2Fparquet/default/0.parquet": ["0.parquet"],
    }.items():
        url = f"hf://datasets/o/n{url}"
        assert [place.relative for place in places(url)] == names and texts_of(url) == TEXTS * len(names)
        open_sources([url])[0].check_unchanged()
    for url, error in {
        "o/n/none.jsonl": "none.jsonl: no file or folder of that name",
        "o/n/none*.jsonl": r"none\*.jsonl: no file matches",
        "o/n@v2/a.jsonl": "HTTP error: the data set o/n has no revision v2",
        "o/m": "there is no data set o/m, or you may not see it: .* set HF_TOKEN or run 'hf auth login'",
    }.items():
        refused(error, f"hf://datasets/{url}")


def test_the_token_goes_to_the_hub_alone_where_it_asks_who_you_are(hub, monkeypatch):
    hub.token, url = "hf_secret", "hf://datasets/o/n/data/x-0.parquet"
    refused("status 401, it requires you to log in: accept its conditions .* set HF_TOKEN", url, texts_of)
    monkeypatch.setenv("HF_TOKEN", hub.token)
    with serving(files={"/stored/x": TABLE}) as elsewhere:
        hub.gone["/datasets/o/n/resolve/main/data/x-0.parquet"] = f"{elsewhere.address}/stored/x"
        assert len(texts_of(url)) == len(ROWS)
        sent = [{name.lower() for name in heads} for heads in elsewhere.heads]
    assert sent and not any("authorization" in names for names in sent)
    assert any(heads.get("authorization") == "Bearer hf_secret" for heads in hub.heads)


def test_what_is_not_installed_is_named(monkeypatch):
    for package, url in (("requests", "https://example.org/a.jsonl"), ("huggingface_hub", "hf://datasets/o/n")):
        monkeypatch.setitem(sys.modules, package, None)
        said = f"{package} is not installed: pip install 'lookalike\\[remote\\]'"
        assert_raises(MissingExtraError, said, la.dedup, url)


def test_no_more_is_asked_for_than_is_read():
    """Of a table the end and the columns that are read, each once; the first byte says how large a file is."""
    table = parquet([{**row, "bulk": sha256(str(i).encode()).hexdigest() * 9} for i, row in enumerate(ROWS)])
    groups = pq.read_metadata(io.BytesIO(table)).to_dict()["row_groups"]
    wanted = sum(group["columns"][0]["total_compressed_size"] for group in groups)
    assert len(table) > 3 * (wanted + TAIL)
    with serving(files={"/t.parquet": table}) as site:
        assert texts_of(site.address + "/t.parquet") == TEXTS
        sent = [one.split("=")[1].split("-") for one in site.requests if "=" in one]
    assert sum(int(end) + 1 - int(begin) for begin, end in sent) <= 2 + wanted + TAIL + len(groups) * HEADER
