"""Do paraphrases of what is unknown help a small translation system? (Marton 2013, table IX)

English into Spanish or German on LibreOffice help. For each size of training data and each of
several draws of it: phrase table from the aligner's links, weights tuned on the development set
(`tuning`), test set translated; then the same with the unknown words, or words and phrases, of
both sets paraphrased from monolingual English (the English of all three bitexts without the
held-out lines, and any further text given), the table augmented with them, and the weights tuned
further from the baseline's, which are tuned further for as many rounds. The language model is a
trigram model of the target side of all pairs that are not held out, as in the paper.

Every word that the training data do not know may be copied, in all systems alike and at a weight
of its own; in the rows "copies give way" only if no rule was added for it, as Moses does.

    python bench/translation/experiment.py DATA INDEX-FOLDER --pair en-es [--text FILE...]

In the rows "in their sentences" every occurrence of an unknown word has rules of its own: the
paraphrases of the word, weighed for its sentence as `distsim paraphrase --in` does; the added score
of a rule is its paraphrases' share of exp(score) among all the word's. In the row "scores times
sentences" it is the score without a sentence, times the share's part of the largest share.

With --keep FOLDER what came out of each draw is written into FOLDER, and a draw that has all its
systems there is read instead of run: draws can be run one by one (`--first-draw 2 --draws 1`), and
the same command with `--draws 3` then prints the rows of all, with intervals over sentences and
draws.

With --shared all systems have the baseline's weights, but for those of copying and of the added
scores: then no difference comes from the luck of tuning.

DATA: the folder bitext-lohelp, or bitext-europarl-fr-en (`--pair en-fr`: Europarl to learn from,
newstest2012 held out). INDEX-FOLDER: where the index of English is built, or is already;
paraphrases are kept beside it. A size above the number of pairs, as 100000, is all of them.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import in_sentences
import numpy as np
from ceilings import Ceilings, ceilings
from data import Bitext, Pair, english_lines, is_news, read_bitext, read_news
from decoder import COPIED, JUMP, LM, PHRASES, UNKNOWN, WORDS, Decoder, Table, Translation
from kept import Draw, Outcome, read_draw, write_draw
from language_model import LanguageModel
from measures import Metric, Wanted, better_and_worse, recall
from phrase_extraction import Link, align, write_phrase_table
from tuning import tune

from distsim import (
    CorpusIndex,
    IndexOptions,
    ParaphraseOptions,
    Paraphraser,
    Recipe,
    SignatureTable,
    augment_phrase_table,
)
from distsim.contexts.weights import Weighting
from distsim.paraphrase.augment import AugmentOptions
from distsim.paraphrase.batch import paraphrase_phrases
from distsim.paraphrase.records import PhraseParaphrases, read_paraphrases
from distsim.paraphrase.substitution.mix import FINDING
from distsim.paraphrase.substitution.substituter import Substituter
from distsim.paraphrase.unknown import known_phrases

N_BEST = 60
ROUNDS, FURTHER_ROUNDS = 5, 2


# `chosen`: of weights, windows and length differences those by which, on the development set of
# en-es, the first paraphrase was most often right (by the reference's words aligned to it).
OPTIONS = {
    "llr": ParaphraseOptions(weighting=Weighting("llr"), places=0),  # as the paper
    "chosen": ParaphraseOptions(weighting=Weighting("ppmi"), length_difference=0, places=0),
}


@dataclass(frozen=True)
class System:
    """How a table is augmented.

    longest: tokens of an unknown phrase; 0: not augmented. least: the lowest score used. features:
    scores added. give_way: words with new rules cannot be copied. options: which paraphrases.
    shuffled: every phrase has the paraphrases of another one, to see what meaning has to do with
    it. in_sentence: the words' paraphrases are weighed for each sentence; trusted: their scores
    without one count as well.
    """

    name: str
    longest: int = 0
    least: float = 0.05
    features: str = "one"
    give_way: bool = False
    options: str = "llr"
    shuffled: bool = False
    in_sentence: bool = False
    trusted: bool = False


SYSTEMS = (
    System("baseline"),
    System("words, from .05", 1),
    System("words, from .3", 1, 0.3),
    System("words, chosen settings, from .05", 1, options="chosen"),
    System("words, from .05, copies give way", 1, give_way=True),
    System("words, from .05, of other words", 1, shuffled=True),
    System("1-3 words, from .05", 3),
    System("1-3 words, from .3, two features", 3, 0.3, "two"),
    System("words, from .05, in their sentences", 1, in_sentence=True),
    System("words, from .05, scores times sentences", 1, in_sentence=True, trusted=True),
)


@dataclass
class Setting:
    """What all systems share."""

    bitext: Bitext
    model: LanguageModel
    reordering: int
    shared: bool  # an augmented system has the baseline's weights, but for what it adds
    links: list[set[Link]]  # of the test pairs
    rounds: tuple[int, int]  # of tuning: the baseline, then all systems

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

    def translations(
        self, table: Table, weights: np.ndarray, pairs: list[Pair]
    ) -> list[tuple[str, ...]]:
        return [found[0].words for found in self.decode(table, weights, pairs, 1)]


class PhraseTables:
    """The phrase tables of draws, each made once."""

    def __init__(self, bitext: Bitext) -> None:
        self._bitext = bitext
        self._folder = tempfile.TemporaryDirectory()

    def path(self, size: int, draw: int) -> Path:
        """Return the table of a draw."""
        path = Path(self._folder.name) / f"{size}-{draw}"
        if not path.exists():
            write_phrase_table(self._bitext.drawn(size, draw), path)
        return path


class Materials(NamedTuple):
    """What all draws are run with; paraphrases by the name of their options."""

    setting: Setting
    tables: PhraseTables
    paraphrases: dict[str, list[PhraseParaphrases]]
    substituter: Substituter


def prepared(given: argparse.Namespace, bitext: Bitext, systems: list[System]) -> Materials:
    """Return the language model, the links, the paraphrases that the systems need."""
    index = english_index(given.data, given.index, given.text)
    print(f"{index.n_tokens:,} tokens of English")
    begun = time.process_time()
    tables = PhraseTables(bitext)
    found = paraphrased(given, bitext, tables, index, systems)
    print(f"{time.process_time() - begun:.0f} CPU seconds for paraphrases", flush=True)
    model = LanguageModel(target for _, target in bitext.rest)
    setting = Setting(
        bitext, model, given.reordering, given.shared, judged_links(bitext), tuple(given.rounds)
    )
    substituter = Substituter(index, SignatureTable.open(given.index), ranking=FINDING)
    return Materials(setting, tables, found, substituter)


def english_index(data: Path, folder: Path, more: list[str]) -> CorpusIndex:
    """Return the index of English without the held-out lines, built where there is none."""
    if not (folder / "manifest.json").exists():
        with tempfile.TemporaryDirectory() as place:
            path = Path(place) / "help.txt"
            path.write_text("\n".join(english_lines(data)) + "\n")
            index = CorpusIndex.build(
                [path, *more], folder, options=IndexOptions("text", dedup="exact")
            )
        SignatureTable.build(index, recipe=Recipe())
    return CorpusIndex.open(folder)


def wanted_phrases(
    bitext: Bitext, tables: PhraseTables, size: int, draws: range, longest: int
) -> dict[str, int]:
    """Return the phrases of words with letters that the smallest tables lack, with counts."""
    found: dict[str, int] = {}
    for words, _ in bitext.dev + bitext.test:
        for begin in range(len(words)):
            for end in range(begin + 1, min(begin + longest, len(words)) + 1):
                if all(any(map(str.isalpha, word)) for word in words[begin:end]):
                    phrase = " ".join(words[begin:end])
                    found[phrase] = found.get(phrase, 0) + 1
    known = set(found)
    for draw in draws:
        known &= set(known_phrases(tables.path(size, draw)))
    return {phrase: n for phrase, n in found.items() if phrase not in known}


def paraphrased(
    given: argparse.Namespace,
    bitext: Bitext,
    tables: PhraseTables,
    index: CorpusIndex,
    systems: list[System],
) -> dict[str, list[PhraseParaphrases]]:
    """Return the paraphrases that the systems need, by the name of their options."""
    found = {}
    for name in {one.options for one in systems if one.longest}:
        longest = max(one.longest for one in systems if one.options == name)
        phrases = wanted_phrases(bitext, tables, min(given.sizes), draws_of(given), longest)
        begin = "" if given.first_draw == 1 else f"{given.first_draw}to"
        last = draws_of(given)[-1]
        kind = f"{given.pair}.{min(given.sizes)}-{begin}{last}.{name}-{longest}"
        path = given.index.with_name(f"{given.index.name}.{kind}")
        paraphraser = Paraphraser(
            index, options=OPTIONS[name], table=SignatureTable.open(given.index)
        )
        paraphrase_phrases(paraphraser, phrases, path)
        found[name] = read_paraphrases(path).phrases
    return found


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


def wanted_words(setting: Setting, table: Table) -> list[Wanted]:
    """Return the unknown words of the test set with the words of the reference aligned to them."""
    return [
        Wanted(number, source[i], tuple(target[j] for a, j in sorted(links) if a == i))
        for number, ((source, target), links) in enumerate(
            zip(setting.bitext.test, setting.links, strict=True)
        )
        for i in range(len(source))
        if source[i] in table.copies
    ]


def judged_links(bitext: Bitext) -> list[set[Link]]:
    """Return the links of the test pairs, by an aligner trained on all pairs, test set included."""
    return align([*bitext.rest, *bitext.dev, *bitext.test])[-len(bitext.test) :]


def write_columns(
    found: list[PhraseParaphrases], known: set[str], system: System, path: Path
) -> None:
    """Write the paraphrases that a system uses, as `distsim augment` reads them."""
    used = [
        one
        for one in found
        if one.phrase not in known and len(one.phrase.split()) <= system.longest
    ]
    rows = [
        f"{one.phrase}\t1\t{text}\t{score}\n"
        for one, other in zip(used, used[1:] + used[:1] if system.shuffled else used, strict=True)
        for text, score in other.paraphrases
        if score >= system.least
    ]
    path.write_text("".join(rows))


def run_draw(materials: Materials, size: int, number: int, systems: list[System]) -> Draw:
    """Draw pairs, train on them, run all systems."""
    setting, tables, found, substituter = materials
    bitext, learnt = setting.bitext, tables.path(size, number)
    sentences = [source for source, _ in bitext.dev + bitext.test]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        base = Table(learnt, setting.model, sentences)
        wanted = wanted_words(setting, base)
        known = set(known_phrases(learnt))
        outcomes: dict[str, Outcome] = {}
        bounds: dict[str, Ceilings] = {}
        start = setting.tuned(base, first_weights(base), setting.rounds[0])
        for system in systems:
            table, mine, n_rules = base, setting, 0
            if system.longest:
                plain: dict[str, str] = {}
                if system.in_sentence:
                    used = in_sentences.usable(found[system.options], base.copies, system.least)
                    apart, meant = in_sentences.marked(bitext, used)
                    in_sentences.write(meant, used, substituter, folder / "columns", system.trusted)
                    plain = {token: where.word for token, where in meant.items()}
                    mine = replace(setting, bitext=apart)
                else:
                    write_columns(found[system.options], known, system, folder / "columns")
                report = augment_phrase_table(
                    learnt, folder / "columns", folder / "new",
                    options=AugmentOptions(
                        features=system.features,  # type: ignore[arg-type]
                        translations=0,
                    ),
                )  # fmt: skip
                n_rules = report.new_entries
                copied = () if system.give_way else {*base.copies, *plain}
                held = [source for source, _ in mine.bitext.dev + mine.bitext.test]
                table = Table(folder / "new", setting.model, held, copied, plain=plain)
                if has_ceilings(system):
                    references = [target for _, target in bitext.test]
                    bounds[system.name] = ceilings(wanted, references, base, table)
            firsts = further_weights(start, table)
            if setting.shared:
                own = (COPIED, UNKNOWN, *range(base.n_features, table.n_features))
                fixed = [number for number in range(table.n_features) if number not in own]
                rounds = setting.rounds[1] if system.longest else 0
                weights = mine.tuned(table, firsts, rounds, fixed)
            else:
                weights = mine.tuned(table, firsts, setting.rounds[1])
            metric = Metric("BLEU", [target for _, target in bitext.dev])
            dev = metric.mean([mine.translations(table, weights, mine.bitext.dev)])
            said = mine.translations(table, weights, mine.bitext.test)
            outcomes[system.name] = Outcome(
                [" ".join(words) for words in said], dev, recall(wanted, said), n_rules
            )
    return Draw(len(wanted), outcomes, bounds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("index", type=Path)
    parser.add_argument("--pair", default="en-es", choices=["en-es", "en-de", "en-fr"])
    parser.add_argument("--text", nargs="*", default=[])
    parser.add_argument("--sizes", nargs="*", type=int, default=[250, 500, 1000, 2000, 5000])
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--first-draw", type=int, default=1, help="number of the first draw")
    parser.add_argument("--keep", type=Path, help="folder of what came out of each draw")
    parser.add_argument("--dev", type=int, default=500)
    parser.add_argument("--test", type=int, default=1000)
    parser.add_argument("--longest", type=int, default=30, help="source tokens of a sentence")
    parser.add_argument("--reordering", type=int, default=4)
    parser.add_argument(
        "--rounds", nargs=2, type=int, default=[ROUNDS, FURTHER_ROUNDS], metavar=("FIRST", "MORE"),
        help="of tuning: the baseline, then all systems",
    )  # fmt: skip
    parser.add_argument("--shared", action="store_true", help="only new weights are tuned")
    parser.add_argument("--systems", nargs="*", type=int, default=list(range(len(SYSTEMS))))
    given = parser.parse_args()
    read = read_news if is_news(given.data) else read_bitext
    bitext = read(given.data, given.pair, given.longest, given.dev, given.test)
    given.sizes = [min(size, len(bitext.rest)) for size in given.sizes]
    systems = [SYSTEMS[number] for number in given.systems]
    references = [target for _, target in bitext.test]
    n_tokens = sum(len(source) for source, _ in bitext.test)
    print(f"{len(bitext.dev)} + {len(bitext.test)} held out")
    materials = cache(partial(prepared, given, bitext, systems))
    print(
        "pairs\tsystem\tnew rules\tdev BLEU\tBLEU\tdifference [95%]\tchrF\tdifference [95%]\t"
        "recall\tchanged\tbetter\tworse"
    )
    for size in given.sizes:
        begun = time.process_time()
        draws = []
        for number in draws_of(given):
            draws.append(drawn(given, size, number, systems, materials))
            told = row(size, systems[-1], draws[-1:], references)
            print(f"{told}\t(draw {number}); {time.process_time() - begun:.0f} s", file=sys.stderr)
        for system in systems:
            print(row(size, system, draws, references), flush=True)
        for number, draw in zip(draws_of(given), draws, strict=True):
            print(f"{size}\tdraw {number}: {differences(systems, draw, references)}")
        unknown = np.mean([draw.unknown for draw in draws])
        print(
            f"{size}\t{100 * unknown / n_tokens:.1f}% of {n_tokens} test tokens are unknown; "
            f"{time.process_time() - begun:.0f} CPU seconds"
        )
        for name in [one.name for one in systems if has_ceilings(one)]:
            shares = np.mean([draw.ceilings[name] for draw in draws], axis=0)
            print(f"{size}\tceilings, {name}: {Ceilings(*shares)}", flush=True)


def draws_of(given: argparse.Namespace) -> range:
    """Return the numbers of the draws that are asked for."""
    return range(given.first_draw, given.first_draw + given.draws)


def drawn(
    given: argparse.Namespace,
    size: int,
    number: int,
    systems: list[System],
    materials: Callable[[], Materials],
) -> Draw:
    """Return one draw: read where it is kept, run and then kept where not."""
    kept = {"dev", "test", "longest", "reordering", "rounds", "shared"}
    settings = {name: value for name, value in vars(given).items() if name in kept}
    path = given.keep and given.keep / f"{given.pair}.{size}.{number}.json"
    draw = path and read_draw(path, settings, [one.name for one in systems])
    if not draw:
        draw = run_draw(materials(), size, number, systems)
        if path:
            write_draw(draw, settings, path)
    return draw


def translations_of(system: System, draws: Sequence[Draw]) -> list[list[list[str]]]:
    """Return a system's translations, draw by draw, as words."""
    return [[line.split() for line in draw.outcomes[system.name].translations] for draw in draws]


def differences(systems: list[System], draw: Draw, references: list[list[str]]) -> str:
    """Return the BLEU of the systems in one draw, with the intervals over its sentences."""
    metric = Metric("BLEU", references)
    base = translations_of(SYSTEMS[0], [draw])
    told = []
    for system in systems:
        mine = translations_of(system, [draw])
        gap = f" ({metric.difference(base, mine)})" if system.longest else ""
        told.append(f"{system.name} {metric.mean(mine):.2f}{gap}")
    return "; ".join(told)


def has_ceilings(system: System) -> bool:
    """Return whether the ceilings of a system are looked at."""
    return system.longest == 1 and not system.give_way and not system.in_sentence


def row(size: int, system: System, draws: Sequence[Draw], references: list[list[str]]) -> str:
    """Return the row of one system at one size, in columns."""
    outcomes = [draw.outcomes[system.name] for draw in draws]
    base, mine = (translations_of(one, draws) for one in (SYSTEMS[0], system))
    columns = [str(size), system.name]
    columns.append(f"{np.mean([one.rules for one in outcomes]):.0f}" if system.longest else "")
    columns.append(f"{np.mean([one.dev for one in outcomes]):.2f}")
    for name in ("BLEU", "chrF"):
        metric = Metric(name, references)
        columns.append(f"{metric.mean(mine):.2f}")
        columns.append(str(metric.difference(base, mine)) if system.longest else "")
    columns.append(f"{100 * np.mean([one.recall for one in outcomes]):.1f}%")
    if system.longest:
        shares = better_and_worse(Metric("chrF", references), base, mine)
        columns += [f"{100 * share:.0f}%" for share in shares]
    return "\t".join(columns)


if __name__ == "__main__":
    main()
