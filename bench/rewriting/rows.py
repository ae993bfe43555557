"""What anybody can have without a system: SARI of rows that no system should be below.

`python bench/rewriting/rows.py SOURCE REFERENCE...`: copying, truncation, the last token dropped, a
fifth deleted at random, one word replaced by nonsense, one person against the others.
"""

import random
import sys
from pathlib import Path

from distsim.evaluation.rewriting_scores import Sari


def lines(path: str) -> list[list[str]]:
    return [line.split() for line in Path(path).read_text(encoding="utf-8").splitlines()]


def main(source: str, *references: str) -> None:
    sentences = lines(source)
    people = [list(one) for one in zip(*map(lines, references), strict=True)]
    draw = random.Random(1)

    def nonsense(tokens: list[str]) -> list[str]:
        tokens = list(tokens)
        tokens[draw.randrange(len(tokens))] = "zzqq"
        return tokens

    rows = {
        "copy": lambda tokens: tokens,
        "truncated to .8": lambda tokens: tokens[: max(1, int(0.8 * len(tokens)))],
        "the last token dropped": lambda tokens: tokens[:-1],
        "a fifth deleted": lambda tokens: [t for t in tokens if draw.random() > 0.2],
        "a word replaced by nonsense": nonsense,
    }
    for name, made in rows.items():
        scores = [Sari(s, p).score(made(s)) for s, p in zip(sentences, people, strict=True)]
        print(f"{name}\t{100 * sum(scores) / len(scores):.2f}")
    scores = [Sari(s, p[1:]).score(p[0]) for s, p in zip(sentences, people, strict=True)]
    print(f"one person against the others\t{100 * sum(scores) / len(scores):.2f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
