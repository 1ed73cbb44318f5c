"""What a folder may hold after a loss of power, given the log that ``power.c`` wrote.

On the disk is for sure: what was there before, the bytes of each file at its last fsync, and all names of a folder at its last
fsync. Of what came later a disk may have any part. Two kinds of file system are played: one that writes changes of names in
their order (journals, as most do), and one that keeps any of them. Of bytes that were not synced any blocks are there; in place of
others are the old ones, or zeros where the file was shorter. That a file system shows there what lay on the disk before, perhaps
of somebody else's file, is not played.
"""

import os
import shutil

BLOCK = 4096


class Node:
    """A file, or a folder: the names in it as the process saw them, and those that are on the disk."""

    def __init__(self, number=None, synced=None):
        self.number = number  # of a file: what it is called in the store
        self.synced = synced  # of a file: the copy of what the disk has for sure
        self.seen, self.durable = {}, {}  # of a folder


class Disk:
    """A folder from now on: all that is in it counts as synced. The store is an empty folder beside it, for ``power_arm``."""

    def __init__(self, root, store):
        self.root, self.store = root, store
        (store / "log").touch()  # the process may be killed before it writes any
        self.files = {}
        self.top = self._known(root)

    def _known(self, path):
        if path.is_dir() and not path.is_symlink():
            node = Node()
            node.seen = {name: self._known(path / name) for name in sorted(os.listdir(path))}
            node.durable = dict(node.seen)
            return node
        number = str(path.stat().st_ino)
        os.link(path, self.store / number)
        shutil.copyfile(path, self.store / f"{number}.0")
        self.files[number] = Node(number, self.store / f"{number}.0")
        return self.files[number]

    def _folder_and_name(self, path):
        *above, name = os.path.relpath(path, self.root).split("/")
        node = self.top
        for part in above:
            node = node.seen[part]
        return node, name

    def _replay(self):
        """The changes of names in the log, each (folder, old, new, node), how many surely are on the disk, and which."""
        changes, sure, durable = [], 0, set()
        for line in (self.store / "log").read_text().splitlines():
            what, path, *rest = line.split("\t")
            if what == "sync":
                if path in self.files:
                    self.files[path].synced = self.store / ".".join([path, *rest])
                continue
            above, name = (self.top, None) if path == str(self.root) else self._folder_and_name(path)
            if what == "syncdir":
                folder = above if name is None else above.seen[name]
                durable |= {i for i, change in enumerate(changes) if change[0] is folder}
                sure = len(changes)
            elif what in ("create", "mkdir"):
                node = above.seen[name] = Node(rest[0] if what == "create" else None)
                self.files[node.number] = node
                changes.append((above, None, name, node))
            elif what == "remove":
                changes.append((above, name, None, above.seen.pop(name)))
            else:  # a file gets another name, or one more
                onto, new = self._folder_and_name(rest[0])
                assert onto is above or what == "link", "renamed into another folder: what that leaves behind is not known here"
                node = above.seen[name] if what == "link" else above.seen.pop(name)
                onto.seen[new] = node
                changes.append((onto, None if what == "link" else name, new, node))
        return changes, sure, durable

    def lose_power(self, rng):
        """Put in the place of the folder what a disk may have; return which kind of file system was played."""
        changes, sure, durable = self._replay()
        if rng.random() < 0.5:
            kind, upto = "names in order", rng.choice([sure, len(changes), rng.randint(sure, len(changes))])
            chosen = changes[:upto]
        else:
            kind, share = "names in any order", rng.choice([0.0, 0.1, 0.5, 0.9, 1.0])
            chosen = [change for i, change in enumerate(changes) if i in durable or rng.random() < share]
        for folder, old, new, node in chosen:
            if old is not None and folder.durable.get(old) is node:
                del folder.durable[old]
            if new is not None:
                folder.durable[new] = node
        there = self.root.with_name("after")
        self._make(self.top, there, rng)
        shutil.rmtree(self.root)
        os.rename(there, self.root)
        return kind

    def _make(self, node, path, rng):
        if node.number is None:
            path.mkdir()
            for name, inner in node.durable.items():
                self._make(inner, path / name, rng)
            return
        last = self.store / node.number
        path.write_bytes(_found(node.synced.read_bytes() if node.synced else b"", last.read_bytes(), rng))
        shutil.copystat(last, path)


def _found(synced, last, rng):
    draw = rng.random()
    if synced == last or draw < 0.2:
        return last
    if draw < 0.5:
        return synced
    size = rng.choice([len(synced), len(last), rng.randint(*sorted((len(synced), len(last))))])
    share, blocks = rng.choice([0.0, 0.5, 0.9]), []
    for begin in range(0, size, BLOCK):
        block = (last if rng.random() < share else synced)[begin : begin + BLOCK]
        blocks.append(block.ljust(BLOCK, b"\0")[: size - begin])
    return b"".join(blocks)
