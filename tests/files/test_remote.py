"""Files on web servers and in data sets of the Hub, from servers on this machine that fail as real ones do."""

import gzip
import io
import json
import os
import subprocess
import sys
import zipfile
from hashlib import sha256
from itertools import product

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import requests
from raising import assert_raises
from web_server import serving

import lookalike as la
from lookalike.errors import InputDataError, ParameterError
from lookalike.files import remote
from lookalike.files.inputs import Skipped, find_places
from lookalike.files.remote import ATTEMPTS
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
    """Also where parts do not say how large the file is, of a file with a long name, and of an empty one."""
    kept = ["/a.jsonl", "/in/b.parquet?download=true", "/c.jsonl.gz", "/a%20b%25.jsonl?x=1/2.txt"]
    for name, how in [*product(kept, ({"ranges": True}, {"ranges": False})), ("/a.jsonl", {"total": False})]:
        with serving(files=FILES, **how) as site:
            assert texts_of(site.address + name) == TEXTS
            (place,) = places(site.address + name)
            assert place.is_temporary == (how != {"ranges": True}) and place.name == site.address + name
            assert place.relative == {"/in": "b.parquet", "/a%": "a b%.jsonl"}.get(name[:3], name[1:])
            assert la.dedup(site.address + name).keep.sum() == 50
    long = f"/a.{'b' * 240}.jsonl"
    with serving(files={long: LINES}, ranges=False) as site:
        assert texts_of(site.address + long) == TEXTS
    with serving(files=FILES) as site:
        assert texts_of(site.address + "/empty.jsonl") == [] and as_url(site.address + "/a.jsonl").read_bytes() == LINES


def test_an_address_names_one_file():
    with serving(files=FILES) as site:
        for name in ("/", "", "/in/", "/in/*.parquet"):
            refused("a web address names one file, no folder and no glob", site.address + name)
        for said, url in (
            *((r"write the address without '\.' and '\.\.'", f"{site.address}/in/{up}/a.jsonl") for up in ("..", "%2e%2e")),
            (r"^https://\.\.\.@example.org: an address with a password is refused", "https://me:secret@example.org/a.jsonl"),
            *(
                ("name a data set of the Hub: hf://datasets/OWNER/NAME", f"hf://{name}")
                for name in ("o/n", "datasets/o", "spaces/o/n/x.jsonl")
            ),
        ):
            assert_raises(ParameterError, said, as_url, url)
        assert site.requests == []


def test_texts_that_look_like_addresses_are_texts():
    for text in ("https://example.org/one", "http://example.org/x.jsonl and more"):
        assert la.dedup([text, text, "else"]).keep.sum() == 2


def test_refusals_are_named(monkeypatch):
    """Also of a server that is not there, and of one that is slow."""
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
    faults = [{"every": 2}, {"every": 2, "status": 429}, {"every": 2, "status": 408}, {"cut": 1}]
    faults += [{"cut": 1, "ranges": False}, {"every": 2, "ranges": False}]
    for name, fault in product(["/a.jsonl", "/in/b.parquet", "/c.jsonl.gz"], faults):
        with serving(files=FILES, most=3, **fault) as site:
            assert texts_of(site.address + name) == TEXTS and site.failed


def test_answers_that_are_not_whole():
    for fault, said in (
        ({"says": len(LINES) + 9, "ranges": False}, "it was asked"),
        ({"compressed": True}, "compresses the file differently"),
        ({"cut": 1, "ranges": True}, "it was asked"),
    ):
        with serving(files=FILES, **fault) as site:
            refused(f"a.jsonl: cannot be read: HTTP error: .*{said}", site.address + "/a.jsonl", texts_of)


def test_a_file_that_changes_is_noticed():
    changed = {  # other bytes of the same size, or fewer
        "/a.jsonl": {True: LINES[::-1], False: LINES[:-83]},
        "/in/b.parquet": {True: parquet(ROWS[::-1]), False: parquet(ROWS[:2000])},
    }
    for name, tags in product(changed, [True, False]):
        with serving(files=dict(FILES), tags=tags) as site:
            (split,) = open_sources([site.address + name])
            split.check_unchanged()
            site.files[name] = changed[name][tags]
            said = "the file changed during the run; run again"
            assert_raises(InputDataError, said, split.check_unchanged)
            assert_raises(InputDataError, f"it changed while it was read; run again|{said}", list, split.batches(COLUMNS))


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


def test_nothing_is_written_there(tmp_path):
    (tmp_path / "in.jsonl").write_bytes(LINES)
    result = la.dedup("in.jsonl")
    for name in ("https://example.org/out/", "http://example.org/out.jsonl", "hf://datasets/o/n/out/"):
        assert_raises(ParameterError, "nothing is written there", result.write, name)
        assert_raises(
            ParameterError, "on the web, where only engine=|nothing is written there", la.dedup, "in.jsonl", work=name
        )


def test_an_archive():
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as made:
        made.writestr("one/a.jsonl", LINES)
    with serving(files={"/x.zip": whole.getvalue()}) as site:
        assert len(texts_of(site.address + "/x.zip")) == len(ROWS)


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


def test_a_file_of_a_data_set_that_changes(hub):
    (split,) = open_sources(["hf://datasets/o/n/data/x-0.parquet"])
    hub.data_sets["o/n", "main"]["data/x-0.parquet"] = parquet(ROWS[::-1])
    assert_raises(InputDataError, "the file changed during the run; run again", split.check_unchanged)


def test_what_is_not_installed_is_named():
    for package, url in (("requests", "https://example.org/a.jsonl"), ("huggingface_hub", "hf://datasets/o/n")):
        program = f"import sys; sys.modules[{package!r}] = None; import lookalike as la; la.dedup({url!r})"
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        assert f"MissingExtraError: {package} is not installed: pip install 'lookalike[remote]'" in done.stderr


def test_no_more_is_asked_for_than_is_read():
    """Of a table the end and the columns that are read, each once; the first byte says how large a file is."""
    rows = [{**row, "bulk": sha256(str(i).encode()).hexdigest() * 9} for i, row in enumerate(ROWS)]
    table = parquet(rows)
    text = pq.ParquetFile(io.BytesIO(table)).metadata
    wanted = sum(text.row_group(i).column(0).total_compressed_size for i in range(text.num_row_groups))
    assert len(table) > 3 * (wanted + TAIL)
    with serving(files={"/t.parquet": table}) as site:
        assert texts_of(site.address + "/t.parquet") == TEXTS
        sent = [one.split("=")[1].split("-") for one in site.requests if "=" in one]
    assert sum(int(end) + 1 - int(begin) for begin, end in sent) <= 2 + wanted + TAIL + text.num_row_groups * HEADER
