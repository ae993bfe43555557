"""Near-duplicate documents: what is found, by threshold, on text whose duplicates are known.

A news wire is made of a text with a blank line between documents: agencies send some of them again,
some words changed, a paragraph cut off, a lead put before. Pages of a web site are made of others
between the same header and footer; some pages are there twice. Against the text without the copies:
keywords (the first hundred by log-likelihood) and neighbours (ten of frequent words) in common.

    python bench/near_duplicates.py TEXT WORK [--documents 20000] [--copied .2] [--seed 1]

recall: share of the copies that are left out; precision: share of what is left out that is a copy.
"""

import json
import lzma
import random
from pathlib import Path

from frame import distsim, parser, print_machine, print_table

THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9)
FEWEST_WORDS = 40
BOILERPLATE = 120  # words of header and footer
COPIES = (
    "exact",
    "2% of words",
    "5% of words",
    "10% of words",
    "cut by a quarter",
    "a lead before",
)


def documents(path: Path, most: int) -> list[list[str]]:
    """Return the first documents of a text as words, a token each between blanks."""
    found: list[list[str]] = [[]]
    with (lzma.open if path.suffix == ".xz" else open)(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                found[-1] += line.split()
            elif found[-1]:
                if len(found[-1]) < FEWEST_WORDS:
                    found.pop()
                if len(found) > most:
                    break
                found.append([])
    return found[:most]


def copied(words: list[str], kind: str, draw: random.Random, others: list[str]) -> list[str]:
    """Return a copy as an agency sends it again."""
    if kind.endswith("of words"):
        share = int(kind.partition("%")[0]) / 100
        return [draw.choice(others) if draw.random() < share else word for word in words]
    if kind == "cut by a quarter":
        return words[: -len(words) // 4]
    if kind == "a lead before":
        return [draw.choice(others) for _ in range(max(5, len(words) // 20))] + words
    return words


def written(path: Path, texts: list[tuple[str, list[str]]]) -> Path:
    """Write texts as JSON lines with their names."""
    rows = (json.dumps({"id": name, "text": " ".join(words)}) for name, words in texts)
    path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    return path


def news_wire(
    originals: list[list[str]], share: float, draw: random.Random
) -> list[tuple[str, list[str]]]:
    """Return originals and copies, in random order but each copy behind its original."""
    others = [word for words in originals[:200] for word in words]
    placed = [(float(number), f"o{number}", words) for number, words in enumerate(originals)]
    for number in draw.sample(range(len(originals)), int(share * len(originals))):
        kind = number % len(COPIES)
        again = copied(originals[number], COPIES[kind], draw, others)
        placed.append((draw.uniform(number + 0.5, len(originals)), f"c{kind}-{number}", again))
    return [(name, words) for _, name, words in sorted(placed)]


def web_pages(
    originals: list[list[str]], share: float, draw: random.Random
) -> list[tuple[str, list[str]]]:
    """Return pages between one header and footer; copies have other dates in them."""
    frame = [draw.choice(originals[0]) for _ in range(BOILERPLATE)]
    half = BOILERPLATE // 2
    pages = [(f"o{n}", [*frame[:half], *words, *frame[half:]]) for n, words in enumerate(originals)]
    for number in draw.sample(range(len(originals)), int(share * len(originals))):
        words = [*frame[:half], "updated", str(number), *originals[number], *frame[half:]]
        pages.append((f"c0-{number}", words))
    return pages


def keywords(index: Path, reference: Path) -> set[str]:
    output = distsim("keywords", index, "--against", reference, "--limit", 100).output
    return {line.split("\t")[0] for line in output.splitlines()}


def neighbours(index: Path, words: Path) -> set[tuple[str, ...]]:
    output = distsim("neighbours", index, "-i", words, "-k", 10).output
    rows = (line.split("\t") for line in output.splitlines())
    return {(row[0], row[2]) for row in rows if len(row) > 2}


def share(found: int, texts: list[tuple[str, list[str]]], prefix: str) -> str:
    """Return the share of the texts with such names that were found."""
    return f"{found / max(1, sum(name.startswith(prefix) for name, _ in texts)):.3f}"


def measured(
    texts: list[tuple[str, list[str]]], name: str, work: Path, most_kinds: int
) -> list[list[object]]:
    """Return a row for each threshold."""
    path = written(work / f"{name}.jsonl", texts)
    n_words = sum(len(words) for _, words in texts)
    plain = distsim("index", "build", path, "-o", work / f"{name}.plain", "--force", "-j", 1)
    rows: list[list[object]] = []
    for threshold in THRESHOLDS:
        out = work / f"{name}.tsv"
        index = work / f"{name}-{threshold}"
        cost = distsim(
            "index", "build", path, "-o", index, "--dedup", "near", "--force", "-j", 1,
            "--set", f"near.threshold={threshold}", "--duplicates", out,
        )  # fmt: skip
        dropped = [line.split("\t")[1] for line in out.read_text().splitlines()]
        right = [one for one in dropped if one.startswith("c")]
        kinds = [
            share(sum(one.startswith(f"c{kind}-") for one in right), texts, f"c{kind}-")
            for kind in range(most_kinds)
        ]
        rows.append([
            threshold, share(len(right), texts, "c"),
            f"{len(right) / max(1, len(dropped)):.3f}", *kinds,
            f"{n_words / max(0.01, cost.cpu - plain.cpu) / 1e6:.2f}", f"{cost.peak >> 20:,}",
        ])  # fmt: skip
    return rows


def effects(originals: list[list[str]], work: Path) -> list[list[object]]:
    """Return what copies do to keywords and neighbours, and what is left without them."""
    half = len(originals) // 2
    reference = written(
        work / "reference.jsonl", [(f"r{n}", w) for n, w in enumerate(originals[:half])]
    )
    distsim("index", "build", reference, "-o", work / "reference", "--force")
    clean = [(f"o{n}", words) for n, words in enumerate(originals[half:])]
    distsim("index", "build", written(work / "clean.jsonl", clean), "-o", work / "clean", "--force")
    draw = random.Random(3)
    often = [
        (f"c{n}-{k}", words)
        for n, (_, words) in enumerate(clean[:: max(1, len(clean) // 40)])
        for k in range(25)
    ]  # a few stories, sent 25 times each
    full = [
        *clean,
        *((name, copied(words, "2% of words", draw, originals[0])) for name, words in often),
    ]
    path = written(work / "full.jsonl", full)
    distsim("index", "build", path, "-o", work / "all", "--force")
    distsim("index", "build", path, "-o", work / "near", "--force", "--dedup", "near")
    names = ("clean", "all", "near")
    words = work / "words.txt"
    lines = distsim("ngrams", work / "clean", "-n", 1, "--limit", 400, "--words-only").output
    words.write_text("".join(f"{line.split(chr(9))[0]}\n" for line in lines.splitlines()[100:]))
    for name in names:
        distsim("sign", work / name, "--max-length", 1, "--force", "--set", "finder=false")
    found = {
        name: (keywords(work / name, work / "reference"), neighbours(work / name, words))
        for name in names
    }
    wanted = found["clean"]
    return [
        [
            name,
            *(
                f"{len(a & b) / max(1, len(b)):.3f}"
                for a, b in zip(found[name], wanted, strict=True)
            ),
        ]
        for name in names
    ]


def main() -> None:
    options = parser(__doc__)
    options.add_argument("text", type=Path)
    options.add_argument("work", type=Path)
    options.add_argument("--documents", type=int, default=20_000)
    options.add_argument("--copied", type=float, default=0.2)
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    draw = random.Random(given.seed)
    originals = documents(given.text, given.documents)
    columns = ["threshold", "recall", "precision"]
    costs = ["million tokens a CPU second", "MB"]
    wire = news_wire(originals, given.copied, draw)
    print_table([*columns, *COPIES, *costs], measured(wire, "wire", given.work, len(COPIES)))
    pages = web_pages(originals, given.copied, draw)
    print_table([*columns, "pages", *costs], measured(pages, "web", given.work, 1))
    print_table(
        ["text", "keywords in common", "neighbours in common"], effects(originals, given.work)
    )
    print_machine()


if __name__ == "__main__":
    main()
