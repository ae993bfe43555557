"""Do paraphrases of unknown words help a small translation system? (Marton 2013, table IX)

For each size of training data and each draw of it: a phrase table from the aligner's links, weights
tuned on the development set, the test set translated; then the same with the unknown words of both
sets paraphrased from monolingual English, the table augmented with them, and the weights tuned
further from the baseline's, which are tuned further for as many rounds. The language model is a
trigram model of the target side of all pairs that are not held out. Words that the training data do
not know may be copied, in all systems alike, at a weight of its own. The control: every unknown
word has the paraphrases of another one.

    python bench/translation/experiment.py DATA INDEX [--pair en-es] [--sizes 250 5000] [--draws 2]
                                           [--text FILE...] [--shared]

DATA: the folder bitext-lohelp, or bitext-europarl-fr-en (`--pair en-fr`: Europarl to learn from,
newstest2012 held out). INDEX: where the index of English (that of all bitexts without held-out
lines, and of further texts) is built, or is already; paraphrases are kept beside it. A size above
the number of pairs is all of them. --shared: all systems have the baseline's weights, but for those
of copying and of the added score, so that no difference comes from the luck of tuning.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from data import Bitext, Pair, english_lines, is_news, read_bitext, read_news
from decoder import COPIED, JUMP, LM, PHRASES, UNKNOWN, WORDS, Decoder, Table, Translation
from frame import parser, print_machine, print_table
from language_model import LanguageModel
from measures import Ceilings, Metric, Wanted, ceilings, recall
from phrase_extraction import Link, align, write_phrase_table
from tuning import tune

from distsim import (
    CorpusIndex,
    IndexOptions,
    ParaphraseOptions,
    Paraphraser,
    SignatureTable,
    augment_phrase_table,
)
from distsim.contexts import Weighting
from distsim.paraphrase import paraphrase_phrases
from distsim.paraphrase.augment import AugmentOptions
from distsim.paraphrase.records import PhraseParaphrases, read_paraphrases
from distsim.paraphrase.unknown import known_phrases

N_BEST = 60
LEAST = 0.05  # score of a paraphrase
# `chosen`: of weights, windows and length differences those by which, on the development set of
# en-es, the first paraphrase was most often right (by the reference's words aligned to it).
OPTIONS = {
    "llr": ParaphraseOptions(weighting=Weighting("llr"), places=0),  # as the paper
    "chosen": ParaphraseOptions(weighting=Weighting("ppmi"), length_difference=0, places=0),
}


class System(NamedTuple):
    """options: which paraphrases; none: the baseline. shuffled: those of another word."""

    name: str
    options: str = ""
    shuffled: bool = False


SYSTEMS = (
    System("baseline"),
    System("paraphrases", "llr"),
    System("paraphrases, chosen settings", "chosen"),
    System("paraphrases of other words", "llr", shuffled=True),
)
Translations = list[list[str]]


class Outcome(NamedTuple):
    """Of one system and draw: translations of the test set, recall, rules that are new."""

    translations: Translations
    recall: float
    rules: int
    ceilings: Ceilings | None


@dataclass
class Setting:
    """What all systems share; links: of the test pairs, by an aligner trained on everything."""

    bitext: Bitext
    model: LanguageModel
    links: list[set[Link]]
    reordering: int
    rounds: tuple[int, int]
    shared: bool

    def decode(
        self, table: Table, weights: np.ndarray, pairs: list[Pair], n_best: int
    ) -> list[list[Translation]]:
        decoder = Decoder(table, self.model, weights, self.reordering)
        return [decoder.translate(words, n_best) for words, _ in pairs]

    def tuned(
        self, table: Table, firsts: list[np.ndarray], rounds: int, fixed: Sequence[int] = ()
    ) -> np.ndarray:
        dev = self.bitext.dev
        return tune(
            lambda tried: self.decode(table, tried, dev, N_BEST),
            [target for _, target in dev], firsts, rounds,
            [*fixed, *(() if self.reordering else (JUMP,))],
        )  # fmt: skip

    def wanted(self, table: Table) -> list[Wanted]:
        """Return the unknown words of the test set with the reference's words aligned to them."""
        return [
            Wanted(number, source[i], tuple(target[j] for a, j in sorted(links) if a == i))
            for number, ((source, target), links) in enumerate(
                zip(self.bitext.test, self.links, strict=True)
            )
            for i in range(len(source))
            if source[i] in table.copies
        ]


def english_index(data: Path, folder: Path, more: list[str]) -> CorpusIndex:
    """Return the index of English without the held-out lines, built where there is none."""
    if not (folder / "manifest.json").exists():
        with tempfile.TemporaryDirectory() as place:
            path = Path(place) / "help.txt"
            path.write_text("\n".join(english_lines(data)) + "\n")
            index = CorpusIndex.build(
                [path, *more], folder, options=IndexOptions("text", dedup="exact")
            )
        SignatureTable.build(index)
    return CorpusIndex.open(folder)


def paraphrased(
    given: argparse.Namespace, bitext: Bitext, tables: dict[tuple[int, int], Path]
) -> dict[str, list[PhraseParaphrases]]:
    """Return the paraphrases of words with letters that the smallest tables lack, by options."""
    found: dict[str, int] = {}
    for words, _ in bitext.dev + bitext.test:
        for word in words:
            if any(map(str.isalpha, word)):
                found[word] = found.get(word, 0) + 1
    known = set(found)
    for draw in range(1, given.draws + 1):
        known &= set(known_phrases(tables[min(given.sizes), draw]))
    unknown = {word: n for word, n in found.items() if word not in known}
    index = english_index(given.data, given.index, given.text)
    table, answers = SignatureTable.open(given.index), {}
    for name in {SYSTEMS[n].options for n in given.systems} - {""}:
        kind = f"{given.pair}.{min(given.sizes)}-{given.draws}.{name}"
        path = given.index.with_name(f"{given.index.name}.{kind}")
        paraphrase_phrases(Paraphraser(index, options=OPTIONS[name], table=table), unknown, path)
        answers[name] = read_paraphrases(path).phrases
    return answers


def first_weights(table: Table) -> list[np.ndarray]:
    """Return weights to begin with."""
    weights = np.full(table.n_features, 0.2)
    weights[[LM, WORDS, PHRASES, JUMP, COPIED, UNKNOWN]] = 0.5, 0.3, 0.0, 0.1, 0.0, 0.0
    return [weights]


def further_weights(weights: np.ndarray, table: Table) -> list[np.ndarray]:
    """Return where the second tuning begins: once wary of paraphrases, once not.

    Until there are paraphrases nothing depends on what copying is worth. A language model gives
    unknown words less than any other, about e^-4 of a rare word.
    """
    firsts = []
    for bonus, trust in ((0.0, 1.0), (4.0, 3.0)):
        begun = np.append(weights, np.full(table.n_features - weights.size, trust * weights[LM]))
        begun[COPIED], begun[UNKNOWN] = bonus * weights[LM], 4.0 * weights[LM]
        firsts.append(begun)
    return firsts


def write_columns(
    found: list[PhraseParaphrases], known: set[str], shuffled: bool, path: Path
) -> None:
    """Write the paraphrases that a system uses, as `distsim augment` reads them."""
    used = [one for one in found if one.phrase not in known]
    others = used[1:] + used[:1] if shuffled else used
    rows = [
        f"{one.phrase}\t1\t{text}\t{score}\n"
        for one, other in zip(used, others, strict=True)
        for text, score in other.paraphrases
        if score >= LEAST
    ]
    path.write_text("".join(rows))


def run_draw(
    setting: Setting, learnt: Path, found: dict[str, list[PhraseParaphrases]], systems: list[System]
) -> dict[str, Outcome]:
    """Return what came out of all systems with one draw's phrase table."""
    bitext = setting.bitext
    sentences = [source for source, _ in bitext.dev + bitext.test]
    base = Table(learnt, setting.model, sentences)
    wanted, known = setting.wanted(base), set(known_phrases(learnt))
    start = setting.tuned(base, first_weights(base), setting.rounds[0])
    outcomes = {}
    for system in systems:
        table, n_rules, bounds = base, 0, None
        if system.options:
            with tempfile.TemporaryDirectory() as place:
                columns, new = Path(place, "columns"), Path(place, "new")
                write_columns(found[system.options], known, system.shuffled, columns)
                options = AugmentOptions(features="one", translations=0)
                n_rules = augment_phrase_table(learnt, columns, new, options=options).new_entries
                table = Table(new, setting.model, sentences, base.copies)
            bounds = ceilings(wanted, [target for _, target in bitext.test], base, table)
        firsts = further_weights(start, table)
        if setting.shared:
            own = (COPIED, UNKNOWN, *range(base.n_features, table.n_features))
            fixed = [number for number in range(table.n_features) if number not in own]
            weights = setting.tuned(table, firsts, setting.rounds[1] if n_rules else 0, fixed)
        else:
            weights = setting.tuned(table, firsts, setting.rounds[1])
        said = [list(one[0].words) for one in setting.decode(table, weights, bitext.test, 1)]
        outcomes[system.name] = Outcome(said, recall(wanted, said), n_rules, bounds)
    return outcomes


def rows(
    size: int, draws: list[dict[str, Outcome]], references: Translations
) -> Iterator[list[object]]:
    base = [draw[SYSTEMS[0].name].translations for draw in draws]
    for name, first in draws[0].items():
        mine = [draw[name] for draw in draws]
        cells: list[object] = [size, name, f"{np.mean([one.rules for one in mine]):,.0f}"]
        for kind in ("BLEU", "chrF"):
            metric, said = Metric(kind, references), [one.translations for one in mine]
            cells.append(f"{metric.mean(said):.2f}")
            cells.append(str(metric.difference(base, said)) if first.rules else "")
        yield [*cells, f"{100 * np.mean([one.recall for one in mine]):.1f}%"]


def main() -> None:
    options = parser(__doc__)
    options.add_argument("data", type=Path)
    options.add_argument("index", type=Path)
    options.add_argument("--pair", default="en-es", choices=["en-es", "en-de", "en-fr"])
    options.add_argument("--text", nargs="*", default=[])
    options.add_argument("--sizes", nargs="*", type=int, default=[250, 5000])
    options.add_argument("--draws", type=int, default=2)
    options.add_argument("--dev", type=int, default=500)
    options.add_argument("--test", type=int, default=1000)
    options.add_argument("--longest", type=int, default=30, help="source tokens of a sentence")
    options.add_argument("--reordering", type=int, default=4)
    options.add_argument("--rounds", nargs=2, type=int, default=[5, 2], metavar=("FIRST", "MORE"),
                         help="of tuning: the baseline, then all systems")  # fmt: skip
    options.add_argument("--shared", action="store_true", help="only new weights are tuned")
    options.add_argument("--systems", nargs="*", type=int, default=list(range(len(SYSTEMS))))
    given = options.parse_args()
    read = read_news if is_news(given.data) else read_bitext
    bitext = read(given.data, given.pair, given.longest, given.dev, given.test)
    given.sizes = [min(size, len(bitext.rest)) for size in given.sizes]
    references = [target for _, target in bitext.test]
    links = align([*bitext.rest, *bitext.dev, *bitext.test])[-len(bitext.test) :]
    model = LanguageModel(target for _, target in bitext.rest)
    setting = Setting(bitext, model, links, given.reordering, tuple(given.rounds), given.shared)
    systems = [SYSTEMS[number] for number in given.systems]
    found, told = [], []
    with tempfile.TemporaryDirectory() as place:
        tables = {}
        for size in given.sizes:
            for draw in range(1, given.draws + 1):
                tables[size, draw] = Path(place, f"{size}-{draw}")
                write_phrase_table(bitext.drawn(size, draw), tables[size, draw])
        answers = paraphrased(given, bitext, tables)
        for size in given.sizes:
            draws = [run_draw(setting, tables[size, draw], answers, systems)
                     for draw in range(1, given.draws + 1)]  # fmt: skip
            found += rows(size, draws, references)
            for name, one in draws[0].items():
                if one.ceilings:
                    shares = Ceilings(*np.mean([draw[name].ceilings for draw in draws], axis=0))
                    told.append(f"{size}: right among unknown words, {name}: {shares}")
    heads = ["pairs", "system", "new rules", "BLEU", "difference", "chrF", "difference", "recall"]
    print_table(heads, found)
    print("", *told, sep="\n")
    print_machine()


if __name__ == "__main__":
    main()
