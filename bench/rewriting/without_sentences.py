"""Text less the sentences that are rewritten: a language model that holds them rewards copying.

`python bench/rewriting/without_sentences.py TEXT OUT FILE...`: left out are lines of TEXT (plain or
xz) that share two runs of six words with a line of FILE..., lines of under five words, and repeated
short ones.
"""

import lzma
import re
import sys

RUN = 6
WORD = re.compile(r"[^\W_]+")
BRACKETS = {"lrb", "rrb", "lsb", "rsb"}


def words(text: str) -> list[str]:
    return [word for word in WORD.findall(text.lower()) if word not in BRACKETS]


def runs(some: list[str]) -> list[tuple[str, ...]]:
    return [tuple(some[i : i + RUN]) for i in range(len(some) - RUN + 1)]


def main(text: str, out: str, *files: str) -> None:
    known = set()
    for path in files:
        with open(path, encoding="utf-8") as lines:
            known.update(run for line in lines for run in runs(words(line)))
    n = dropped = 0
    repeated = set()
    read = lzma.open if text.endswith(".xz") else open
    with read(text, "rt", encoding="utf-8") as lines, open(out, "w", encoding="utf-8") as kept:
        for line in lines:
            n += 1
            some = words(line)
            if len(some) < 5 or line in repeated:
                continue
            if sum(run in known for run in runs(some)) >= 2:
                dropped += 1
                continue
            if len(line) < 400:
                repeated.add(line)
            kept.write(line)
    print(f"{n:,} lines, {dropped:,} left out for the sentences in them")


if __name__ == "__main__":
    main(*sys.argv[1:])
