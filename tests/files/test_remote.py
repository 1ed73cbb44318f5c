"""Files on web servers and in data sets of the Hub, from servers on this machine that fail as real ones do."""

import gzip
import io
import json
import os
import subprocess
import sys
from hashlib import sha256
from itertools import product

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import requests
from web_server import serving

import lookalike as la
from lookalike.errors import InputDataError, ParameterError
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


@pytest.fixture(autouse=True)
def _fast(monkeypatch):
    monkeypatch.setattr(remote, "PAUSE", 0.01)
    yield
    if remote._session.cache_info().currsize:
        remote._session(os.getpid()).close()
    remote._session.cache_clear()


def texts_of(*urls):
    """The texts of inputs."""
    splits = open_sources(list(urls))
    return [
        t.decode()
        for s in splits
        for batch in s.batches(COLUMNS)
        for t in (batch.texts.row(i) for i in range(len(batch.texts)))
    ]


def places(*urls):
    return find_places(urls, None, None, known_suffixes(), Skipped())


def test_what_is_read_is_what_is_there():
    for name, ranges in product(
        ["/a.jsonl", "/in/b.parquet?download=true", "/c.jsonl.gz", "/a%20b%25.jsonl?x=1/2.txt"], [True, False]
    ):
        with serving(files=FILES, ranges=ranges) as site:
            assert texts_of(site.address + name) == [row["text"] for row in ROWS]
            (place,) = places(site.address + name)
            assert place.is_temporary != ranges and place.name == site.address + name
            assert place.relative == {"/in": "b.parquet", "/a%": "a b%.jsonl"}.get(name[:3], name[1:])
            assert la.dedup(site.address + name).keep.sum() == 50


def test_parts_that_do_not_say_how_large_the_file_is():
    with serving(files=FILES, total=False) as site:
        assert texts_of(site.address + "/a.jsonl") == [row["text"] for row in ROWS]
        (place,) = places(site.address + "/a.jsonl")
        assert place.is_temporary


def test_a_long_name():
    name = f"/a.{'b' * 240}.jsonl"
    with serving(files={name: LINES}, ranges=False) as site:
        assert texts_of(site.address + name) == [row["text"] for row in ROWS]


def test_an_empty_file():
    with serving(files=FILES) as site:
        assert texts_of(site.address + "/empty.jsonl") == []
        assert as_url(site.address + "/a.jsonl").read_bytes() == LINES


def test_an_address_names_one_file():
    with serving(files=FILES) as site:
        for name in ("/", "", "/in/", "/in/*.parquet"):
            with pytest.raises(InputDataError, match="a web address names one file, no folder and no glob"):
                places(site.address + name)
        for name in ("/in/../a.jsonl", "/in/%2e%2e/a.jsonl"):
            with pytest.raises(ParameterError, match=r"write the address without '\.' and '\.\.'"):
                as_url(site.address + name)
        assert site.requests == []
    with pytest.raises(ParameterError, match=r"^https://\.\.\.@example.org: an address with a password is refused"):
        as_url("https://me:secret@example.org/a.jsonl")


@pytest.mark.parametrize("text", ["https://example.org/one", "http://example.org/x.jsonl and more"])
def test_texts_that_look_like_addresses_are_texts(text):
    assert la.dedup([text, text, "else"]).keep.sum() == 2


@pytest.mark.parametrize(
    ("status", "said"),
    [(404, "cannot be read: HTTP error: status 404, there is no such file$"), (403, "status 403, you have no permission to read it$"),
     (418, "status 418, "), (503, rf"status 503 .*; it was asked {ATTEMPTS} times: run the job again later")],
)  # fmt: skip
def test_refusals_are_named(status, said):
    with serving(files=FILES, every=1, status=status) as site, pytest.raises(InputDataError, match=said):
        places(site.address + "/a.jsonl")
    assert len(site.requests) == (ATTEMPTS if status >= 500 else 1)


def test_a_server_that_is_not_there():
    with serving() as site:
        pass
    with pytest.raises(InputDataError, match=rf"x.jsonl: cannot be read: HTTP error: .*; it was asked {ATTEMPTS} times"):
        places(site.address + "/x.jsonl")


def test_what_fails_is_asked_again():
    for name, fault in product(
        ["/a.jsonl", "/in/b.parquet", "/c.jsonl.gz"],
        [
            {"every": 2},
            {"every": 2, "status": 429},
            {"every": 2, "status": 408},
            {"cut": 1},
            {"cut": 1, "ranges": False},
            {"every": 2, "ranges": False},
        ],
    ):
        with serving(files=FILES, most=3, **fault) as site:
            assert texts_of(site.address + name) == [row["text"] for row in ROWS]
        assert site.failed


def test_slow_answers(monkeypatch):
    monkeypatch.setattr(remote, "PATIENCE", 0.05)
    with (
        serving(files=FILES, delay=0.5) as site,
        pytest.raises(InputDataError, match=f"timed out; it was asked {ATTEMPTS} times"),
    ):
        places(site.address + "/a.jsonl")


@pytest.mark.parametrize(
    ("fault", "said"),
    [({"says": len(LINES) + 9, "ranges": False}, "it was asked"), ({"compressed": True}, "compresses the file differently"),
     ({"cut": 1, "ranges": True}, "it was asked")],
)  # fmt: skip
def test_answers_that_are_not_whole(fault, said):
    with (
        serving(files=FILES, **fault) as site,
        pytest.raises(InputDataError, match=f"a.jsonl: cannot be read: HTTP error: .*{said}"),
    ):
        texts_of(site.address + "/a.jsonl")


def test_a_file_that_changes_is_noticed():
    for name, tags in product(["/a.jsonl", "/in/b.parquet"], [True, False]):
        with serving(files=dict(FILES), tags=tags) as site:
            (split,) = open_sources([site.address + name])
            split.check_unchanged()
            now = (
                parquet(ROWS[::-1] if tags else ROWS[:2000])
                if name.endswith("parquet")
                else LINES[::-1]
                if tags
                else LINES[:-83]
            )
            site.files[name] = now
            with pytest.raises(InputDataError, match="the file changed during the run; run again"):
                split.check_unchanged()
            with pytest.raises(
                InputDataError, match="(it changed while it was read|the file changed during the run); run again"
            ):
                list(split.batches(COLUMNS))


def test_versions():
    known = version_of("Sun, 09 Sep 2001 01:46:40 GMT", '"a"')
    assert known // 10**9 == 10**9 and known != version_of("Sun, 09 Sep 2001 01:46:40 GMT", '"b"')
    assert version_of(None, None) == version_of("yesterday", None) == 0 < version_of(None, '"a"') < 10**9


def test_what_leads_elsewhere(monkeypatch):
    monkeypatch.setattr(remote, "PATIENCE", 1)
    with serving(files=FILES) as there, serving(gone={"/a.jsonl": f"{there.address}/a.jsonl", "/r": "/r"}) as site:
        assert texts_of(site.address + "/a.jsonl") == [row["text"] for row in ROWS]
        with pytest.raises(InputDataError, match="Exceeded 5 redirects"):
            places(site.address + "/r")


def test_nothing_leads_from_https_to_http(monkeypatch):
    def answer(_, request, **__):
        assert request.url.startswith("https:")
        found = requests.Response()
        headers = {"location": "http://example.org/a.jsonl"}
        vars(found).update(status_code=302, url=request.url, request=request, raw=io.BytesIO(), headers=headers)
        return found

    monkeypatch.setattr(requests.adapters.HTTPAdapter, "send", answer)
    with pytest.raises(InputDataError, match="it redirects from https to http://example.org"):
        places("https://example.org/a.jsonl")


def test_nothing_is_written_there(tmp_path):
    (tmp_path / "in.jsonl").write_bytes(LINES)
    result = la.dedup(tmp_path / "in.jsonl")
    for name in ("https://example.org/out/", "http://example.org/out.jsonl", "hf://datasets/o/n/out/"):
        with pytest.raises(ParameterError, match="nothing is written there"):
            result.write(name)
        with pytest.raises(ParameterError, match="on the web, where only engine=|nothing is written there"):
            la.dedup(tmp_path / "in.jsonl", work=name)


def test_an_archive(tmp_path):
    import zipfile

    with zipfile.ZipFile(tmp_path / "x.zip", "w") as whole:
        whole.writestr("one/a.jsonl", LINES)
    with serving(files={"/x.zip": (tmp_path / "x.zip").read_bytes()}) as site:
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
@pytest.mark.parametrize(
    ("url", "names"),
    [
        ("hf://datasets/o/n", ["data/deep/y.jsonl", "data/x-0.parquet", "data/x-1.parquet"]),
        ("hf://datasets/o/n@main/data/", ["deep/y.jsonl", "x-0.parquet", "x-1.parquet"]),
        ("hf://datasets/o/n/data/x-*.parquet", ["x-0.parquet", "x-1.parquet"]),
        ("hf://datasets/o/n/**/*.jsonl", ["y.jsonl"]),
        ("hf://datasets/o/n/data/x-1.parquet", ["x-1.parquet"]),
        ("hf://datasets/o/n@v1/a b.jsonl", ["a b.jsonl"]),
        ("hf://datasets/o/n@refs/convert/parquet/default/*.parquet", ["0.parquet"]),
        ("hf://datasets/o/n@refs%2Fconvert%2Fparquet/default/0.parquet", ["0.parquet"]),
    ],
)
def test_data_sets(url, names):
    found = places(url)
    assert [place.relative for place in found] == names
    assert texts_of(url) == [row["text"] for row in ROWS] * len(names)
    open_sources([url])[0].check_unchanged()


@pytest.mark.usefixtures("hub")
@pytest.mark.parametrize(
    ("url", "error"),
    [
        ("hf://datasets/o/n/none.jsonl", "none.jsonl: no file or folder of that name"),
        ("hf://datasets/o/n/none*.jsonl", r"none\*.jsonl: no file matches"),
        ("hf://datasets/o/n@v2/a.jsonl", "HTTP error: the data set o/n has no revision v2"),
        ("hf://datasets/o/m", "there is no data set o/m, or you may not see it: .* set HF_TOKEN or run 'hf auth login'"),
    ],
)
def test_what_is_not_in_a_data_set(url, error):
    with pytest.raises(InputDataError, match=error):
        places(url)


def test_a_data_set_that_asks_who_you_are(hub, monkeypatch):
    hub.token = "hf_secret"
    with pytest.raises(InputDataError, match="status 401, it requires you to log in: accept its conditions .* set HF_TOKEN"):
        texts_of("hf://datasets/o/n/data/x-0.parquet")
    monkeypatch.setenv("HF_TOKEN", hub.token)
    assert len(texts_of("hf://datasets/o/n/data/x-0.parquet")) == len(ROWS)


def test_the_token_goes_to_the_hub_alone(hub, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    with serving(files={"/stored/x": TABLE}) as elsewhere:
        hub.gone["/datasets/o/n/resolve/main/data/x-0.parquet"] = f"{elsewhere.address}/stored/x"
        assert len(texts_of("hf://datasets/o/n/data/x-0.parquet")) == len(ROWS)
        sent = [{name.lower() for name in heads} for heads in elsewhere.heads]
    assert sent and not any("authorization" in names for names in sent)
    assert any(heads.get("authorization") == "Bearer hf_secret" for heads in hub.heads)


def test_a_file_of_a_data_set_that_changes(hub):
    (split,) = open_sources(["hf://datasets/o/n/data/x-0.parquet"])
    hub.data_sets["o/n", "main"]["data/x-0.parquet"] = parquet(ROWS[::-1])
    with pytest.raises(InputDataError, match="the file changed during the run; run again"):
        split.check_unchanged()


@pytest.mark.parametrize("url", ["hf://o/n", "hf://datasets/o", "hf://spaces/o/n/x.jsonl"])
def test_other_things_of_the_hub(url):
    with pytest.raises(ParameterError, match="name a data set of the Hub: hf://datasets/OWNER/NAME"):
        as_url(url)


@pytest.mark.parametrize(
    ("package", "url"), [("requests", "https://example.org/a.jsonl"), ("huggingface_hub", "hf://datasets/o/n")]
)
def test_what_is_not_installed_is_named(package, url):
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
        assert texts_of(site.address + "/t.parquet") == [row["text"] for row in ROWS]
        sent = [one.split("=")[1].split("-") for one in site.requests if "=" in one]
    assert sum(int(end) + 1 - int(begin) for begin, end in sent) <= 2 + wanted + TAIL + text.num_row_groups * HEADER
