"""Which files inputs on a store mean, and digests of files."""

import subprocess
from hashlib import sha256

import pytest
from object_store import copied
from raising import assert_raises

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
    globs = ["*.jsonl", "*.[!p]*", "sub/*", "d*", "deep/*.jsonl", "[ab].*", "*.{jsonl,csv}", ["d*", "b*"], ".*", ".git/*"]
    for glob in (None, *globs):
        local, remote = (told(open_sources([root], glob=glob), root) for root in both)
        assert remote == local and (remote[0] or glob)


def test_globs(both):
    """But for what is of no known format, of which a glob on a disk is an error, too."""
    patterns = [
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
    ]
    for pattern in (*patterns, "e [[]1].jsonl"):
        found = []
        for root in both:
            try:
                sources = open_sources([f"{root}/{pattern}"])
                found.append((told(sources, root)[0], sources.skipped.counts))
            except InputDataError as error:
                found.append(str(error).replace(str(root), ""))
        assert found[0] == found[1]


def test_names_in_an_output_do_not_depend_on_the_current_folder(both, monkeypatch):
    """Files of one name are told apart."""

    def relative(*paths):
        return [split.relative for split in open_sources([str(path) for path in paths])]

    local, remote = both
    for root in both:
        assert relative(root / "a.parquet", root / "sub/a.parquet") == ["a.parquet", "sub/a.parquet"]
    for folder in (local.parent, local / "sub"):
        monkeypatch.chdir(folder)
        assert relative(local / "a.parquet", remote / "a.parquet") == [
            f"{local}/a.parquet"[1:],
            f"s3/{remote.root[5:]}/in/a.parquet",
        ]


def test_files_by_their_names(both, bucket):
    _, remote = both
    for name in ("a.parquet", "e [1].jsonl", ".hidden.jsonl"):
        (split,) = open_sources([str(remote / name)])
        assert (split.name, split.relative) == (str(remote / name), name)
    (bucket / "empty/x.rtf").write_bytes(b"")
    for said, *urls in (
        ("none.jsonl: no file or folder of that name", remote / "none.jsonl"),
        (r"x\*\.jsonl: no file matches", remote / "x*.jsonl"),
        ("is given twice", remote / "a.parquet", remote),
        ("s3://none-such/: no bucket of that name", "s3://none-such"),
        (
            r"the folder holds no file with a known suffix .*(name others with glob=|is not read|compares text)",
            bucket / "empty",
        ),
    ):
        assert_raises(InputDataError, said, open_sources, [str(url) for url in urls])


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
    assert_raises(InputDataError, r"a/b.jsonl: no file or folder of that name", open_sources, [f"{bucket}a//b.jsonl"])


def test_an_object_with_an_odd_name_or_a_store_that_does_not_answer_is_named(bucket, monkeypatch):
    listed = StoreObject(Url(bucket.root, "in//a.jsonl", bucket.options), False, Status(10, 1))
    for entry, said in (
        (lambda url: listed, r"in//a.jsonl: a name with an empty part \(//\) cannot be read; copy"),
        (
            lambda url: (_ for _ in ()).throw(OSError("AWS Error ACCESS_DENIED")),
            r"x.jsonl: cannot be read: AWS Error ACCESS_DENIED; check the cred",
        ),
    ):
        monkeypatch.setattr(Url, "entry", entry)
        assert_raises(InputDataError, said, open_sources, [str(bucket / "x.jsonl")])


def places(*paths):
    return find_places(list(paths), None, "txt", {"txt": [".txt"]}, Skipped())


def test_digests_of_one_file_and_of_several(tmp_path):
    paths = [tmp_path / "a.txt", tmp_path / "é b.txt"]
    paths[0].write_bytes(b"one")
    paths[1].write_bytes(bytes(range(256)) * 999)
    found = places(*paths)
    printed = subprocess.run(["sha256sum", *paths], capture_output=True, check=True).stdout
    assert [digest_of(some) for some in ([], found[:1], found)] == [
        None,
        sha256(b"one").hexdigest(),
        sha256(printed).hexdigest(),
    ]
    paths[0].unlink()
    assert_raises(InputDataError, r"a\.txt: cannot be read: No such file", digest_of, found)
