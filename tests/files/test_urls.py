"""URLs: what they are parsed to, and what the files behind them hold."""

import gc
import pickle
from pathlib import Path

import pytest
from pyarrow.fs import FileInfo
from raising import assert_raises

from lookalike.errors import ParameterError
from lookalike.files import filesystems, urls
from lookalike.files.urls import Url, as_url, is_url


@pytest.fixture
def known(monkeypatch):
    monkeypatch.setattr(urls, "options_of", lambda scheme, store: ())


@pytest.mark.usefixtures("known")
def test_urls_are_parsed():
    for given, root, key in (
        ("s3://crawl/pages/a.parquet", "s3://crawl", "pages/a.parquet"), (Path("s3://crawl/pages/"), "s3://crawl", "pages"),
        ("s3a://crawl/pages//a b%20[1].parquet", "s3://crawl", "pages/a b%20[1].parquet"), ("S3://crawl", "s3://crawl", ""),
        ("gs://b/é?*", "gs://b", "é?*"), ("hdfs://name:8020/user/x", "hdfs://name:8020", "user/x"),
        ("abfs://c@account.dfs.core.windows.net/x", "abfss://c@account.dfs.core.windows.net", "x"), ("hdfs:///in", "hdfs://", "in"),
        ("https://example.org/a//b%20c.jsonl?x=/1", "https://example.org", "a//b%20c.jsonl?x=/1"),
        ("hf://datasets/o/n@v1//data/", "hf://datasets", "o/n@v1/data"),
    ):  # fmt: skip
        assert is_url(given) and as_url(given) == Url(root, key) and as_url(as_url(given)) == as_url(given)
    for given in ("/a/b", "a", "", "s3", "s3:", "s3://", "c:/x", "text: /a", None, 3, ["s3://b"]):
        assert as_url(given) is None and not is_url(given)
    assert not is_url("ftp://example.org/x.parquet")
    for given, said in (
        ("ftp://example.org/x.parquet", r"ftp://example.org/x.parquet: no store is known for ftp://; known are s3://"),
        ("s3:///in/x", "s3:///in/x: names no bucket; write s3://bucket/in/x"),
    ):
        assert_raises(ParameterError, said, as_url, given)
    for given, inside in {
        "s3://b/x/y": "b/x/y",
        "s3://b": "b",
        "abfss://c@a.net/x": "c/x",
        "hdfs://n/x": "/x",
        "hdfs://n/": "/",
    }.items():
        assert as_url(given).inside == inside
    url = as_url("s3://b/pages/a.parquet.gz")
    parts = (url.name, url.suffix, str(url.parent), str(url))
    assert parts == ("a.parquet.gz", ".gz", "s3://b/pages", "s3://b/pages/a.parquet.gz")
    assert str(url.parent / "x/y") == "s3://b/pages/x/y" and (as_url("s3://b") / ".x").suffix == ""
    assert url.absolute() is url and not url.is_symlink() and Path(url).name == url.name


def test_the_region_is_asked_for_once_where_none_is_given(monkeypatch):
    for name in (*filesystems._REGIONS, *filesystems._ENDPOINTS):
        monkeypatch.delenv(name, raising=False)
    asked = []

    def found(bucket):
        asked.append(bucket)
        if bucket == "three":
            raise OSError("Bucket 'three' not found")
        return "eu-north-1"

    monkeypatch.setattr("pyarrow.fs.resolve_s3_region", found)
    filesystems.options_of.cache_clear()
    assert as_url("s3://one/x").options == as_url("s3://one/y").options == (("region", "eu-north-1"),) and asked == ["one"]
    assert_raises(
        ParameterError, "s3://three: the region of the bucket cannot be found: .*set AWS_REGION", as_url, "s3://three/x"
    )
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    assert dict(as_url("s3://two").options) == {"region": "us-east-1", "endpoint_override": "http://127.0.0.1:9"}
    filesystems.options_of.cache_clear()


@pytest.mark.parametrize("size", [10, 12 << 20], ids=["one request", "parts"])
def test_what_fails_while_it_is_written_replaces_nothing(bucket, size):
    """Not even when the stream is forgotten: Arrow would complete the upload with what there is."""
    for url, before in ((bucket / "old", b"whole"), (bucket / "new", None)):
        if before is not None:
            url.write_bytes(before)
        with pytest.raises(KeyboardInterrupt), url.create() as stream:
            stream.write(bytes(size))
            raise KeyboardInterrupt
        del stream
        gc.collect()
        assert (url.read_bytes() if url.exists() else None) == before


def test_times_are_the_same_whichever_way_a_store_is_asked(bucket, monkeypatch):
    """Lists have milliseconds on some stores, and what is said of one file has not."""
    (bucket / "a").write_bytes(b"1")
    real = bucket.filesystem

    class Finer:
        def get_file_info(self, asked):
            infos = real.get_file_info(asked)
            finer = [
                FileInfo(info.path, info.type, size=info.size, mtime_ns=info.mtime_ns // 10**9 * 10**9 + 123_000_000)
                for info in (infos if isinstance(infos, list) else [])
            ]
            return finer if isinstance(infos, list) else infos

    wanted = (bucket / "a").stat()
    monkeypatch.setattr(urls, "filesystem_of", lambda root, options: Finer())
    (listed,) = bucket.entries()
    assert listed.status == wanted == (bucket / "a").stat() and wanted.st_mtime_ns % 10**9 == 0


def test_files(bucket):
    url = bucket / "folder of é/a [1]?.bin"
    data = bytes(range(256)) * 40
    assert not url.exists() and list(bucket.entries()) == []
    for use in (url.read_bytes, url.stat, url.unlink):
        assert_raises(FileNotFoundError, "", use)
    url.unlink(missing_ok=True)
    url.write_bytes(data)
    assert url.exists() and url.stat().st_size == len(data) and url.stat().st_mtime_ns > 10**18
    assert url.read_bytes() == pickle.loads(pickle.dumps(url)).read_bytes() == data
    with url.open_stream() as stream:
        assert stream.read(5) + stream.read() == data and stream.tell() == len(data)
    for opened in (url.open_stream, url.open_anywhere):
        with opened() as file:
            for begin, size in ((300, 10), (2, 3)):
                file.seek(begin)
                assert file.read(size) == data[begin : begin + size]
    (bucket / "b").write_bytes(b"")
    assert [(entry.url.key, entry.is_folder) for entry in bucket.entries()] == [("b", False), ("folder of é", True)]
    assert [entry.url for entry in bucket.entries(recursive=True) if not entry.is_folder] == [bucket / "b", url]
    assert bucket.entry().is_folder and url.parent.entry().is_folder
    assert_raises(FileNotFoundError, "", url.parent.stat)
    url.unlink()
    assert not url.exists()
