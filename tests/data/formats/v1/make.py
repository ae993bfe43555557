"""Writes the artifacts beside this file, one of each kind, with the distsim of the present folder.

    cd CHECKOUT-OF-96304d7 && python PATH/make.py [TARGET]

They were written once, by the version that introduced format version 1 (commit 96304d7), and are
never written again: when a later change alters bytes, a folder v2 joins this one.
"""

import random
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
# Where each command writes, and the command with today's options (those of the version that wrote
# them had other names, and made `index`, `counts`, `part` and `merged` too, as none is made today);
# {here} is where texts lie, {out} the target.
_SMALL = "--set n_bits=64 --min-count 3 --max-length 2"
COMMANDS = {
    "thesis": "sign {here}/index -o {out}/thesis --preset thesis " + _SMALL,
    "ppmi": "sign {here}/index -o {out}/ppmi --preset thesis --set weighting.scheme=ppmi "
    "--set model.window=2 --set model.by_side=true " + _SMALL,
    "projection": "learn {here}/index -o {out}/projection --set n_bits=64",
    "syntax": "sign {here}/c.conllu --from annotated -o {out}/syntax --set model.kinds=lex "
    "--set keep_features=true " + _SMALL,
}


def write_texts(folder: Path) -> None:
    draw = random.Random(7)
    nouns = ["king", "queen", "prince", "dog", "cat", "horse", "bird", "river", "house", "garden"]
    verbs = ["sees", "loves", "finds", "follows", "hears"]
    adjectives = ["old", "young", "small", "great", "quiet"]
    lines, trees = [], []
    for number in range(60):
        words = ["the", draw.choice(adjectives), draw.choice(nouns), draw.choice(verbs), "the"]
        words += [draw.choice(nouns), "."]
        lines.append(" ".join(words) + "\n" * (number % 20 == 19))
        if number < 12:
            heads = (3, 3, 4, 0, 6, 4, 4)
            tags = ("DET", "ADJ", "NOUN", "VERB", "DET", "NOUN", "PUNCT")
            relations = ("det", "amod", "nsubj", "root", "det", "obj", "punct")
            for place, word in enumerate(words):
                row = (place + 1, word, word, tags[place], "_", "_", heads[place], relations[place])
                trees.append("\t".join(map(str, row)) + "\t_\t_")
            trees.append("")
    (folder / "a.txt").write_text("\n".join(lines[:40]))
    (folder / "b.txt").write_text("\n".join([*lines[40:], "Öl und 中文 naïve .\n"]))
    (folder / "c.conllu").write_text("\n".join([*trees, ""]))


def main() -> None:
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    if not (HERE / "a.txt").exists():
        write_texts(HERE)
    for name, command in COMMANDS.items():
        arguments = command.format(here=HERE, out=out).split()
        print(name, *arguments)
        subprocess.run([sys.executable, "-m", "distsim.cli.start", *arguments], check=True)


if __name__ == "__main__":
    main()
