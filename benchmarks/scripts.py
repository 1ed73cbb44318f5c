"""Russian, Greek, Arabic, Hindi, Chinese, Japanese, Korean and Thai: lookalike beside gaoya and rensa, one thread each.

Texts are generated with a fixed seed, 40 MB of each: words of syllables of the script, drawn by Zipf's law, short ones most often, with
the punctuation, the numbers, the capitals and the spaces (or none) of the language. A third of the documents are near-copies of earlier
ones; the truth is the resemblance of sets of tokens that Python makes, whose sizes must be those of lookalike's. Classical poems, if
the folder of data has them, are real; their truth is brute force. Figures go to ``results/scripts.jsonl``, of which ``page.py`` makes a section.

Usage: python benchmarks/scripts.py [--data FOLDER] [--quick]   (quick: 2 MB of each, once, and nothing is written)
"""

import argparse
import re
import tempfile
import time
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import end_to_end
import generated
import numpy as np
import page
import pyarrow as pa
import pyarrow.parquet as pq
from contestants import CHARACTERS, MARKED, THRESHOLD, word_shingles

import lookalike as la

SIZE, WORDS = 40e6, 30_000
KEY = b"benchmarks of scripts"


class Script(NamedTuple):
    """What words are made of: syllables begin and go on with one of these, the first ones most often, and may be nothing; a word has an ending."""

    begins: str
    goes_on: str
    endings: str
    syllables: float  # of a word, beyond its first
    space: str = " "
    comma: str = ","
    stop: str = "."

    def vocabulary(self, rng: np.random.Generator) -> np.ndarray:
        """Words, shorter ones mostly first; some are numbers."""

        begins, goes_on, endings = (parts.split(" ") for parts in self[:3])

        def some(parts: list[str]) -> str:
            return parts[int(len(parts) * rng.random() ** 2)]

        found = {str(rng.integers(1, 2030)) for _ in range(WORDS // 300)}
        while len(found) < WORDS:
            syllables = (some(begins) + some(goes_on) for _ in range(1 + rng.poisson(self.syllables)))
            found.add(re.sub(r"ς(?=\w)", "σ", "".join(syllables) + some(endings)))
        words = np.array(sorted(found))
        return words[np.argsort(np.char.str_len(words) + rng.normal(0, 2, len(words)))]

    def texts(self, size: float) -> tuple[list[str], list[int]]:
        """Return texts of so many bytes, and the family of each."""
        rng = np.random.default_rng(7)
        draw = generated.by_zipf(rng, self.vocabulary(rng))

        def sentences(size: int) -> np.ndarray:
            words, chances = draw(size).astype(object), rng.random(size)
            ends = chances < 0.07
            words[1:][ends[:-1]] = [word.capitalize() for word in words[1:][ends[:-1]]]
            return words + np.where(ends, self.stop, np.where(chances < 0.14, self.comma, "")).astype(object)

        texts, families, taken = [], [], 0
        for family, words in generated.near_copies(rng, sentences):
            texts.append(self.space.join(words.tolist()))
            families.append(family)
            taken += len(texts[-1].encode())
            if taken >= size:
                return texts, families


def of_bytes(first: int, last: int, encoding: str) -> str:
    """The frequent characters of an old encoding of two bytes, in a fixed disorder."""
    found = (bytes([a, b]).decode(encoding, "ignore") for a in range(first, last + 1) for b in range(0x80, 0xFF))
    return " ".join(np.random.default_rng(3).permutation([one for one in found if len(one) == 1]).tolist())


SCRIPTS = {
    "English": Script("t s n r d l c m w h p f b g th st y v k pr ch", "e a i o u en an er on ea ou at it al ow ee", " s ing ed ly t tion", 1.1),  # for comparison
    "Russian": Script("п с пр т к в н ст р м д г л б з ч ш ж х ф ц щ э", "о а е и у ы я ен ан ел ой ь ор ит ё ю", " й ть го ся ми х ние м", 1.9),
    "Greek": Script("τ κ π σ ν μ λ ρ γ δ θ φ χ β στ πρ ξ ζ ψ", "α ο ε ι η ου αι ά ί ό ει ω ή έ ύ υ ώ", "ς  ν ται ση ου ων", 1.8),
    "Arabic": Script("ل م ن ي ب ر ت ع د ف ق ك س ال ح ج ش ص خ أ ط ه", " ا  و  ي  ر  ا  و  ي  ر ن  َ ّ", " ة ات ين ها ون ه", 1.8, comma="،"),
    "Hindi": Script("क र न स त म ह प ल य द ब व ग ज भ च थ श ट ध ष", " ा े  ि ी ो ् ं ु ू ै", " ना ने ता कर यों", 1.4, stop="।"),
    "Chinese": Script(of_bytes(0xB0, 0xD7, "gb2312"), "", "", 0.7, "", "，", "。"),
    "Japanese": Script(" ".join([of_bytes(0x88, 0x97, "shift_jis"), *"アイカキクコサシスタテトナニハフマミムメラリルレロン"]), "  ー", "の は を に が と で した する った い から って ない ます", 0.6, "", "、", "。"),
    "Korean": Script(of_bytes(0xB0, 0xC8, "euc-kr"), "", " 은 는 이 을 를 의 에 로 도 고 다", 1.6),
    "Thai": Script("ก น ร ม ค ล ส ท ต ป พ บ ห ว ย จ เก แล ไม ให โท ใน เป", "า น ี ั ง ม ่า ้า ิ ร ัน ุ ่ ้ ู ึ ื่อ อ", " น ง", 0.6, "", " ", " "),
}  # fmt: skip


def truth(texts: list[str], families: list[int], words: re.Pattern[str]) -> dict[int, list[int]]:
    """Return what resembles each document by the threshold, of its own family: others have next to nothing in common with it."""
    sets, members = [word_shingles(text, words) for text in texts], dict[int, list[int]]()
    wrong = np.flatnonzero(np.diff(la.shingle(texts).offsets) != [len(one) for one in sets])
    assert not len(wrong), f"{len(wrong)} documents have other tokens in Python, the first of them {wrong[:5]}"
    for row, family in enumerate(families):
        members.setdefault(family, []).append(row)
    neighbours: dict[int, list[int]] = {row: [] for row in range(len(texts))}
    for rows in members.values():
        for a, b in combinations(rows, 2):
            common = len(sets[a] & sets[b])
            if common >= THRESHOLD * (len(sets[a]) + len(sets[b]) - common):
                neighbours[a].append(b)
                neighbours[b].append(a)
    return neighbours


def shingling(texts: list[str], repeats: int) -> dict[str, float]:
    """Megabytes of text a second of the processor, of shingles alone, the best of some runs; after a first run on little."""
    column, found = pa.array(texts), {}
    ways: dict[str, dict[str, Any]] = {"words": {}, "words, key": {"key": KEY}, "characters": {"unit": "char"}}
    for name, given in ways.items():
        la.shingle(column[:20], **given)
        seconds = []
        for _ in range(repeats):
            begun = time.process_time()
            la.shingle(column, **given)
            seconds.append(time.process_time() - begun)
        found[name] = round(sum(len(text.encode()) for text in texts) / 1e6 / min(seconds), 1)
    return found


def all_scripts(data: Path, folder: Path, quick: bool) -> list[dict]:
    """Make the texts and measure all of them."""
    measured, repeats = [], 1 if quick else 3
    texts = {name: script.texts(end_to_end.QUICK_BYTES if quick else SIZE) for name, script in SCRIPTS.items()}
    if (poems := data / "poems_zh.parquet").exists():
        real = pq.read_table(poems, columns=["text"])["text"].to_pylist()
        texts["Chinese poems"] = end_to_end.first(real, end_to_end.QUICK_BYTES / 3) if quick else real, []
    for name, (some, families) in texts.items():
        spaced = name in SCRIPTS and SCRIPTS[name].space
        names = ["lookalike", *(["rensa, marks", "gaoya"] if spaced else ["rensa, characters", "gaoya, characters"])]
        neighbours = truth(some, families, MARKED if spaced else CHARACTERS) if families else end_to_end.truth(some)
        records = end_to_end.measure(name, end_to_end.write_texts(folder / "texts.parquet", some), names, repeats, neighbours)
        measured += [records[0] | {"shingling": shingling(some, repeats)}, *records[1:]]
    return measured


def main() -> None:
    """Measure, and write the figures and the pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=page.ROOT.parent / "shared/data")
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        records = [end_to_end.about(), *all_scripts(given.data, Path(folder), given.quick)]
    print(page.scripts(records))
    if not given.quick:
        end_to_end.keep(page.SCRIPTS, records)


if __name__ == "__main__":
    main()
