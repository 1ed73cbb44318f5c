"""Changes an index until it is killed, and says on standard output what was acknowledged."""

import os
import random
import sys
from itertools import islice

import lookalike as la

KINDS = {"minhash": {}, "simhash": {"kind": "simhash"}, "probed": {"kind": "simhash", "probes": 23}}


def answers(index, queries, **options):
    table = index.query(queries, top=None, **options)
    return sorted(zip(*(table[name].to_pylist() for name in ("query", "id", "estimated_resemblance")), strict=True))


def text_of(number):
    return " ".join(f"w{(number * 7919 + i * i) % 100003}" for i in range(30))


def operations(seed):
    """Yield (what, ids): an endless mixture that every run with this seed repeats."""
    rng = random.Random(seed)
    live, number = [], 0
    while True:
        draw = rng.random()
        if draw < 0.6 or len(live) < 5:
            ids = list(range(number, number + rng.choice([1, 2, 30])))
            number = ids[-1] + 1
            live += ids
            yield "add", ids
        elif draw < 0.9:
            ids = rng.sample(live, min(len(live), rng.choice([1, 3])))
            live = [i for i in live if i not in ids]
            yield "remove", ids
        else:
            yield "compact", []


def apply(index, what, ids):
    given = {"add": (ids, [text_of(i) for i in ids]), "remove": (ids,)}
    getattr(index, what)(*given.get(what, ()))


def main():
    """Fork a child for each line of standard input, ``path seed``; print its process number."""
    with la.Index.create(f"{sys.argv[1]}/warm", **KINDS[sys.argv[2]]) as warm:
        for what, ids in islice(operations(0), 40):
            apply(warm, what, ids)
        warm.query([text_of(1)])
    for line in sys.stdin:
        path, seed = line.split()
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            log = os.open(f"{path}.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            with la.Index.open(path) as index:
                for what, ids in operations(int(seed)):
                    apply(index, what, ids)
                    os.write(log, b".")
        os.close(read)
        os.close(write)
        print(child, flush=True)
        os.waitpid(child, 0)
        print("gone", flush=True)


if __name__ == "__main__":
    main()
