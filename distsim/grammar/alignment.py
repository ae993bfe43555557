"""Word links for rules that have none: gaps by index, equal words, the rest by a model."""

from dataclasses import dataclass
from typing import NamedTuple, get_args

import numpy as np

from distsim.base.arguments import Align, Aligner, check_types, in_range, one_of
from distsim.bitext.aligner import LinkModel
from distsim.corpus.normaliser import unescape
from distsim.corpus.vocabulary import hash_blob
from distsim.grammar.block import RuleBlock
from distsim.grammar.kernels import evidence as kernel
from distsim.grammar.tokens import BlockWords, distinct_words
from distsim.kernels.compiled import frozen

ALIGN: tuple[str, ...] = get_args(Align)

SHORTEST_PREFIX = 4
TokenList = list[str]


class Alignment(NamedTuple):
    """Word links of the rules of a block.

    link_stops: int64[n]; links: int64[m, 2], as in RuleBlock. lacking: bool[n], rules with
    words on both sides and no link between words of their own. tried: bool[n], rules whose
    links are not from the grammar.
    """

    link_stops: np.ndarray
    links: np.ndarray
    lacking: np.ndarray
    tried: np.ndarray


@dataclass(frozen=True, kw_only=True)
class TrainingOptions:
    """How links are learned for rules that have none.

    Arguments:
        aligner: `learned`: a link model is trained on the grammar's own rules; `evidence`: only
            gaps, like words and words between linked neighbours are linked.
        sample: the largest number of rules that the model is trained on.

    Raises:
        ParameterError: there is no such aligner, or `sample` is below 1.

    >>> TrainingOptions(sample=1000).aligner
    'learned'
    """

    aligner: Aligner = "learned"
    sample: int = 20_000

    def __post_init__(self) -> None:
        check_types(self)
        one_of(self.aligner, get_args(Aligner), "`aligner`")
        TrainingSample(self.sample)  # refuses what cannot be


class RuleAligner:
    """Aligner of rules: gives word links to rules that have none.

    Arguments:
        align: `missing`: rules that have words on both sides and no link between words;
            `all`: every rule, whatever links it has; `none`: no rule.
        learned: links words that look unlike; where None, they stay unlinked until a model is
            trained.
        training: how a model is trained on the grammar that is scored, where `learned` is None.

    Words that are equal once unescaped and folded are linked in order of appearance; then
    words with a common prefix of 4 characters and half of the longer word; then words whose
    neighbours are linked to each other, and the two words of a rule with one a side; then,
    between words that have no link yet, those of the learned model. Thesis 5.3.2 treats the
    sides of all rules as a parallel corpus; TrainingSample gathers it.

    >>> from distsim.grammar import RuleScorer
    >>> _ = (folder / "bare").write_text("[X] ||| the king ||| the queen ||| p=1\\n")
    >>> scorer = RuleScorer([("sim_ngram", table)], aligner=RuleAligner("all"))
    """

    def __init__(
        self,
        align: Align = "missing",
        *,
        learned: LinkModel | None = None,
        training: TrainingOptions | None = None,
    ) -> None:
        one_of(align, ALIGN, "`align`")
        self.mode = align
        self.learned = learned
        self.training = training or TrainingOptions()

    @property
    def needs_training(self) -> bool:
        """Whether a link model is still to be trained on the grammar."""
        learns = self.mode != "none" and self.training.aligner == "learned"
        return learns and self.learned is None

    def wanted(self, block: RuleBlock) -> tuple[np.ndarray, np.ndarray]:
        """Return which rules of a block lack links, and which are to be linked; bool[n] each.

        block: the parsed rules.
        """
        lacking, alignable = kernel.find_lacking(
            frozen(block.token_stops), frozen(block.gaps),
            frozen(block.link_stops), frozen(block.links),
        )  # fmt: skip
        if self.mode == "none":
            return lacking, np.zeros_like(lacking)
        return lacking, lacking if self.mode == "missing" else alignable

    def align(self, block: RuleBlock, *, words: BlockWords | None = None) -> Alignment:
        """Return the links of a block's rules.

        Arguments:
            block: the parsed rules. words: their distinct words; found here where None.
        """
        lacking, tried = self.wanted(block)
        if not tried.any():
            return Alignment(block.link_stops, block.links, lacking, tried)
        numbers, texts = words or distinct_words(block)
        folded = [fold(text) for text in texts]
        number_of = {text: number for number, text in enumerate(dict.fromkeys(folded))}
        renumbered = np.array([number_of[text] for text in folded], np.int64)
        same = np.where(numbers >= 0, renumbered[numbers], -1)
        encoded = [text.encode() for text in number_of]
        offsets = np.cumsum([0, *map(len, encoded)])
        stops, links, unfinished, linked = kernel.link_by_evidence(
            frozen(block.token_stops), frozen(block.gaps), frozen(same),
            frozen(np.frombuffer(b"".join(encoded), np.uint8)), frozen(offsets),
            frozen(tried), SHORTEST_PREFIX,
        )  # fmt: skip
        rules = np.empty(0, np.int64)
        extra = np.empty((0, 2), np.int64)
        if self.learned is not None and unfinished.any():
            rules, extra = self._learned_links(
                self.learned, block, same, list(number_of), unfinished, linked
            )
        own = _owners(block.link_stops)
        kept = ~tried[own]
        owners = np.concatenate([own[kept], _owners(stops), rules])
        merged = np.concatenate([block.links[kept], links, extra])
        order = np.argsort(owners, kind="stable")
        merged_stops = np.cumsum(np.bincount(owners, minlength=len(block)))
        return Alignment(merged_stops, merged[order], lacking, tried)

    def _learned_links(
        self, learned: LinkModel, block: RuleBlock, words: np.ndarray, texts: list[str],
        wanted: np.ndarray, linked: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
        """Return the rule of each link between free words, int64[m], and the links, int64[m, 2].

        Arguments:
            learned: the model. words: int64 per symbol, its number in texts, -1 for a gap.
            wanted: bool per rule, whether it has free words. linked: bool per symbol.
        """
        rules = np.flatnonzero(wanted)
        sources, targets = _sides(block, rules, words, texts)
        learned_pairs = learned.links(sources, targets)
        owners = rules[_owners(learned_pairs.starts[1:].astype(np.int64))]
        source_words, target_words = learned_pairs.pairs.astype(np.int64).T
        begins = block.begins[owners]
        middles = block.token_stops[owners, 0]
        free = ~linked[begins + source_words] & ~linked[middles + target_words]
        links = np.column_stack([source_words, target_words])[free]
        return owners[free], np.ascontiguousarray(links)


def _owners(stops: np.ndarray) -> np.ndarray:
    """Return the rule of each link, int64[m]; stops: int64[n], links up to the end of each rule."""
    return np.repeat(np.arange(stops.size), np.diff(stops, prepend=0))


def fold(token: bytes) -> str:
    """Return the form in which words of rules are compared for alignment.

    Arguments:
        token: UTF-8.
    """
    return unescape(token.decode()).lower()


class TrainingSample:
    """Sample of at most `size` rules to train on, the same for any blocks of the file.

    The rules kept are those whose lines have the smallest hashes.

    Arguments:
        size: 1 or more.
    """

    def __init__(self, size: int) -> None:
        in_range(size, "`sample`", 1)
        self._size = size
        self._hashes = np.empty(0, np.uint64)
        self._pairs: list[tuple[TokenList, TokenList]] = []

    def __len__(self) -> int:
        return len(self._pairs)

    def add(self, block: RuleBlock, wanted: np.ndarray) -> None:
        """Add the wanted rules of a block to the candidates; wanted: bool[n].

        Arguments:
            wanted: bool[n], rules that may be trained on.
        """
        data = np.frombuffer(block.text, np.uint8)
        hashes = hash_blob(data, block.line_starts)
        rules = np.flatnonzero(wanted)
        if self._hashes.size >= self._size:
            rules = rules[hashes[rules] < self._hashes.max()]
        if not rules.size:
            return
        numbers, texts = distinct_words(block)
        sources, targets = _sides(block, rules, numbers, [fold(text) for text in texts])
        self._pairs += zip(sources, targets, strict=True)
        self._hashes = np.concatenate([self._hashes, hashes[rules]])
        order = np.argsort(self._hashes, kind="stable")[: self._size]
        self._hashes = self._hashes[order]
        self._pairs = [self._pairs[number] for number in order.tolist()]

    def pairs(self) -> tuple[list[TokenList], list[TokenList]]:
        """Return the source and the target sides of the sample."""
        return [source for source, _ in self._pairs], [target for _, target in self._pairs]


def _sides(
    block: RuleBlock, rules: np.ndarray, words: np.ndarray, texts: list[str]
) -> tuple[list[TokenList], list[TokenList]]:
    """Return the source and target sides of rules for the link model.

    Words are folded, a gap is `[1]`.

    Arguments:
        rules: int64, rows of the block. words: int64 per symbol, its number in texts, -1 for a gap.
    """
    n_gaps = int(block.gaps.max(initial=0)) + 1
    names = np.array([*texts, *(f"[{gap}]" for gap in range(n_gaps))], object)
    symbols = names[np.where(words >= 0, words, len(texts) + block.gaps)].tolist()
    begins = block.begins[rules].tolist()
    middles, ends = block.token_stops[rules].T.tolist()
    sources = [symbols[start:stop] for start, stop in zip(begins, middles, strict=True)]
    targets = [symbols[start:stop] for start, stop in zip(middles, ends, strict=True)]
    return sources, targets
