"""JSON lines: what is judged is what is written, and every line that cannot be read is named with its reason."""

import pytest
from formats.format_samples import sample
from formats.jobs import put, refused

import lookalike as la

A = "one two three four five six seven eight"
B = "nothing that stands in here is in any of the others"


def write(path, *lines):
    return put(path, [line if isinstance(line, bytes) else line.encode() for line in lines])


@pytest.mark.parametrize("errors", ["strict", "replace"])
@pytest.mark.parametrize("depth", [1_500, 100_000])
@pytest.mark.parametrize(("begin", "end"), ["[]", ('{"a":', "}")])
def test_values_nested_too_deeply_are_refused(tmp_path, errors, depth, begin, end):
    deep = f'{{"text":"{A}","x":{begin * depth}1{end * depth}}}\n'
    source = write(tmp_path / "in.jsonl", f'{{"text":"{B}"}}\n', deep)
    for annotate in (False, True):
        said = r"in\.jsonl, row 2: values are nested too deeply to be read"
        refused(said, la.dedup, source, encoding_errors=errors, annotate=annotate)


@pytest.mark.parametrize("errors", ["strict", "replace"])
@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"text":"a","x":NaN}', "not valid JSON: JSON has no NaN"),
        ('{"text":"a","x":-Infinity}', "not valid JSON: JSON has no -Infinity"),
        ('{"text":"a","x":01}', "not valid JSON"),
        ('{"text":', r"not valid JSON: Expecting value: column 9; .*:';"),
        ('{"text":"a"} {"text":"b"}', "not valid JSON: Extra data: column 14"),
        ('{"text":"a"}\r{"text":"b"}', "not valid JSON: Extra data"),
        ('{"text":"a\x01"}', "not valid JSON"),
        ('{"text":"a', "not valid JSON"),
        ("[1]", r"an object is expected.*; for an array, pass format='json'"),
        ('{"text":5,"text":"a"}', r"cannot be read: Expected `str \| null`, got `int` - at `\$\.text`"),
        ('{"Text":"a"}', "field 'text' is missing; fields found: Text"),
        ("\ufeff\ufeff" + '{"text":"a"}', "not valid JSON"),
        ('{"text":"a"}'.encode("utf-16-le"), r"not valid JSON \(it looks like UTF-16\)"),
    ],
)
def test_lines_that_are_not_json_are_refused(tmp_path, errors, line, words):
    """Also beside invalid UTF-8 that may be replaced."""
    for rest in (b"\n", b'\n{"text":"\xff"}\n'):
        source = write(tmp_path / "in.jsonl", line, rest)
        refused(r"in\.jsonl, row 1: " + words, la.dedup, source, encoding_errors=errors)


@pytest.mark.parametrize(
    "value", [b'"x \\ud800 y"', b'"\\udc00"', b'"\\ud83d\\u0041"', b'"\\\\\\ud800"', b'["\\udfff"]', b'{"\\ud800":1}']
)
def test_lone_surrogates_are_named_or_replaced(tmp_path, value):
    """In the text, an id or any other field; in place of each stands U+FFFD wherever the row is converted."""
    line = b'{"text":"%s","id":"a","x":%s}\n' % (A.encode(), value)
    source = write(tmp_path / "in.jsonl", line)
    said = r"in\.jsonl, row 1: field 'x' holds a lone surrogate.*encoding_errors='replace'"
    refused(said, la.dedup, source)
    result = la.dedup(source, encoding_errors="replace", id="id")
    for name in ("out.jsonl", "out.csv", "out.parquet"):
        result.write(tmp_path / name)
    assert (tmp_path / "out.jsonl").read_bytes() == line
    assert "\ufffd" in (tmp_path / "out.csv").read_text() and "?" not in (tmp_path / "out.csv").read_text()
    if value[:1] == b'"':
        both = write(tmp_path / "both.jsonl", line, line.replace(value, b'"other"'))
        result = la.dedup(both, encoding_errors="replace", id="x")
        (first,) = result.removed["duplicate_of"].to_pylist()
        assert "\ufffd" in first == result.annotations["cluster"][0].as_py()


def test_pairs_of_surrogates_and_backslashes_stay(tmp_path):
    value = r'"\ud83d\ude00 \\ud800 \u00e9 \ud800\\"'
    source = write(tmp_path / "in.jsonl", f'{{"text":"{A}","x":{value}}}\n')
    la.dedup(source, encoding_errors="replace").write(tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == f"text,x\n{A},\U0001f600 \\ud800 é \ufffd\\\n"


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_invalid_bytes_beside_the_text(tmp_path, name):
    """They are copied as they are; a conversion would change them, and says so unless it may."""
    source = write(tmp_path / "in.jsonl", b'{"text":"%s","x":"ab\xffcd"}\n' % A.encode())
    result = la.dedup(source)
    result.write(tmp_path / "out.jsonl")
    assert (tmp_path / "out.jsonl").read_bytes() == source.read_bytes()
    said = rf"row 1: invalid UTF-8 at byte {source.read_bytes().index(0xFF)} of"
    for one in (result, la.decontaminate(source, against=[B])):
        refused(said, one.write, tmp_path / name)
    la.decontaminate(source, against=[B], encoding_errors="replace").write(tmp_path / name)
    la.dedup(source, encoding_errors="replace").write(tmp_path / name, force=True)
    assert "ab\ufffdcd".encode() in (tmp_path / name).read_bytes()


def test_the_last_of_two_fields_of_one_name_counts(tmp_path):
    """For what is judged, and in every format."""
    twice = f'{{"text":"{B}","x":1,"text":"{A}","x":2}}\n'
    source = write(tmp_path / "in.jsonl", twice, f'{{"text":"{A}","x":3}}\n')
    result = la.dedup(source)
    assert result.keep.tolist() == [True, False]
    result.write(tmp_path / "out.jsonl")
    assert (tmp_path / "out.jsonl").read_text() == twice
    result.write(tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == f"text,x\n{A},2\n"


ADDED = ["keep", "duplicate_of", "resemblance", "cluster"]


@pytest.mark.parametrize("name", ADDED)
@pytest.mark.parametrize("errors", ["strict", "replace"])
@pytest.mark.parametrize("key", [lambda name: f'"{name}"', lambda name: f'"\\u{ord(name[0]):04x}{name[1:]}"'])
def test_no_field_is_annotated_twice(tmp_path, name, errors, key):
    """However it is spelled, and in a line that must be mended to be read."""
    for other in (b'"z"', b'"\\ud800"', b'"\xff"')[: 1 if errors == "strict" else 3]:
        source = write(tmp_path / "in.jsonl", f'{{"text":"{A}","y":', other, f",{key(name)}:null}}\n")
        said = f"row 1: the field '{name}' already exists"
        refused(said, la.dedup, source, annotate=True, encoding_errors=errors)
        result = la.dedup(source, encoding_errors=errors)
        refused(said, result.write, tmp_path / "out.jsonl", annotate=True)


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
def test_columns_asked_for_twice_are_read_and_not_annotated_twice(tmp_path, form):
    path, said = tmp_path / f"in.{form}", "'cluster' already exists, and writing would add another"
    for asked in ("text", "id", "within"):
        columns = {"text": A, "id": "a", "within": "b"}
        columns["cluster"] = columns.pop(asked)
        put(path, sample(form).make([columns]))
        refused(said, la.dedup, path, annotate=True, **{asked: "cluster"})
        refused(said, la.dedup(path, **{asked: "cluster"}).write, tmp_path / "out.jsonl", annotate=True)
    put(path, sample(form).make([{"text": A}, {"text": A + " "}]))
    assert la.dedup(path, id="text").removed["duplicate_of"].to_pylist() == [A]
    assert la.dedup(path, id="text", keep="largest:text", within="text").keep.tolist() == [True, True]
    assert la.dedup(path, id="text", keep="largest:text").keep.tolist() == [False, True]


def test_byte_order_marks_stay_at_the_beginning(tmp_path):
    one = write(tmp_path / "one.jsonl", f'\ufeff{{"text":"{A}"}}')
    two = write(tmp_path / "two.jsonl", f'\ufeff{{"text":"{B}"}}\r\n')
    result = la.dedup([one, two])
    for name in ("out.jsonl", "out.csv"):
        result.write(tmp_path / name)
    assert (tmp_path / "out.jsonl").read_bytes() == one.read_bytes() + b"\n" + two.read_bytes()[3:]
    assert (tmp_path / "out.csv").read_text() == f"text\n{A}\n{B}\n"
    result.write(tmp_path / "all.jsonl", annotate=True)
    for name in ("out.jsonl", "all.jsonl"):
        assert la.dedup(tmp_path / name).keep.tolist() == [True, True]
