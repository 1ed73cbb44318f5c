"""What was acknowledged is there: after a kill in the middle of writes, and beside queries."""

import random
import signal
import threading

import httpx
import pytest
from serve.served import Server, make_index
from waiting import until

import lookalike as la

ROUNDS, WRITERS = 2, 3


def write(client, name, acknowledged, attempted):
    """Add, replace and remove documents until the server is gone; note what it has acknowledged."""
    rng = random.Random(name)
    for i in range(10_000):
        ids = [f"{name}-{i}-{k}" for k in range(rng.randrange(1, 4))]
        for id in ids:
            attempted[id] = f"text {id} of version one"
        again = rng.choice([*acknowledged, None]) if i % 3 == 1 else None
        gone = rng.choice([*acknowledged, None]) if i % 3 == 2 else None
        try:
            client.post(
                "/v1/documents", json={"documents": [{"id": id, "text": attempted[id]} for id in ids]}
            ).raise_for_status()
            acknowledged |= {id: attempted[id] for id in ids}
            if again:
                attempted[again] = f"text {again} of version {i}"
                known = acknowledged.pop(again)
                client.post("/v1/documents", json={"documents": [{"id": again, "text": attempted[again]}]}).raise_for_status()
                assert known and acknowledged.setdefault(again, attempted[again])
            if gone and gone in acknowledged:
                acknowledged.pop(gone)
                client.request("DELETE", "/v1/documents", json={"ids": [gone]}).raise_for_status()
                attempted.pop(gone)
        except httpx.HTTPError:
            return


def test_nothing_acknowledged_is_lost_by_a_kill(tmp_path):
    server = Server(make_index(tmp_path / "seen.idx", None, keep_text=True))
    held = {}
    for turn in range(ROUNDS):
        server.start()
        acknowledged, attempted = [{} for _ in range(WRITERS)], [{} for _ in range(WRITERS)]
        clients = [server.client() for _ in range(WRITERS)]
        threads = [
            threading.Thread(target=write, args=(clients[n], f"{turn}{n}", acknowledged[n], attempted[n]))
            for n in range(WRITERS)
        ]
        for thread in threads:
            thread.start()
        until(lambda some=acknowledged, turn=turn: sum(map(len, some)) > 3 + 10 * turn)
        assert server.stop(signal.SIGKILL)[0] == -9
        for thread in threads:
            thread.join()
        for client in clients:
            client.close()
        with la.Index.open(server.folder) as index:
            assert index.check() == []
            there = {row["id"]: row["text"] for table in index.export() for row in table.to_pylist()}
        for done, tried in zip(acknowledged, attempted, strict=True):
            assert done.items() <= there.items()
            held |= done
            held |= {id: text for id, text in there.items() if id in tried}
        assert set(there) <= set(held) | {id for tried in attempted for id in tried}
        assert len(held) > 5
        held = there


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server of an empty index."""
    made = Server(make_index(tmp_path_factory.mktemp("serve") / "seen.idx", None, keep_text=True)).start()
    yield made
    assert made.stop()[0] == 0


def test_readers_beside_a_writer_see_what_was_acknowledged(server):
    """Each query is answered for a state between what was acknowledged before it and what was begun after it."""
    text = "some words that all of these documents have in common and one more "
    acknowledged, begun, wrong, over = [0], [0], [], threading.Event()

    def read():
        with server.client() as client:
            while not over.is_set():
                low = acknowledged[0]
                (found,) = client.post("/v1/query", json={"texts": [text], "top": 1000}).json()["results"]
                ids = sorted(int(match["id"]) for match in found)
                if ids != list(range(len(ids))) or not low <= len(ids) <= begun[0]:
                    wrong.append((low, ids, begun[0]))

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    with server.client() as client:
        while begun[0] < 150:
            ids = range(begun[0], begun[0] + 5)
            begun[0] += 5
            client.post("/v1/documents", json={"documents": [{"id": str(i), "text": text} for i in ids]}).raise_for_status()
            acknowledged[0] = begun[0]
        over.set()
        for reader in readers:
            reader.join()
        assert wrong == []
        texts = [text, "quite different", text.replace("words", "phrases")]
        served = client.post("/v1/query", json={"texts": texts, "top": 100}).json()["results"]
    with la.Index.open(server.folder, "read") as index:
        for row in index.query(texts, top=100).to_pylist():
            assert served[row.pop("query")].pop(0) == row
        assert served == [[], [], []]
