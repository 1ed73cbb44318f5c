"""Which files inputs on a store mean, and digests of files."""

import subprocess
from hashlib import sha256

import pytest
from object_store import copied

import lookalike as la
from lookalike.errors import InputDataError
from lookalike.files.inputs import Skipped, find_places
from lookalike.files.places import digest_of
from lookalike.files.urls import Status, StoreObject, Url
from lookalike.formats.sources import open_sources

TREE = (
    "a.parquet", "b.jsonl.gz", "notes.rtf", ".hidden.jsonl", "_also.jsonl", "_SUCCESS", "a.json_lookalike.json", "sub/a.parquet", "sub/c.csv", "sub/deep/d.jsonl",
    ".git/x.jsonl", "sub/_tmp/y.jsonl", "e [1].jsonl", "Upper.JSONL", "sub.jsonl/z.jsonl",
)  # fmt: skip


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """The same tree on a disk and in a bucket, where no test changes it."""
    local = tmp_path_factory.mktemp("both") / "in"
    for name in TREE:
        (local / name).parent.mkdir(parents=True, exist_ok=True)
        (local / name).write_text('{"text": "one"}\n')
    with copied(local) as remote:
        yield local, remote


def told(sources, root):
    """What is known of inputs, but for where they are."""
    splits = [(str(split.name).replace(str(root), ""), split.relative, split.place.size) for split in sources]
    left = sources.skipped.to_dict()
    return splits, left["files"], left["by_reason"]


def test_folders(both):
    for glob in [
        None,
        "*.jsonl",
        "*.[!p]*",
        "sub/*",
        "d*",
        "deep/*.jsonl",
        "[ab].*",
        "*.{jsonl,csv}",
        ["d*", "b*"],
        ".*",
        ".git/*",
    ]:
        local, remote = (told(open_sources([root], glob=glob), root) for root in both)
        assert remote == local and (remote[0] or glob)


def test_globs(both):
    """But for what is of no known format, of which a glob on a disk is an error, too."""
    for pattern in [
        "*.parquet",
        "*",
        "{a,b}.*",
        "{a,*}.p*",
        "**/*.jsonl",
        "*/*",
        "s?b/*",
        "sub/**/*.jsonl",
        "**/d.jsonl",
        "[a-e].*",
        "e [[]1].jsonl",
    ]:
        found = []
        for root in both:
            try:
                sources = open_sources([f"{root}/{pattern}"])
                found.append((told(sources, root)[0], sources.skipped.counts))
            except InputDataError as error:
                found.append(str(error).replace(str(root), ""))
        assert found[0] == found[1]


def test_files_by_their_names(both, bucket):
    _, remote = both
    for name in ("a.parquet", "e [1].jsonl", ".hidden.jsonl"):
        (split,) = open_sources([str(remote / name)])
        assert (split.name, split.relative) == (str(remote / name), name)
    with pytest.raises(InputDataError, match="none.jsonl: no file or folder of that name"):
        open_sources([str(remote / "none.jsonl")])
    with pytest.raises(InputDataError, match=r"x\*\.jsonl: no file matches"):
        open_sources([str(remote / "x*.jsonl")])
    with pytest.raises(InputDataError, match="is given twice"):
        open_sources([str(remote / "a.parquet"), str(remote)])
    with pytest.raises(InputDataError, match="s3://none-such/: no bucket of that name"):
        open_sources(["s3://none-such"])
    (bucket / "empty/x.rtf").write_bytes(b"")
    with pytest.raises(
        InputDataError,
        match=r"the folder holds no file with a known suffix .*(name others with glob=|is not read|compares text)",
    ):
        open_sources([str(bucket / "empty")])


def test_files_of_one_name_are_told_apart(both):
    local, remote = ([split.relative for split in open_sources([str(root / "a.parquet"), str(root / "sub/a.parquet")])]
                     for root in both)  # fmt: skip
    assert remote == local == ["a.parquet", "sub/a.parquet"]


def test_names_in_an_output_do_not_depend_on_the_current_folder(both, monkeypatch):
    local, remote = both
    for folder in (local.parent, local / "sub"):
        monkeypatch.chdir(folder)
        names = [split.relative for split in open_sources([str(local / "a.parquet"), str(remote / "a.parquet")])]
        assert names == [f"{local}/a.parquet"[1:], f"s3/{remote.root[5:]}/in/a.parquet"]


def test_names_that_arrow_cannot_open_are_counted(bucket):
    """What else is there is read; given by its name such an object is not found, or an error."""
    import boto3  # here, as it is slow to import

    store = boto3.client("s3", endpoint_url=dict(bucket.options)["endpoint_override"])
    for key in ("/lead.jsonl", "a//b.jsonl", "ok.jsonl"):
        store.put_object(Bucket=bucket.root.removeprefix("s3://"), Key=key, Body=b'{"text": "one"}\n')
    for given in (str(bucket), f"{bucket}**/*.jsonl"):
        sources = open_sources([given])
        assert [split.name for split in sources] == [f"{bucket}ok.jsonl"]
        assert sources.skipped.to_dict()["by_reason"] == {"odd_name": 2}
        assert sources.skipped.names["odd_name"] == [f"{bucket}/lead.jsonl", f"{bucket}a//b.jsonl"]
    with pytest.raises(InputDataError, match=r"a/b.jsonl: no file or folder of that name"):
        open_sources([f"{bucket}a//b.jsonl"])


def test_an_object_with_an_odd_name_is_an_error_if_it_is_given(bucket, monkeypatch):
    listed = StoreObject(Url(bucket.root, "in//a.jsonl", bucket.options), False, Status(10, 1))
    monkeypatch.setattr(Url, "entry", lambda url: listed)
    with pytest.raises(InputDataError, match=r"in//a.jsonl: a name with an empty part \(//\) cannot be read; copy"):
        open_sources([str(bucket / "x")])


def test_a_store_that_does_not_answer_is_named(bucket, monkeypatch):
    monkeypatch.setattr(type(bucket), "entry", lambda url: (_ for _ in ()).throw(OSError("AWS Error ACCESS_DENIED")))
    with pytest.raises(InputDataError, match=r"x.jsonl: cannot be read: AWS Error ACCESS_DENIED; check the credentials"):
        open_sources([str(bucket / "x.jsonl")])


def places(*paths):
    return find_places(list(paths), None, "txt", {"txt": [".txt"]}, Skipped())


def test_one_file_and_several(tmp_path):
    paths = [tmp_path / "a.txt", tmp_path / "é b.txt"]
    paths[0].write_bytes(b"one")
    paths[1].write_bytes(bytes(range(256)) * 999)
    assert digest_of([]) is None
    assert digest_of(places(*paths[:1])) == sha256(b"one").hexdigest()
    printed = subprocess.run(["sha256sum", *paths], capture_output=True, check=True).stdout
    assert digest_of(places(*paths)) == sha256(printed).hexdigest()


def test_a_file_that_is_gone(tmp_path):
    (tmp_path / "a.txt").write_text("one")
    found = places(tmp_path / "a.txt")
    (tmp_path / "a.txt").unlink()
    with pytest.raises(la.errors.InputDataError, match=r"a\.txt: cannot be read: No such file"):
        digest_of(found)
