import asyncio
import json
import os
import subprocess
import sys

import pytest
from cli.commands import process

import lookalike as la

mcp = pytest.importorskip("mcp", reason="the extra mcp is not installed")

STORY = "The river rises in the hills, passes nine villages and a mill, and falls into the sea."
NEAR = STORY.replace("nine", "ten")
OTHER = "Quite another text, about roads that leave the town by night and end where nobody lives."


def ask(*paths, questions=(), errors=os.devnull):
    """Return the names of tools, and an answer, or an error's text, to each question."""

    async def asked():
        command = mcp.StdioServerParameters(
            command=sys.executable, args=["-m", "lookalike", "serve", "--mcp", *map(str, paths)], env=dict(os.environ)
        )
        with open(errors, "w") as log:
            async with mcp.stdio_client(command, errlog=log) as both, mcp.ClientSession(*both) as session:
                await session.initialize()
                tools = [tool.name for tool in (await session.list_tools()).tools]
                answers = [await session.call_tool(name, given) for name, given in questions]
                return tools, [a.content[0].text if a.is_error else a.structured_content for a in answers]

    return asyncio.run(asyncio.wait_for(asked(), 120))


WRONG = (
    ("a text must have at most 1,048,576 bytes; this one has 3,000,000", "find_near_duplicates", {"text": "x" * 3_000_000}),
    ("limit must be from 1 to 100; got 0", "find_near_duplicates", {"text": "x", "limit": 0}),
    ("valid string", "find_near_duplicates", {"text": 5}),
    ("Field required", "compare_texts", {"a": "x"}),
    ("matches", "find_near_duplicates", {"text": "\0 \x1b[2J"}),
    ("no document has the id", "explain_removal", {"id": "d"}),
)


def test_texts_alone_can_be_compared():
    pairs = [(STORY, NEAR), (STORY, STORY.upper()), ("", ""), (STORY, "\x1b[31m\u202e" + OTHER)]
    questions = [*(("compare_texts", {"a": a, "b": b}) for a, b in pairs), ("explain_removal", {"id": "x"})]
    tools, (answer, alike, empty, odd, unknown) = ask("--threshold", "0.4", questions=questions)
    assert tools == ["compare_texts"] and "nknown tool" in unknown
    told = {"near_duplicates": True, "resemblance": 8 / 18, "threshold": 0.4, "shingles": [13, 13]}
    assert answer.items() >= (told | dict.fromkeys(("share_of_a_in_b", "share_of_b_in_a"), 8 / 13)).items()
    assert {(part["in"], part["text"].strip()) for part in answer["differences"]} == {("a", "nine"), ("b", "ten")}
    assert alike["resemblance"] == 1.0 and empty["resemblance"] is None and not empty["near_duplicates"]
    assert odd["resemblance"] == 0.0 and "\x1b" not in str(odd) and "\u202e" not in str(odd)


def test_folders_indexes_and_results_are_looked_into(tmp_path):
    """What is read stays as it is, also an index that is being written."""
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for name, text in {"a": STORY, "b": NEAR, "c": OTHER}.items():
        (corpus / f"{name}.txt").write_text(text)
    la.dedup(corpus, threshold=0.4).save(tmp_path / "judged")
    for name, ids, text in (("one", ["x", "y"], STORY), ("two", [1, 2], NEAR)):
        with la.Index.create(tmp_path / name, threshold=0.4, keep_text=name == "one") as index:
            index.add(ids, [text, OTHER])
    before = sorted(corpus.rglob("*"))
    given = [{"text": STORY}, {"text": STORY, "limit": 1}, {"text": "nothing that is like it in any way at all"}]
    questions = [*(("find_near_duplicates", one) for one in given), *(question for _, *question in WRONG)]
    questions.append(("explain_removal", {"id": f"{corpus}/b.txt"}))
    paths = [corpus, *(tmp_path / name for name in ("one", "two", "judged"))]
    with la.Index.open(paths[1]):
        tools, (found, first, none, *refused, removed) = ask(*paths, "-t", "0.4", questions=questions, errors=tmp_path / "log")
    assert tools == ["compare_texts", "find_near_duplicates", "explain_removal"] and sorted(corpus.rglob("*")) == before
    near = pytest.approx(8 / 18)
    told = [(row["in"], row["id"], row["resemblance"]) for row in found["matches"]]
    assert sorted(told[:2]) == sorted([(f"{corpus}", f"{corpus}/a.txt", 1.0), (f"{paths[1]}", "x", 1.0)])
    assert sorted(told[2:], key=str) == [(f"{corpus}", f"{corpus}/b.txt", near), (f"{paths[2]}", 1, None)]
    assert [row["estimated_resemblance"] for row in found["matches"][:2]] == [1.0, 1.0]
    assert [row["begins"][:60] for row in found["matches"] if row["begins"]] == [STORY[:60]] * 2 + [NEAR[:60]]
    assert first["matches"] == found["matches"][:1] and found["documents"] == 7 and none["matches"] == []
    for (said, *_), answer in zip(WRONG, refused, strict=True):
        assert said in answer
    assert f"similar ids: {corpus}/" in refused[-1] and "Traceback" not in (tmp_path / "log").read_text()
    (told,) = removed["documents"]
    assert told.items() >= {"kept": False, "reason": "near", "resemblance": near, "threshold": 0.4}.items()
    assert told["keeper"]["id"] == f"{corpus}/a.txt"


def call(id, text):
    arguments = f'{{"a": {text}, "b": "a b c"}}'
    return f'{{"jsonrpc": "2.0", "id": {id}, "method": "tools/call", "params": {{"name": "compare_texts", "arguments": {arguments}}}}}'


RIGHT = [  # requests that are answered with a result, by ids from 2 on
    *map(
        call,
        range(2, 8),
        (r'"a b c \ud800"', r'"\udc00\ud83d"', r'"\ud83d\ude00 \\ud800"', "NaN", "1" + "0" * 5000, '"tab\there"'),
    ),
    call(8, '"a b"').replace(", ", ",\r"),
    r'{"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {"name": "\ud800", "arguments": {}}}',
    '{"jsonrpc": "2.0", "id": 10, "method": "ping"}',
]
WRONG_REQUESTS = {  # the ids of what is answered with an error
    call("null", '"a"'): [None],
    call("1.5", '"a"'): [None],
    call(11, "[" * 100_000 + "]" * 100_000): [None],
    f"[{call(12, '1')}, {call(13, '2')}]": [12, 13],
    "[]": [None],
    '{"jsonrpc": "2.0", "id": 14,': [None],
    '{"jsonrpc": "2.0", "id": 15, "method": "tools/call"}': [15],
    '{"jsonrpc": "2.0", "id": 16, "method": "tools/call", "params": [1]}': [16],
    r'{"jsonrpc": "2.0", "id": 17, "method": "\ud800"}': [17],
    '{"id": 18, "method": "ping"}': [18],
    "": [],
}


def test_every_request_is_answered():
    hello = {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    first = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello})
    lines = ['{"jsonrpc": "2.0", "method": "notifications/initialized"}', *RIGHT[:-1], *WRONG_REQUESTS, RIGHT[-1]]
    expected = [*enumerate([True] * len(RIGHT), 2), *((id, False) for ids in WRONG_REQUESTS.values() for id in ids)]
    answers = []
    with subprocess.Popen(
        process("serve --mcp"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as mcp:
        for some, n in (([first], 1), (lines, len(expected))):
            mcp.stdin.write("".join(f"{line}\n" for line in some).encode())
            mcp.stdin.flush()
            answers += [json.loads(mcp.stdout.readline()) for _ in range(n)]
        mcp.stdin.close()
        assert mcp.stdout.read() == b""
    assert sorted(((one["id"], "result" in one) for one in answers), key=str) == sorted([(1, True), *expected], key=str)
