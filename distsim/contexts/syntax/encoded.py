"""Encodes annotated sentences as arrays of numbers in temporary files; texts stay in memory."""

import hashlib
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from distsim.base.errors import ParameterError
from distsim.contexts.kernels import syntax as kernel
from distsim.contexts.kernels.syntax import EncodedSentences
from distsim.contexts.syntax.model import ROOT as ROOT_TEXT
from distsim.corpus.annotation import NO_HEAD, AnnotatedSentence
from distsim.corpus.vocabulary import GrowingArray
from distsim.kernels.compiled import frozen

BLOCK_TOKENS = 1 << 16
_MOST_TEXTS = int(kernel.TEXT_MASK)
_SHAPES: dict[str, tuple[str, int]] = {  # dtype, columns
    "texts": ("<i4", 4), "before": ("|u1", 1), "after": ("|u1", 1),
    "arc_starts": ("<i8", 1), "arcs": ("<i4", 3), "begin_starts": ("<i8", 1),
    "begin": ("<i4", 2), "end_starts": ("<i8", 1), "end": ("<i4", 2),
}  # fmt: skip
_STARTS = {"arc_starts": "arcs", "begin_starts": "begin", "end_starts": "end"}


class _Numbers(dict[str, int]):
    """Numbers by text; a new text gets the next number."""

    def __missing__(self, text: str) -> int:
        number = self[text] = len(self)
        return number


class NumberedTexts:
    """Texts numbered in order of first appearance; text 0 is empty, text 1 is the root's."""

    def __init__(self) -> None:
        self.numbers = _Numbers({"": 0, ROOT_TEXT: 1})
        self._spelled = GrowingArray(np.uint8)
        self._ends = GrowingArray(np.int64)
        self._ends.append(np.zeros(1, np.int64))

    def number(self, texts: Iterable[str]) -> list[int]:
        """Return the number of every text; new ones get the next numbers."""
        numbers = self.numbers
        return [numbers[text] for text in texts]

    def spelled(self) -> tuple[np.ndarray, np.ndarray]:
        """Return all texts so far end to end, uint8, and int64 offsets."""
        ends = self._ends.view()
        new = [text.encode() for text in islice(self.numbers, ends.size - 1, None)]
        if new:
            self._ends.append(ends[-1] + np.cumsum([len(text) for text in new]))
            self._spelled.append(np.frombuffer(b"".join(new), np.uint8))
        return frozen(self._spelled.view()), frozen(self._ends.view())


class SentenceBlock(NamedTuple):
    """Some sentences as arrays.

    Attributes:
        first: position of the block's first token in the corpus.
        words: int32[n], the text number of each token.
        after: uint8[n], tokens behind each in its sentence, at most 255.
    """

    first: int
    words: np.ndarray
    after: np.ndarray


class EncodedCorpus:
    """All sentences of a corpus as arrays.

    Attributes:
        sentences: mapped arrays for the kernels.
        text, offsets: uint8 and int64, the texts' UTF-8 end to end.
        names: the texts.
        n_sentences, n_tokens: of the corpus.
        checksum: of everything read.

    Arguments:
        sentences: as above.
        encoder: that made them.
    """

    def __init__(self, sentences: EncodedSentences, encoder: "Encoder") -> None:
        self.sentences = sentences
        self.text, self.offsets = encoder.texts.spelled()
        self.names = list(encoder.texts.numbers)
        self.n_sentences = encoder.n_sentences
        self.n_tokens = encoder.n_tokens
        self.checksum = encoder.checksum()


class Encoder:
    """Encoder of sentences, block by block, into files in `folder`.

    The result does not depend on the size of blocks.

    Arguments:
        folder: where the files are written.
        block_tokens: a block is closed at the first sentence that reaches this number of tokens.
    """

    def __init__(self, folder: str | Path, block_tokens: int = BLOCK_TOKENS) -> None:
        self.texts = NumberedTexts()
        self.n_sentences = 0
        self.n_tokens = 0
        self._folder = Path(folder)
        self._block_tokens = block_tokens
        self._files = {name: open(self._folder / name, "wb") for name in _SHAPES}  # noqa: SIM115
        self._sizes = dict.fromkeys(_SHAPES, 0)
        self._digests = {name: hashlib.blake2b(digest_size=16) for name in _SHAPES}
        self._clear()
        for name in _STARTS:
            self._write(name, np.zeros(1, np.int64))

    def _clear(self) -> None:
        self._columns: list[list[int]] = [[], [], [], []]
        self._before: list[int] = []
        self._after: list[int] = []
        self._arcs: list[list[int]] = [[], [], [], []]  # dependents, governors, types, graphs
        self._nodes: list[list[int]] = [[], [], []]  # starts, stops, labels

    def encode(self, sentences: Iterable[AnnotatedSentence]) -> Iterator[SentenceBlock]:
        """Yield each block of sentences when it is written."""
        for sentence in sentences:
            self._add(sentence)
            if len(self._before) >= self._block_tokens:
                yield self._flush()
        if self._before:
            yield self._flush()

    def finish(self) -> EncodedCorpus:
        """Close the files and return the corpus, mapped from them."""
        arrays = {}
        for name, file in self._files.items():
            file.close()
            dtype, width = _SHAPES[name]
            shape = (self._sizes[name],) if width == 1 else (self._sizes[name], width)
            path = self._folder / name
            arrays[name] = frozen(
                np.memmap(path, dtype, "r", shape=shape) if path.stat().st_size
                else np.empty(shape, dtype)
            )  # fmt: skip
        return EncodedCorpus(EncodedSentences(**arrays), self)

    def close(self) -> None:
        """Close the files."""
        for file in self._files.values():
            file.close()

    def checksum(self) -> str:
        """Return a checksum of all sentences so far."""
        digest = hashlib.blake2b(digest_size=16)
        for part in self._digests.values():
            digest.update(part.digest())
        digest.update("\0".join(self.texts.numbers).encode())
        return digest.hexdigest()

    def _add(self, sentence: AnnotatedSentence) -> None:
        base = len(self._before)
        n = len(sentence.words)
        number = self.texts.number
        token_texts = (sentence.words, sentence.lemmas, sentence.pos, sentence.ner)
        for column, texts in zip(self._columns, token_texts, strict=True):
            column += number(texts)
        if n > 255:
            self._before += [min(i, 255) for i in range(n)]
            self._after += [min(i, 255) for i in range(n - 1, -1, -1)]
        else:
            self._before += range(n)
            self._after += range(n - 1, -1, -1)
        dependents, governors, types, graphs = self._arcs
        heads = sentence.heads
        if NO_HEAD in heads:
            attached = [i for i in range(n) if heads[i] != NO_HEAD]
            dependents += [base + i for i in attached]
            heads = [heads[i] for i in attached]
            types += number([sentence.types[i] for i in attached])
        else:
            dependents += range(base, base + n)
            types += number(sentence.types)
        governors += [base + head if head >= 0 else -1 for head in heads]
        graphs += [kernel.BASIC] * len(heads)
        for graph, arcs in (
            (kernel.ENHANCED, sentence.enhanced),
            (kernel.COLLAPSED, sentence.collapsed),
            (kernel.PROPAGATED, sentence.propagated),
        ):
            if arcs:
                dependents += [base + arc[0] for arc in arcs]
                governors += [base + arc[1] if arc[1] >= 0 else -1 for arc in arcs]
                types += number([arc[2] for arc in arcs])
                graphs += [graph] * len(arcs)
        if sentence.nodes:
            starts, stops, labels = self._nodes
            starts += [base + node[0] for node in sentence.nodes]
            stops += [base + node[1] for node in sentence.nodes]
            labels += number([node[2] for node in sentence.nodes])
        self.n_sentences += 1

    def _flush(self) -> SentenceBlock:
        n = len(self._before)
        if len(self.texts.numbers) > _MOST_TEXTS:
            raise ParameterError(
                f"more than {_MOST_TEXTS:,} distinct words, lemmas, types and labels: "
                "sign the corpus in parts"
            )
        arcs = [frozen(np.array(column, np.int64)) for column in self._arcs]
        starts, stops, labels = (np.array(column, np.int64) for column in self._nodes)
        lengths = frozen(stops - starts)
        texts = np.array(self._columns, np.int32).T.copy()
        after = np.array(self._after, np.uint8)
        self._write("texts", texts)
        self._write("before", np.array(self._before, np.uint8))
        self._write("after", after)
        indexed = {
            "arc_starts": kernel.index_arcs(n, *arcs),
            "begin_starts": kernel.index_nodes(n, frozen(starts), lengths, frozen(labels)),
            "end_starts": kernel.index_nodes(n, frozen(stops - 1), lengths, frozen(labels)),
        }
        for name, (first, rows) in indexed.items():
            self._write(name, first[1:] + self._sizes[_STARTS[name]])
            self._write(_STARTS[name], rows)
        block = SentenceBlock(self.n_tokens, frozen(texts[:, kernel.LEX]), frozen(after))
        self.n_tokens += n
        self._clear()
        return block

    def _write(self, name: str, values: np.ndarray) -> None:
        data = np.ascontiguousarray(values, _SHAPES[name][0])
        self._files[name].write(data.reshape(-1).view(np.uint8).data)
        self._digests[name].update(data.reshape(-1).view(np.uint8).data)
        self._sizes[name] += len(data)
