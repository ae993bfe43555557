"""Reads CoNLL-U text as annotated sentences and checks them."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import repeat

from distsim.base.arguments import plain_count
from distsim.base.errors import counted
from distsim.corpus.annotation import (
    NO_HEAD,
    OUTSIDE,
    AnnotatedSentence,
    Arc,
    Mentions,
    Normalised,
    TreeReader,
    check_tree,
    fault,
)
from distsim.corpus.lines import LINE_BYTES, Block
from distsim.corpus.sources import Source

COLUMNS = 10
_MOST_KEPT = 1 << 18  # of what repeats: parsed once
_TREE = re.compile(r"#\s*constituency\s*=\s*(.*)")
_PREFIX = re.compile(r"^[BIESLU]-")  # of entity classes in BIO and BIOES


def read_conllu(blocks: Iterable[Block], sources: Sequence[Source]) -> Iterator[AnnotatedSentence]:
    """Yield the annotated sentences in the blocks of one or more CoNLL-U files.

    Words are the tokens numbered 1, 2, ...; multiword ranges are skipped. The part of speech
    is XPOS, or UPOS where that is missing. Entity classes come from `NER=` or `ner=` in MISC,
    else from `Entity=` brackets, whose mentions may extend over several lines. Enhanced arcs whose
    governor is an empty node are replaced by arcs from that node's own governors. A comment
    `# constituency = (ROOT ...)` is the sentence's tree.

    Arguments:
        sources: the files; a block's `source` is an index into it.

    Raises:
        InputError: a line is not valid CoNLL-U, or a sentence is too long; file and line are named.
    """
    parser = _Parser()
    lines: list[str] = []
    first = 1
    source = -1
    for block in blocks:
        if block.source != source:
            if any(lines):
                yield from parser.sentence(lines, sources[source].path, first)
            lines, first, source = [], block.first_line, block.source
            parser.new_document()
        file = sources[source].path
        pieces = block.lines()
        begin = 0
        for end in [i for i, text in enumerate(pieces) if not text or text == "\r"]:
            lines += pieces[begin:end]
            if lines:
                yield from parser.sentence(lines, file, first)
            lines = []
            begin = end + 1
            first = block.first_line + begin
        lines += pieces[begin:]
        if sum(map(len, lines)) > LINE_BYTES:
            raise fault(
                file, first,
                f"a sentence of more than {LINE_BYTES >> 20} MB begins here: put a blank line "
                "after each sentence",
            )  # fmt: skip
    if lines:
        yield from parser.sentence(lines, sources[source].path, first)


class _Brackets(Exception):  # noqa: N818 (never seen outside)
    """Raised where mentions in brackets must be tracked from token to token."""


class _Heads(dict[str, int]):
    """Governors from 0, ROOT or NO_HEAD, by HEAD as written; KeyError where it is no number."""

    def __missing__(self, head: str) -> int:
        number = NO_HEAD + 1 if head == "_" else plain_count(head)
        if number is None:
            raise KeyError(head)
        self[head] = number - 1
        return number - 1


class _ArcParts(dict[str, tuple[int, str]]):
    """The governor from 0 or ROOT and the relation, by `head:relation`.

    KeyError where the head is no number.
    """

    def __missing__(self, part: str) -> tuple[int, str]:
        head, _, kind = part.partition(":")
        governor = plain_count(head)
        if not kind or governor is None:
            raise KeyError(part)
        parsed = governor - 1, kind
        if len(self) < _MOST_KEPT:
            self[part] = parsed
        return parsed


class _Classes(dict[str, str]):
    """Entity classes by MISC; _Brackets where mentions in brackets are opened or closed."""

    def __init__(self, parse: Callable[[str], str]) -> None:
        self._parse = parse

    def __missing__(self, misc: str) -> str:
        if "Entity=" in misc:
            raise _Brackets
        parsed = self._parse(misc)
        if len(self) < _MOST_KEPT:
            self[misc] = parsed
        return parsed


class _Parser:
    """Parser of sentences, in order; it keeps open mentions and parsed texts."""

    def __init__(self) -> None:
        self._normal = Normalised()
        self._trees = TreeReader()
        self._mentions = Mentions()
        self._classes: dict[str, str] = {}
        self._heads = _Heads()
        self._arc_parts = _ArcParts()
        self._class_of_misc = _Classes(self._named_class)
        self._numbers: list[str] = []  # 1, 2, 3, ...

    def new_document(self) -> None:
        self._mentions = Mentions()

    def sentence(self, lines: list[str], file: str, first: int) -> Iterator[AnnotatedSentence]:
        """Yield the sentence in `lines`, the first of which is line `first` of the file.

        It is read column by column; where a column has a fault, its line is looked for.
        """
        tree: tuple[str, int] | None = None
        comments = [n for n, text in enumerate(lines) if text[0] == "#"]
        for n in comments:
            if lines[n].startswith("# newdoc"):
                self.new_document()
            elif "constituency" in lines[n] and (tree_match := _TREE.match(lines[n])):
                tree = (tree_match[1], first + n)
        at: Sequence[int] = range(first + len(comments), first + len(lines))  # lines of the rows
        if comments and comments[-1] >= len(comments):  # some come later
            at = [first + n for n in range(len(lines)) if n not in comments]
        rows = [lines[line - first].split("\t") for line in at]
        if not rows:
            return
        empty_nodes: _EmptyNodes = {}
        try:
            number, form, lemma, upos, xpos, _, head, types, deps, misc = zip(*rows, strict=True)
            is_plain = list(number) == self._first_numbers(len(number))
        except ValueError:  # a row has another number of columns
            is_plain = False
        if not is_plain:
            rows, at, empty_nodes = word_rows(rows, at, file)
            number, form, lemma, upos, xpos, _, head, types, deps, misc = zip(*rows, strict=True)
        if any("" in column for column in (form, lemma, upos, xpos, types)):
            at_fault = next(n for n, row in enumerate(rows) if "" in (*row[1:5], row[7]))
            raise fault(file, at[at_fault], "an empty column: write _ where nothing is known")
        ner = self._entity_classes(misc, file, at)
        try:
            heads = [self._heads[text] for text in head]
        except KeyError as error:
            line = at[head.index(error.args[0])]
            raise fault(
                file, line, f"head {error.args[0]!r}: give the number of a token, or 0"
            ) from None
        normal = self._normal
        sentence = AnnotatedSentence(
            [normal[text] for text in form],
            [normal[text] for text in lemma],
            list(xpos) if "_" not in xpos else _tags(xpos, upos),
            ner, heads, list(types), self._enhanced(deps, empty_nodes, file, at),
            file=file, line=first,
        )  # fmt: skip
        if tree is not None:
            self._add_tree(sentence, *tree)
        _check(sentence, at)
        yield sentence

    def _first_numbers(self, n: int) -> list[str]:
        while len(self._numbers) < n:
            self._numbers.append(str(len(self._numbers) + 1))
        return self._numbers[:n]

    def _entity_classes(self, misc: Sequence[str], file: str, at: Sequence[int]) -> list[str]:
        if not self._mentions.open:
            classes = self._class_of_misc
            with suppress(_Brackets):
                return [classes[text] for text in misc]
        return list(map(self._entity_class, misc, repeat(file), at))

    def _enhanced(
        self, deps: Sequence[str], empty_nodes: "_EmptyNodes", file: str, at: Sequence[int]
    ) -> list[Arc]:
        if deps.count("_") == len(deps):
            return []
        parts, n = self._arc_parts, len(deps)
        try:
            arcs = [
                Arc(dependent, *parts[part])
                for dependent, cell in enumerate(deps) if cell != "_"
                for part in cell.split("|")
            ]  # fmt: skip
        except KeyError:
            arcs = []
        if arcs and max([arc[1] for arc in arcs]) < n:
            return arcs
        return [
            arc
            for dependent, cell in enumerate(deps) if cell != "_"
            for arc in _arcs(dependent, cell, n, empty_nodes, file, at[dependent])
        ]  # fmt: skip

    def _entity_class(self, misc: str, file: str, line: int) -> str:
        brackets = None
        if "Entity=" in misc:
            for item in misc.rstrip("\r").split("|"):
                if item.startswith("Entity="):
                    brackets = item[7:]
        try:
            inside = self._mentions.innermost(brackets)
        except ValueError as error:
            raise fault(file, line, str(error)) from None
        if "NER=" in misc or "ner=" in misc:
            return self._named_class(misc, inside)
        return self._normal[inside]

    def _named_class(self, misc: str, otherwise: str = OUTSIDE) -> str:
        """Return the class that `NER=` or `ner=` names, else another."""
        named = None
        for item in misc.rstrip("\r").split("|"):
            if item.startswith(("NER=", "ner=")):
                named = item[4:]
        if named is None:
            return self._normal[otherwise]
        known = self._classes.get(named)
        if known is None:
            bare = _PREFIX.sub("", named)
            known = self._classes[named] = OUTSIDE if bare in ("", "_") else self._normal[bare]
        return known

    def _add_tree(self, sentence: AnnotatedSentence, text: str, line: int) -> None:
        try:
            tree = self._trees.parse(text)
        except ValueError as error:
            raise fault(sentence.file, line, f"the tree is broken: {error}") from None
        if len(tree.leaves) != len(sentence.words):
            raise fault(
                sentence.file, line,
                f"a tree of {counted(len(tree.leaves), 'leaf', 'leaves')} for a sentence of "
                f"{counted(len(sentence.words), 'token')}: give each token one leaf",
            )  # fmt: skip
        sentence.nodes = tree.nodes


# By the number of an empty node: its DEPS, and its line.
_EmptyNodes = dict[str, tuple[str, int]]


def word_rows(
    rows: list[list[str]], at: Sequence[int], file: str
) -> tuple[list[list[str]], list[int], _EmptyNodes]:
    """Return the rows of words 1, 2, 3, ..., their lines, and the empty nodes.

    Arguments:
        rows: the columns of each line.

    Raises:
        InputError: a row has another number of columns, a word another number, or there is none.
    """
    words: list[list[str]] = []
    lines: list[int] = []
    empty_nodes: _EmptyNodes = {}
    for row, line in zip(rows, at, strict=True):
        number = row[0]
        if len(row) != COLUMNS:
            raise fault(
                file,
                line,
                f"{counted(len(row), 'column')}, wanted {COLUMNS} separated by tabs: mend the line",
            )
        if number.isdecimal():
            words.append(row)
            lines.append(line)
            if number != str(len(words)) and plain_count(number) != len(words):
                raise fault(
                    file, line,
                    f"token number {number[:20]}, wanted {len(words)}: number tokens 1, 2, 3, ...",
                )  # fmt: skip
        elif "-" not in number:
            if "." not in number:
                raise fault(file, line, f"token number {number!r:.40}: number tokens 1, 2, 3, ...")
            empty_nodes[number] = (row[8], line)
    if not words:
        raise fault(file, at[0], "a sentence without tokens: add them or drop its lines")
    return words, lines, empty_nodes


def _tags(xpos: Sequence[str], upos: Sequence[str]) -> list[str]:
    return [other if tag == "_" else tag for tag, other in zip(xpos, upos, strict=True)]


def _check(sentence: AnnotatedSentence, lines: Sequence[int]) -> None:
    """Raise for heads that are out of range or make no tree."""
    heads, n = sentence.heads, len(sentence.heads)
    if heads.count(NO_HEAD) == n:
        return  # a corpus without dependencies
    wrong = check_tree(heads) if max(heads) < n and NO_HEAD not in heads else "out of range"
    if wrong is None:
        return
    for token, head in enumerate(heads):
        if head in (NO_HEAD, token) or head >= n:
            written_head = "_" if head == NO_HEAD else head + 1
            raise fault(
                sentence.file, lines[token],
                f"head {written_head} of token {token + 1}, wanted another token of 1 to {n}, or "
                "0: mend the head",
            )  # fmt: skip
    raise fault(sentence.file, lines[0], wrong)


def _arcs(
    dependent: int, deps: str, n: int, empty_nodes: _EmptyNodes, file: str, line: int
) -> list[Arc]:
    """Return the enhanced arcs in a DEPS column; empty nodes are replaced by their governors."""
    arcs = []
    for part in deps.split("|"):
        head, colon, kind = part.partition(":")
        if not colon or not kind:
            raise fault(file, line, f"enhanced dependency {part!r:.40}: write head:relation")
        governor = plain_count(head)
        if governor is not None:
            governors = [governor]
        elif head in empty_nodes:
            governors = _real_governors(head, empty_nodes, set(), file)
        else:
            raise fault(
                file, line,
                f"enhanced head {head!r:.40}: name a token or an empty node of the sentence",
            )  # fmt: skip
        for governor in governors:
            if governor > n:
                raise fault(file, line, f"enhanced head {governor}, wanted 0 to {n}: mend the head")
            arcs.append(Arc(dependent, governor - 1, kind))
    return arcs


def _real_governors(node: str, empty_nodes: _EmptyNodes, seen: set[str], file: str) -> list[int]:
    """Return the tokens that govern an empty node, also through other empty nodes."""
    seen.add(node)
    governors: list[int] = []
    deps, line = empty_nodes[node]
    for part in deps.split("|") if deps != "_" else ():
        head = part.partition(":")[0]
        governor = plain_count(head)
        if governor is not None:
            governors.append(governor)
        elif head not in empty_nodes:
            raise fault(
                file, line,
                f"enhanced head {head!r:.40}: name a token or an empty node of the sentence",
            )  # fmt: skip
        elif head not in seen:
            governors += _real_governors(head, empty_nodes, seen, file)
    return governors


def first_text(block: Block) -> tuple[str, int]:
    """Return the first line that is neither blank nor a comment, and its number; or ("", 0)."""
    for number, line in enumerate(block.lines(), block.first_line):
        if line.strip() and not line.startswith("#"):
            return line, number
    return "", 0
