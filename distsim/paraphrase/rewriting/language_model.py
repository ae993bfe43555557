"""N-gram language models of an index or an ARPA file."""

import hashlib
import math
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from distsim.base.arguments import AnyPath, in_range, plain_number
from distsim.base.errors import InputError
from distsim.corpus.lines import read_lines
from distsim.corpus.sources import file_label
from distsim.corpus.vocabulary import hash_texts
from distsim.indexes.corpus_index import CorpusIndex, opened_index
from distsim.kernels.compiled import frozen
from distsim.paraphrase.kernels import ngram_model as kernel
from distsim.storage import checksum_of_settings

ORDER = 5
_PRIOR_COUNT = 16.0
_CACHE = 1 << 16
_LN10 = math.log(10.0)
_UNKNOWN_LOG = -20.0
_NEVER = -99.0  # log10, as most write it for <s>
_SECTION = re.compile(r"\\([0-9]{1,2})-grams:")


class LanguageModel:
    """Log probabilities of words given the words before; may be shared by threads.

    name: for notes. checksum: of what the model was made from, so that two models of one name are
    told apart.

    Arguments:
        parts: as kernels.ngram_model.log_probability takes them.
        n_shards: of the text.
        order: words of the longest n-grams.
        end: id of the word that ends a sentence.
    """

    order: int
    end: int
    name: str
    checksum: str

    def __init__(self, parts: tuple[Any, ...], n_shards: int, order: int, end: int) -> None:
        self._parts = parts
        self._n_shards = n_shards
        self.order = order
        self.end = end
        self._own = threading.local()

    def ids(self, words: Sequence[str]) -> np.ndarray:
        """Return the id of every word, -1 where it is not known; int64.

        Arguments:
            words: as written.
        """
        raise NotImplementedError

    def rarity(self, words: Sequence[str]) -> np.ndarray:
        """Return -ln p of every word by itself, float64; higher is rarer.

        Arguments:
            words: as written.
        """
        raise NotImplementedError

    @property
    def model(self) -> tuple[Any, ...]:
        """The parts that kernels take, with caches of the current thread."""
        caches = getattr(self._own, "caches", None)
        if caches is None:
            caches = (
                np.zeros(_CACHE, np.uint64),
                np.zeros((_CACHE, self._n_shards), np.int64),
                np.zeros((_CACHE, self._n_shards), np.int64),
                np.zeros(_CACHE, np.uint64),
                np.zeros(_CACHE, np.float64),
                np.zeros(self.order + 1, np.uint64),
            )
            self._own.caches = caches
        return (*self._parts, caches)

    def log_probability(self, words: Sequence[str]) -> float:
        """Return ln p of a sentence of words, its end included."""
        return self.of_ids(self.ids(words))

    def of_ids(self, ids: np.ndarray) -> float:
        """Return ln p of a sentence by its words' ids.

        Arguments:
            ids: int64, ids of the sentence's words.
        """
        return float(kernel.sentence_log(self.model, frozen(ids), self.order, self.end))


class IndexModel(LanguageModel):
    """An index as an n-gram model, by Dirichlet smoothing at every length; nothing is stored.

    Arguments:
        index: where n-grams are counted.
        order: words of the longest n-grams.
        prior_count: a history seen so often weighs as much as the shorter one; higher smooths more.

    >>> model = IndexModel(index)
    >>> model.log_probability(["the", "king"]) > model.log_probability(["king", "the"])
    True
    """

    def __init__(
        self, index: CorpusIndex | AnyPath, *, order: int = ORDER, prior_count: float = _PRIOR_COUNT
    ) -> None:
        index = opened_index(index)
        in_range(order, "order", 2)
        shards = index.shards
        table = (np.zeros(1, np.uint64), np.zeros((1, 2)))
        numbers = np.array([index.n_tokens, prior_count, 0.0])
        parts = (
            tuple(shard.tokens for shard in shards),
            tuple(shard.suffixes for shard in shards),
            tuple(shard.word_starts for shard in shards),
            table,
            numbers,
        )
        super().__init__(parts, len(shards), order, 0)
        self._index, self._prior_count = index, prior_count
        self._counts = index.word_counts().astype(np.float64)
        self._normaliser = index.options.normaliser
        self.name = str(index.parameters["corpus"])
        self.checksum = checksum_of_settings([index.checksum, order, prior_count])

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(IndexModel, order=self.order, prior_count=self._prior_count), (self._index,)

    def ids(self, words: Sequence[str]) -> np.ndarray:
        """Return the id of every word in the index's normal form, -1 where it has none; int64.

        Arguments:
            words: words of the text.
        """
        normal = [self._normaliser.token(word).encode(errors="surrogatepass") for word in words]
        if not normal:
            return np.empty(0, np.int64)
        ids = self._index.vocabulary.find(hash_texts(normal))
        return np.where(ids > 0, ids, -1)

    def rarity(self, words: Sequence[str]) -> np.ndarray:
        """Return -ln p of every word by itself, float64; higher is rarer.

        Arguments:
            words: words of the text.
        """
        ids = self.ids(words)
        counts = np.where(ids > 0, self._counts[ids], 0.0)
        return np.log((self._index.n_tokens + 0.5) / (counts + 0.5))


class ArpaModel(LanguageModel):
    """A back-off model read from an ARPA file, in memory.

    Arguments:
        path: the file, also compressed. order: the longest n-grams that are read, in tokens; all
            where None.

    Raises:
        InputError: the file is none; the message names file and line.

    >>> lines = ["\\\\1-grams:", "-1\\t</s>", "-.5\\tking", "\\\\end\\\\", ""]
    >>> _ = (folder / "small.arpa").write_text("\\n".join(lines))
    >>> round(ArpaModel(folder / "small.arpa").log_probability(["king"]), 2)
    -3.45
    """

    def __init__(self, path: str | Path, *, order: int | None = None) -> None:
        self._again = partial(ArpaModel, order=order), (path,)
        words: dict[str, int] = {"<s>": 0, "</s>": 1}
        keys: list[np.ndarray] = []
        values: list[np.ndarray] = []
        longest = 0
        self._logs: dict[int, float] = {}
        content = hashlib.blake2b(digest_size=16)
        for length, rows in _sections(path, content.update):
            if order is not None and length > order:
                break
            longest = length
            ids = np.array(
                [words.setdefault(word, len(words)) if length == 1 else words.get(word, -1)
                 for row in rows for word in row[1]], np.int64,
            )  # fmt: skip
            numbers = np.array([(row[0], row[2]) for row in rows]).reshape(-1, 2) * _LN10
            keys.append(kernel.keys_of_rows(frozen(ids), length))
            values.append(np.minimum(numbers, [[0.0, np.inf]]))
            if length == 1:
                self._logs = dict(zip(ids.tolist(), numbers[:, 0].tolist(), strict=True))
        if longest < 1:
            raise InputError(f"{path}: has no n-grams: wanted a file in ARPA's format")
        n = sum(keys_of_order.size for keys_of_order in keys)
        table_keys = np.zeros(max(2, 1 << (2 * n).bit_length()), np.uint64)
        table_values = np.zeros((table_keys.size, 2))
        for hashes, numbers in zip(keys, values, strict=True):
            kernel.add_to_table(table_keys, table_values, frozen(hashes), frozen(numbers))
        unknown = self._logs.get(words.get("<unk>", -2), _UNKNOWN_LOG)
        nothing = (frozen(np.zeros(1, np.uint32)),)
        parts = (
            nothing, nothing, nothing, (table_keys, table_values), np.array([1.0, 1.0, unknown]),
        )  # fmt: skip
        super().__init__(parts, 1, longest if order is None else min(order, longest), 1)
        self.order = max(2, self.order)
        self._words = words
        self._unknown = unknown
        self.name = Path(path).name
        self.checksum = checksum_of_settings([content.hexdigest(), self.order])

    def __reduce__(self) -> tuple[Any, ...]:
        return self._again

    def ids(self, words: Sequence[str]) -> np.ndarray:
        """Return the id of every word, as it is or in lower case, -1 where there is none; int64.

        Arguments:
            words: words of the text.
        """
        known = self._words
        return np.array([known.get(word, known.get(word.lower(), -1)) for word in words], np.int64)

    def rarity(self, words: Sequence[str]) -> np.ndarray:
        """Return -ln p of every word by itself, float64; higher is rarer.

        Arguments:
            words: words of the text.
        """
        return np.array([-self._logs.get(i, self._unknown) for i in self.ids(words).tolist()])


def _sections(
    path: str | Path, watch: Callable[[bytes], object]
) -> Iterator[tuple[int, list[tuple[float, list[str], float]]]]:
    """Yield the rows (log10 p, words, log10 back-off) of each length of an ARPA file.

    watch: is given every line as it is read.
    """
    length = 0
    rows: list[tuple[float, list[str], float]] = []
    for number, raw in read_lines(path):
        watch(raw)
        line = raw.decode(errors="replace").strip()
        section = _SECTION.fullmatch(line)
        if section is not None or line == "\\end\\":
            if length:
                yield length, rows
            rows = []
            if section is None:
                return
            length = int(section[1])
        elif line and length:
            columns = line.split()
            wide = len(columns) - 1 - length
            log = _NEVER if columns[0] == "-inf" else plain_number(columns[0])
            back_off = plain_number(columns[-1]) if wide else 0.0
            if wide not in (0, 1) or log is None or back_off is None:
                raise InputError(
                    f"{file_label(path)}, line {number}: {line!r} is no {length}-gram: wanted a "
                    "number, the words, perhaps a number: repair the line"
                )
            rows.append((log, columns[1 : 1 + length], back_off))
    raise InputError(f"{file_label(path)}: has no \\end\\: wanted a whole file in ARPA's format")
