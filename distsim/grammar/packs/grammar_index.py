"""Index of a packed grammar on disk: the rules of a source side, the best first."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from distsim import storage
from distsim.base.arguments import check_opened, one_of, one_path, utf8_phrase
from distsim.base.errors import ArtifactError, ParameterError
from distsim.base.results import Results
from distsim.corpus.normaliser import Normaliser
from distsim.corpus.query import Lookup
from distsim.corpus.vocabulary import Vocabulary, hash_text
from distsim.grammar.packs.columns import SIZES, TYPES, decode
from distsim.grammar.pair_features import PAIR_KINDS
from distsim.storage import StoredArray, start_array
from distsim.storage.reading import Declaration

LONG_LINKS = 2  # the format version from which positions of links may take two or four bytes
_LINK_TYPES = (np.uint8, np.uint16, np.uint32)


class PackedRule(NamedTuple):
    """A paraphrase rule of a packed grammar.

    label: without brackets. source, target: the sides. features: by name. links: (source symbol,
    target symbol). size: the smallest pack that contains it. kind: one of `TYPES`. cost: the sum
    that packs are ordered by. pair_kind: one of `PAIR_KINDS`, what differs between the sides;
    empty in packs made before.

    >>> PackedRule("X", "king", "queen", {"sim_ngram": 0.4}, [(0, 0)], "S", "lexical", 1.5).target
    'queen'
    """

    label: str
    source: str
    target: str
    features: dict[str, float]
    links: list[tuple[int, int]]
    size: str
    kind: str
    cost: float
    pair_kind: str = ""


class RuleArrays(NamedTuple):
    """Mapped arrays of a packed grammar; the rules of a source are consecutive, best first.

    symbols: the vocabulary, words and gaps; labels: left-hand sides by number. source_starts:
    uint64[sources + 1] into sources, symbols of source sides; rule_starts: uint64[sources + 1],
    the rules of each source. target_starts: uint64[rules + 1] into targets. rule_labels:
    uint16[rules].
    """

    symbols: Vocabulary
    labels: list[str]
    source_starts: np.ndarray
    sources: np.ndarray
    rule_starts: np.ndarray
    target_starts: np.ndarray
    targets: np.ndarray
    rule_labels: np.ndarray


class GrammarIndex:
    """Index of a packed grammar by source side; only the rules that are asked for are read.

    Opening maps a few files and reads no rule, as with the packed grammars of thesis 6.4.2.

    Arguments:
        artifact: of kind grammar, as pack_grammar writes it; `open` takes a path.

    >>> from distsim import pack_grammar
    >>> from distsim.grammar import PackOptions
    >>> rule = "[X] ||| the king ||| the queen ||| p(e|f)=1.5 sim_ngram=.4 ||| 0-0 1-1\\n"
    >>> _ = (folder / "scored").write_text(rule)
    >>> by = PackOptions({"p(e|f)": 1.0}, sizes=())
    >>> _ = pack_grammar(folder / "scored", folder / "packs", options=by)
    >>> [found.target for found in GrammarIndex.open(folder / "packs").rules("the king")]
    ['the queen']
    """

    ARRAYS: ClassVar[Declaration] = {
        "sources/hashes": StoredArray(np.uint64, "sources"),
        "sources/rules": start_array("sources", "rules/label"),
        "sources/symbols/starts": start_array("sources", "sources/symbols"),
        "sources/symbols": StoredArray(np.uint32, below="words", at_open=True),
        "targets/symbols/starts": start_array("rules", "targets/symbols"),
        "targets/symbols": StoredArray(np.uint32, below="words", at_open=True),
        "links/pairs/starts": start_array("rules", "links/pairs"),
        "links/pairs": StoredArray(_LINK_TYPES, columns="link columns"),
        "rules/label": StoredArray(np.uint16, "rules", below="labels", at_open=True),
        "rules/kind": StoredArray(np.uint8, "rules"),
        "rules/size": StoredArray(np.uint8, "rules"),
        "rules/cost": StoredArray(np.float64, "rules"),
        "rules/pair_kind": StoredArray(np.uint8, "rules", optional=True),
    }

    def __init__(self, artifact: storage.Artifact) -> None:
        check_opened(artifact, storage.Artifact, self)
        self.artifact = artifact
        with storage.understood(artifact.path):
            self._names: list[str] = artifact.parameters["features"]
            self._vocabulary = Vocabulary.read(artifact, "symbols/")
            self._labels: list[str] = artifact.parameters["labels"]
            sizes = {"words": len(self._vocabulary), "labels": max(1, len(self._labels))}
            arrays = artifact.arrays(self.ARRAYS, sizes=sizes, values=False)
            self._hashes, self._starts = arrays["sources/hashes"], arrays["sources/rules"]
            self._source_starts = arrays["sources/symbols/starts"]
            self._sources = arrays["sources/symbols"]
            self._target_starts = arrays["targets/symbols/starts"]
            self._targets = arrays["targets/symbols"]
            self._link_starts, self._links = arrays["links/pairs/starts"], arrays["links/pairs"]
            self._label, self._kind = arrays["rules/label"], arrays["rules/kind"]
            self._size, self._cost = arrays["rules/size"], arrays["rules/cost"]
            self._pair_kind = arrays.get("rules/pair_kind")
            array = artifact.array
            self._columns = [
                (name, array(f"features/{number}"), array(f"features/{number}/table"))
                for number, name in enumerate(self._names)
            ]

    @classmethod
    def open(cls, path: str | Path) -> "GrammarIndex":
        """Return the opened index of a packed grammar.

        Arguments:
            path: its folder, or `index` inside it.

        Raises:
            ArtifactError: there is none, or it is damaged.
        """
        path = one_path(path)
        inside = path / "index"
        return cls(storage.Artifact(inside if inside.is_dir() else path, storage.GRAMMAR))

    def __reduce__(self) -> tuple[Any, ...]:
        return GrammarIndex, (self.artifact,)

    def __len__(self) -> int:
        return self._label.size

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters of the artifact: features, labels, rules by size and type."""
        return self.artifact.parameters

    @property
    def feature_names(self) -> list[str]:
        """Names of the features that rules may have."""
        return list(self._names)

    @property
    def costs(self) -> np.ndarray:
        """The weighted sum by which the rules are ordered, float64[n]."""
        return self._cost

    def arrays(self) -> RuleArrays:
        """Return all rules as arrays, checked.

        Raises:
            ArtifactError: the arrays contradict each other.
        """
        self.artifact.require_sound()
        return RuleArrays(
            self._vocabulary, self._labels, self._source_starts, self._sources, self._starts,
            self._target_starts, self._targets, self._label,
        )  # fmt: skip

    def feature_of(self, name: str, rules: np.ndarray | slice) -> np.ndarray:
        """Return a feature of some rules, float64[n]; NaN where a rule has none.

        Arguments:
            name: of the feature. rules: numbers of rules, or a slice of them.

        Raises:
            ParameterError: there is no such feature.
        """
        for known, codes, table in self._columns:
            if known == name:
                with self._read():
                    return decode(np.asarray(codes[rules]), table)
        raise ParameterError(f"feature {name!r}: choose of {', '.join(self._names)}")

    def rules(
        self, source: str, *, label: str | None = None, size: str = "XXXL", k: int | None = None
    ) -> Results[PackedRule]:
        """Return the rules with a source side, the best first; none where no rule has it.

        Arguments:
            source: symbols separated by spaces, gaps as `[NP,1]`.
            label: only rules with this left-hand side, with or without its brackets.
            size: only rules of this pack; XXXL is all.
            k: the largest number of rules; all where None.

        Raises:
            ParameterError: there is no such size.
        """
        one_of(size, SIZES, "size")
        rules = np.arange(*self._rule_range(source))
        with self._read():
            rules = rules[self._size[rules] <= SIZES.index(size)]
            if label is not None:
                if label[:1] == "[" and label[-1:] == "]":
                    label = label[1:-1]
                rules = rules[[self._labels[number] == label for number in self._label[rules]]]
        listed_rules = self.at(rules[:k])
        listed_rules.total = rules.size
        return listed_rules

    def count(self, source: str) -> int:
        """Return the number of rules with a source side, without reading them.

        Arguments:
            source: the side, as in the rules.
        """
        first, stop = self._rule_range(source)
        return stop - first

    def containing(self, text: str, *, pair_kind: str = "") -> np.ndarray:
        """Return the numbers of the rules that contain words, the cheapest first; int64.

        Arguments:
            text: words, each in the source or the target side; `run*` is any word that begins so.
            pair_kind: only rules of this kind, one of `PAIR_KINDS`; any where empty.
        """
        fits = np.ones(len(self), np.bool_)
        for word in text.split():
            fits &= self._having(word)
        if pair_kind:
            kinds = self._pair_kind
            fits &= False if kinds is None else kinds == PAIR_KINDS.index(pair_kind)
        rows = np.flatnonzero(fits)
        return rows[np.argsort(self._cost[rows], kind="stable")]

    def _having(self, word: str) -> np.ndarray:
        """Return which rules have a word on either side, bool by rule."""
        if word.endswith("*"):
            words = self._vocabulary.all_words()
            ids = [i for i, word_text in enumerate(words) if i and word_text.startswith(word[:-1])]
        else:
            ids = [int(self._vocabulary.find(np.array([hash_text(word.encode())], np.uint64))[0])]
        with self._read():
            of_source = np.flatnonzero(np.isin(self._sources, ids))
            owners = np.searchsorted(self._source_starts, of_source.astype(np.uint64), "right") - 1
            has = np.zeros(self._source_starts.size - 1, np.bool_)
            has[owners] = True
            has = np.repeat(has, np.diff(self._starts).astype(np.int64))
            of_target = np.flatnonzero(np.isin(self._targets, ids)).astype(np.uint64)
            has[np.searchsorted(self._target_starts, of_target, "right") - 1] = True
        return has

    def _rule_range(self, source: str) -> tuple[int, int]:
        """Return the numbers of the rules with a source side, half-open."""
        for side in self._written(" ".join(source.split())):
            key = np.uint64(hash_text(utf8_phrase(side)))
            place = int(np.searchsorted(self._hashes, key))
            if place == self._hashes.size or self._hashes[place] != key:
                continue
            with self._read():
                first, stop = int(self._starts[place]), int(self._starts[place + 1])
            if not 0 <= first <= stop <= len(self):
                raise self._damaged()
            return first, stop
        return 0, 0

    def _written(self, source: str) -> Iterator[str]:
        """Yield a source side as given, then as the rules may write its apostrophes and escapes."""
        yield source
        if source and not source.replace(" ", "").isalnum():
            lookup = Lookup(Normaliser(lower=False), "lines", self._has_word)
            yield from map(" ".join, lookup.readings(source))

    def _has_word(self, word: str) -> bool:
        """Return whether a word is in the rules."""
        return self._vocabulary.number(word) > 0

    def _damaged(self) -> ArtifactError:
        return ArtifactError(
            f"{self.artifact.path}: its arrays contradict each other: restore it or pack the "
            "grammar again"
        )

    @contextmanager
    def _read(self) -> Iterator[None]:
        """Raise ArtifactError where damaged arrays lead to an IndexError."""
        try:
            yield
        except IndexError:
            raise self._damaged() from None

    def at(self, rules: np.ndarray) -> Results[PackedRule]:
        """Return the rules of given numbers.

        Arguments:
            rules: int64, numbers of rules, from 0.
        """
        with self._read():
            return Results(self._packed_rules(np.asarray(rules, np.int64)))

    def feature(self, name: str) -> np.ndarray:
        """Return a feature of all rules, float64[n], NaN where a rule has none.

        Arguments:
            name: name of the feature.

        Raises:
            ParameterError: there is no such feature.
        """
        return self.feature_of(name, np.s_[:])

    def _packed_rules(self, rules: np.ndarray) -> Iterator[PackedRule]:
        sources = np.searchsorted(self._starts, rules.astype(np.uint64), side="right") - 1
        values = [
            (name, decode(np.asarray(codes[rules]), table).tolist())
            for name, codes, table in self._columns
        ]
        for row, rule in enumerate(rules.tolist()):
            begin, end = self._source_starts[sources[row] : sources[row] + 2].tolist()
            first, stop = int(self._target_starts[rule]), int(self._target_starts[rule + 1])
            first_link, last_link = int(self._link_starts[rule]), int(self._link_starts[rule + 1])
            yield PackedRule(
                self._labels[self._label[rule]],
                " ".join(self._vocabulary.words(self._sources[begin:end])),
                " ".join(self._vocabulary.words(self._targets[first:stop])),
                {name: column[row] for name, column in values if column[row] == column[row]},
                [(i, j) for i, j in self._links[first_link:last_link].tolist()],
                SIZES[self._size[rule]],
                TYPES[self._kind[rule]],
                float(self._cost[rule]),
                "" if self._pair_kind is None else PAIR_KINDS[self._pair_kind[rule]],
            )
