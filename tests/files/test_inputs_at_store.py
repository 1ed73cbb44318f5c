import pytest
from object_store import copied
from raising import assert_raises

from lookalike.errors import InputDataError
from lookalike.formats.sources import open_sources

TREE = (
    "a.parquet", "b.jsonl.gz", "notes.rtf", ".hidden.jsonl", "_also.jsonl", "_SUCCESS", "a.json_lookalike.json", "sub/a.parquet", "sub/c.csv", "sub/deep/d.jsonl",
    ".git/x.jsonl", "sub/_tmp/y.jsonl", "e [1].jsonl", "Upper.JSONL", "sub.jsonl/z.jsonl",
)  # fmt: skip


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    local = tmp_path_factory.mktemp("both") / "in"
    for name in TREE:
        (local / name).parent.mkdir(parents=True, exist_ok=True)
        (local / name).write_text('{"text": "one"}\n')
    with copied(local) as remote:
        yield local, remote


def told(sources, root):
    splits = [(str(split.name).replace(str(root), ""), split.relative, split.place.size) for split in sources]
    left = sources.skipped.to_dict()
    return splits, left["files"], left["by_reason"]


GLOBS = "*.jsonl *.[!p]* sub/* d* deep/*.jsonl [ab].* *.{jsonl,csv} .* .git/*"
PATTERNS = "*.parquet * {a,b}.* {a,*}.p* **/*.jsonl */* s?b/* sub/**/*.jsonl **/d.jsonl [a-e].*"


def test_folders_and_globs(both):
    for glob in (None, *GLOBS.split(), ["d*", "b*"]):
        local, remote = (told(open_sources([root], glob=glob), root) for root in both)
        assert remote == local and (remote[0] or glob)
    for pattern in (*PATTERNS.split(), "e [[]1].jsonl"):
        found = []
        for root in both:
            try:
                found.append(told(open_sources([f"{root}/{pattern}"]), root))
            except InputDataError as error:
                found.append(str(error).replace(str(root), ""))
        assert found[0] == found[1]


def test_names_in_an_output_do_not_depend_on_the_current_folder(both, monkeypatch):
    """Files of one name are told apart."""
    local, remote = both
    for folder in (local.parent, local / "sub"):
        monkeypatch.chdir(folder)
        for paths, names in (
            *(((root / "a.parquet", root / "sub/a.parquet"), ["a.parquet", "sub/a.parquet"]) for root in both),
            ((local / "a.parquet", remote / "a.parquet"), [f"{local}/a.parquet"[1:], f"s3/{remote.root[5:]}/in/a.parquet"]),
        ):
            assert [split.relative for split in open_sources([*map(str, paths)])] == names


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
        (r"the folder holds no file with a known suffix ", bucket / "empty"),
    ):
        assert_raises(InputDataError, said, open_sources, [str(url) for url in urls])


def test_names_that_arrow_cannot_open_are_counted(bucket):
    """What else is there is read; given by its name such an object is not found."""
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
