"""Do translations of unknown words help a small translation system?

For each size of training data and each draw of it: a phrase table from the aligner's links, and
rules for the unknown words of the development and test sets by `distsim augment --unknown`. First
the rate: how often the first answer, or one of the first five, is what an aligner that was trained
on everything links to the word in the reference, beside copying the word, with paired intervals
over types of words; the control has the answers of other words. Then, with --tunings, end to end:
BLEU and chrF of the decoder here. Weights are tuned for the baseline, and shared but for those of
copying and of the added score; each tuning has another draw of four fifths of the development set.

    python bench/translation/experiment.py DATA INDEX WORK [--pair en-es] [--turned]
                                           [--sizes 2000] [--draws 3] [--tunings 3]

DATA: the folder bitext-lohelp, or bitext-europarl-fr-en (`--pair en-fr`: Europarl to learn from,
newstest2012 held out). INDEX: a signed index of the source language; `none`: that of the source
half alone. WORK: a folder for indexes of the source sides of one half of the sentence pairs, and
of the target sides of the other half, so that they are not translations of each other. A size
above the number of pairs is all of them. --turned: from the second language to the first.
"""

import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from data import Bitext, Pair, is_news, read_bitext, read_news
from decoder import COPIED, JUMP, LM, PHRASES, UNKNOWN, WORDS, Decoder, Table, Translation
from frame import Cpu, parser, print_machine, print_table
from language_model import LanguageModel
from measures import Metric, Wanted, mean_by_type, recall
from phrase_extraction import align, write_phrase_table
from tuning import tune

from distsim import CorpusIndex, IndexOptions, sign
from distsim.contexts import Selection
from distsim.paraphrase import Monolingual, augment_unknown_words

N_BEST = 60
SYSTEMS = ("baseline", "unknown words", "unknown words, rules of others")
Answers = dict[str, list[str]]


class Outcome(NamedTuple):
    """Of one system and tuning: translations of the test set, and recall of unknown words."""

    translations: list[list[str]]
    recall: float


@dataclass
class Setting:
    """What all systems share; wanted: of each draw, unknown words and what is right for them."""

    bitext: Bitext
    model: LanguageModel
    links: list[set[tuple[int, int]]]
    texts: Monolingual
    reordering: int
    rounds: tuple[int, int]

    def decode(
        self, table: Table, weights: np.ndarray, pairs: list[Pair], n_best: int
    ) -> list[list[Translation]]:
        decoder = Decoder(table, self.model, weights, self.reordering)
        return [decoder.translate(words, n_best) for words, _ in pairs]

    def tuned(
        self, table: Table, firsts: list[np.ndarray], rounds: int, dev: list[Pair],
        fixed: Sequence[int] = (),
    ) -> np.ndarray:  # fmt: skip
        return tune(
            lambda tried: self.decode(table, tried, dev, N_BEST),
            [target for _, target in dev], firsts, rounds,
            [*fixed, *(() if self.reordering else (JUMP,))],
        )  # fmt: skip

    def wanted(self, answered: Answers) -> list[Wanted]:
        """Return the unknown words of the test set with the reference's words aligned to them."""
        return [
            Wanted(number, source[i], tuple(target[j] for a, j in sorted(links) if a == i))
            for number, ((source, target), links) in enumerate(
                zip(self.bitext.test, self.links, strict=True)
            )
            for i in range(len(source))
            if source[i] in answered
        ]


def half_index(sentences: Iterator[list[str]], path: Path) -> Path:
    """Return a signed index of sentences, made where there is none."""
    if not (path / "manifest.json").exists():
        with tempfile.TemporaryDirectory() as place:
            text = Path(place, "text")
            text.write_text("\n".join(map(" ".join, sentences)) + "\n", encoding="utf-8")
            index = CorpusIndex.build(text, path, options=IndexOptions("lines"), jobs=1)
        sign(index, selection=Selection(min_count=1, max_length=1), jobs=1)
    return path


def monolingual(bitext: Bitext, index: str, folder: Path, name: str) -> Monolingual:
    """Return the indexes of the source sides of one half, and of the target sides of the other."""
    half = len(bitext.rest) // 2
    source = half_index((pair[0] for pair in bitext.rest[:half]), folder / f"{name}.source")
    target = half_index((pair[1] for pair in bitext.rest[half:]), folder / f"{name}.target")
    if index == "none":
        return Monolingual(source=source, target=target)
    return Monolingual(source=index, domain=source, target=target)


def rate_rows(
    drawn: Sequence[tuple[list[Wanted], Answers]], n_tokens: int
) -> Iterator[tuple[str, str]]:
    """Yield names and values: rates of all draws, intervals over types of words."""
    copies, first, five, others, left = [], [], [], [], []
    types = []
    for wanted, answered in drawn:
        words = list(answered)
        other = dict(zip(words, words[1:] + words[:1], strict=True))
        for one in wanted:
            right, said = " ".join(one.words), answered[one.word]
            said = said or [one.word]
            types.append(one.word)
            copies.append(one.word == right)
            first.append(said[0] == right)
            five.append(right in said[:5])
            others.append((answered[other[one.word]] or [""])[0] == right)
            left.append(said[0] != one.word)
    yield "unknown, % of tokens", f"{100 * len(types) / len(drawn) / n_tokens:.1f}"
    for name, values in (
        ("copy", copies), ("first answer", first), ("first five", five),
        ("answers of other words", others), ("first answers that are no copies", left),
    ):  # fmt: skip
        yield name, mean_by_type(values, types)
    gains = np.array(first, float) - np.array(copies, float)
    yield "first answer less copy", mean_by_type(gains, types)


def first_weights(table: Table) -> list[np.ndarray]:
    """Return weights to begin with."""
    weights = np.full(table.n_features, 0.2)
    weights[[LM, WORDS, PHRASES, JUMP, COPIED, UNKNOWN]] = 0.5, 0.3, 0.0, 0.1, 0.0, 0.0
    return [weights]


def further_weights(weights: np.ndarray, table: Table) -> list[np.ndarray]:
    """Return where the second tuning begins: once wary of new rules, once not.

    Until there are such rules nothing depends on what copying is worth. A language model gives
    unknown words less than any other, about e^-4 of a rare word.
    """
    firsts = []
    for bonus, trust in ((0.0, 1.0), (4.0, 3.0)):
        begun = np.append(weights, np.full(table.n_features - weights.size, trust * weights[LM]))
        begun[COPIED], begun[UNKNOWN] = bonus * weights[LM], 4.0 * weights[LM]
        firsts.append(begun)
    return firsts


def write_others(new: Path, answered: Answers, path: Path) -> None:
    """Write a table whose unknown words have the rules of others, the copy that of themselves."""
    words = [word for word, said in answered.items() if said]
    taker = dict(zip(words, words[1:] + words[:1], strict=True))
    lines = []
    for line in new.read_text(encoding="utf-8").splitlines():
        source, target, rest = line.split(" ||| ", 2)
        if source in taker:
            target = taker[source] if target == source else target
            line = f"{taker[source]} ||| {target} ||| {rest}"
        lines.append(line)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def end_to_end(
    setting: Setting, tables: Sequence[Path], wanted: list[Wanted], tunings: int
) -> list[list[Outcome]]:
    """Return the outcomes of each tuning: of the baseline and of the other tables."""
    sentences = [source for source, _ in setting.bitext.dev + setting.bitext.test]
    base, *augmented = [Table(path, setting.model, sentences) for path in tables]
    outcomes = []
    for number in range(tunings):
        dev = random.Random(number).sample(setting.bitext.dev, len(setting.bitext.dev) * 4 // 5)
        start = setting.tuned(base, first_weights(base), setting.rounds[0], dev)
        found = []
        for table in (base, *augmented):
            own = (COPIED, UNKNOWN, *range(base.n_features, table.n_features))
            fixed = [n for n in range(table.n_features) if n not in own]
            weights = start
            if table is not base:
                firsts = further_weights(start, table)
                weights = setting.tuned(table, firsts, setting.rounds[1], dev, fixed)
            said = [list(one[0].words)
                    for one in setting.decode(table, weights, setting.bitext.test, 1)]  # fmt: skip
            found.append(Outcome(said, recall(wanted, said)))
        outcomes.append(found)
    return outcomes


def quality_rows(
    size: int,
    outcomes: list[list[Outcome]],
    references: list[list[str]],
    systems: Sequence[str] = SYSTEMS,
) -> Iterator[list[object]]:
    base = [found[0].translations for found in outcomes]
    for n, name in enumerate(systems):
        said = [found[n].translations for found in outcomes]
        cells: list[object] = [size, name]
        for kind in ("BLEU", "chrF"):
            metric = Metric(kind, references)
            cells += [f"{metric.mean(said):.2f}", str(metric.difference(base, said)) if n else ""]
        yield [*cells, f"{100 * np.mean([found[n].recall for found in outcomes]):.1f}%"]


def run_size(
    setting: Setting, size: int, draws: int, tunings: int
) -> tuple[list[tuple[str, str]], list[list[Outcome]]]:
    """Return the rates and the outcomes of all draws of training data of a size."""
    drawn, outcomes = [], list[list[Outcome]]()
    bitext = setting.bitext
    seconds = 0.0
    for draw in range(1, draws + 1):
        with tempfile.TemporaryDirectory() as place:
            learned, new, others, text = (
                Path(place, name) for name in ("learned", "new", "others", "text")
            )
            write_phrase_table(bitext.drawn(size, draw), learned)
            text.write_text("".join(" ".join(s) + "\n" for s, _ in bitext.dev + bitext.test))
            with Cpu() as cpu:
                report = augment_unknown_words(learned, text, setting.texts, new)
            seconds += cpu.seconds
            answered = {
                one.word: [rule.target for rule in one.translations] for one in report.words
            }
            wanted = setting.wanted(answered)
            drawn.append((wanted, answered))
            if tunings:
                write_others(new, answered, others)
                outcomes += end_to_end(setting, (learned, new, others), wanted, tunings)
    n_tokens = sum(len(source) for source, _ in bitext.test)
    n_words = sum(len(answered) for _, answered in drawn)
    told = [
        *rate_rows(drawn, n_tokens),
        ("words", f"{n_words / draws:.0f}"),
        ("CPU seconds", f"{seconds / draws:.0f}"),
    ]
    return told, outcomes


def main() -> None:
    options = parser(__doc__)
    options.add_argument("data", type=Path)
    options.add_argument("index")
    options.add_argument("work", type=Path)
    options.add_argument("--pair", default="en-es", choices=["en-es", "en-de", "en-fr"])
    options.add_argument("--turned", action="store_true")
    options.add_argument("--sizes", nargs="*", type=int, default=[2000])
    options.add_argument("--draws", type=int, default=3)
    options.add_argument("--tunings", type=int, default=0)
    options.add_argument("--dev", type=int, default=500)
    options.add_argument("--test", type=int, default=1000)
    options.add_argument("--longest", type=int, default=30, help="source tokens of a sentence")
    options.add_argument("--reordering", type=int, default=4)
    options.add_argument("--rounds", nargs=2, type=int, default=[3, 2], metavar=("FIRST", "MORE"),
                         help="of tuning: the baseline, then the others")  # fmt: skip
    given = options.parse_args()
    read = read_news if is_news(given.data) else read_bitext
    bitext = read(given.data, given.pair, given.longest, given.dev, given.test)
    if given.turned:
        bitext = bitext.turned()
    given.work.mkdir(parents=True, exist_ok=True)
    name = f"{given.data.name}.{given.pair}{'.turned' if given.turned else ''}"
    links = align([*bitext.rest, *bitext.dev, *bitext.test])[-len(bitext.test) :]
    half = len(bitext.rest) // 2
    texts = monolingual(bitext, given.index, given.work, name)
    references = [target for _, target in bitext.test]
    rates, quality = [], list[list[object]]()
    for size in sorted({min(size, len(bitext.rest)) for size in given.sizes}):
        model = LanguageModel(target for _, target in bitext.rest[half:])
        setting = Setting(bitext, model, links, texts, given.reordering, tuple(given.rounds))
        told, outcomes = run_size(setting, size, given.draws, given.tunings)
        rates.append((size, dict(told)))
        if outcomes:
            quality += quality_rows(size, outcomes, references)
    heads = list(rates[0][1])
    print_table(["pairs", *heads], [[size, *row.values()] for size, row in rates])
    if quality:
        print()
        print_table(
            ["pairs", "system", "BLEU", "difference", "chrF", "difference", "recall"], quality
        )
    print_machine()


if __name__ == "__main__":
    main()
