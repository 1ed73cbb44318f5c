import gc
import pickle
from itertools import product
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
    for given, said in (
        ("ftp://example.org/x.parquet", r"ftp://example.org/x.parquet: no store is known for ftp://; known are s3://"),
        ("s3:///in/x", "s3:///in/x: names no bucket; write s3://bucket/in/x"),
    ):
        assert_raises(ParameterError, said, as_url, given)
    urls_of_all = ("s3://b/x/y", "s3://b", "abfss://c@a.net/x", "hdfs://n/x", "hdfs://n/")
    assert [as_url(given).inside for given in urls_of_all] == ["b/x/y", "b", "c/x", "/x", "/"]
    url = as_url("s3://b/pages/a.parquet.gz")
    assert (url.name, url.suffix, str(url.parent / "x/y")) == ("a.parquet.gz", ".gz", "s3://b/pages/x/y")
    assert str(url) == "s3://b/pages/a.parquet.gz" and Path(url).name == url.name and (as_url("s3://b") / ".x").suffix == ""
    assert url.absolute() is url and not url.is_symlink() and not is_url("ftp://example.org/x.parquet")


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


def test_what_fails_while_it_is_written_replaces_nothing(bucket):
    """Not even when the stream is forgotten: Arrow would complete the upload, of one request or of parts, with what there is."""
    (bucket / "old").write_bytes(b"whole")
    for size, name in product((10, 12 << 20), ("old", "new")):
        with pytest.raises(KeyboardInterrupt), (bucket / name).create() as stream:
            stream.write(bytes(size))
            raise KeyboardInterrupt
        del stream
        gc.collect()
        assert (bucket / "old").read_bytes() == b"whole" and not (bucket / "new").exists()


def test_times_are_the_same_whichever_way_a_store_is_asked(bucket, monkeypatch):
    """Lists have milliseconds on some stores, and what is said of one file has not."""
    (bucket / "a").write_bytes(b"1")
    real, wanted = bucket.filesystem, (bucket / "a").stat()

    class Finer:
        def get_file_info(self, asked):
            infos = real.get_file_info(asked)
            if not isinstance(infos, list):
                return infos
            return [FileInfo(i.path, i.type, size=i.size, mtime_ns=i.mtime_ns // 10**9 * 10**9 + 123_000_000) for i in infos]

    monkeypatch.setattr(urls, "filesystem_of", lambda root, options: Finer())
    (listed,) = bucket.entries()
    assert listed.status == wanted == (bucket / "a").stat() and wanted.st_mtime_ns % 10**9 == 0


def test_files(bucket):
    url, data = bucket / "folder of é/a [1]?.bin", bytes(range(256)) * 40
    for use in (url.read_bytes, url.stat, url.unlink, url.parent.stat):
        assert_raises(FileNotFoundError, "", use)
    url.unlink(missing_ok=True)
    url.write_bytes(data)
    assert url.exists() and url.stat().st_size == len(data) and url.stat().st_mtime_ns > 10**18
    assert url.read_bytes() == pickle.loads(pickle.dumps(url)).read_bytes() == data
    with url.open_stream() as file:
        assert file.read(5) + file.read() == data and file.tell() == len(data)
    (bucket / "b").write_bytes(b"")
    assert [(entry.url.key, entry.is_folder) for entry in bucket.entries()] == [("b", False), ("folder of é", True)]
    assert [entry.url for entry in bucket.entries(recursive=True) if not entry.is_folder] == [bucket / "b", url]
    assert bucket.entry().is_folder and url.parent.entry().is_folder
    assert_raises(FileNotFoundError, "", url.parent.stat)
    url.unlink()
    assert not url.exists()
