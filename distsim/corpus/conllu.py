"""CoNLL-U text -> annotated sentences, checked."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import repeat

from distsim.corpus.annotation import (
    NO_HEAD,
    OUTSIDE,
    ROOT,
    AnnotatedSentence,
    Arc,
    Normalised,
    check_tree,
    fault,
)
from distsim.corpus.blocks import Block
from distsim.corpus.entities import Mentions
from distsim.corpus.lines import LINE_BYTES
from distsim.corpus.sources import Source
from distsim.corpus.trees import TreeReader

COLUMNS = 10
_MOST_KEPT = 1 << 18  # of what repeats: parsed once
_TREE = re.compile(r"#\s*constituency\s*=\s*(.*)")
_PREFIX = re.compile(r"^[BIESLU]-")  # of entity classes in BIO and BIOES


def read_conllu(blocks: Iterable[Block], sources: Sequence[Source]) -> Iterator[AnnotatedSentence]:
    """Yield the sentences in the blocks of one or more files.

    Words are the tokens numbered 1, 2, ...; multiword ranges are skipped. The part of speech
    is XPOS, or UPOS where that is missing. Entity classes come from `NER=` or `ner=` in MISC,
    else from `Entity=` brackets, whose mentions run on over lines. Enhanced arcs that come
    from an empty node are taken from that node's own governors. A comment
    `# constituency = (ROOT ...)` is the sentence's tree.

    Raises:
        InputError: a line is not what it should be; file and line are named.
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


class _Unusual(Exception):  # noqa: N818 (never seen outside)
    """A sentence wants a closer look: line by line."""


class _Brackets(_Unusual):
    """Its mentions have to be followed from token to token."""


class _Heads(dict[str, int]):
    """HEAD as written -> the governor from 0, ROOT or NO_HEAD."""

    def __missing__(self, head: str) -> int:
        if head != "_" and not head.isdecimal():
            raise _Unusual
        governor = self[head] = NO_HEAD if head == "_" else int(head) - 1
        return governor


class _ArcParts(dict[str, tuple[int, str]]):
    """`head:relation` -> the governor from 0 or ROOT, and the relation."""

    def __missing__(self, part: str) -> tuple[int, str]:
        head, _, kind = part.partition(":")
        if not kind or not head.isdecimal():
            raise _Unusual
        parsed = int(head) - 1, kind
        if len(self) < _MOST_KEPT:
            self[part] = parsed
        return parsed


class _Classes(dict[str, str]):
    """MISC -> the entity class, where it has no brackets."""

    def __init__(self, parse: Callable[[str], str]) -> None:
        self._parse = parse

    def __missing__(self, misc: str) -> str:
        if "\r" in misc:
            raise _Unusual
        if "Entity=" in misc:
            raise _Brackets
        found = self._parse(misc)
        if len(self) < _MOST_KEPT:
            self[misc] = found
        return found


class _Parser:
    """Parses one sentence after the other; open mentions and known texts are carried along."""

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

        Usual ones are read column by column; whatever is not so, or at fault, line by line.
        """
        usual = self._usual(lines, file, first)
        if usual is not None:
            yield usual
            return
        tree_text: tuple[str, int] | None = None
        rows: list[tuple[int, list[str]]] = []
        for line, text in enumerate(lines, first):
            if text[0] == "#":
                if text.startswith("# newdoc"):
                    self.new_document()
                elif "constituency" in text and (found := _TREE.match(text)):
                    tree_text = (found[1], line)
                continue
            columns = text.rstrip("\r").split("\t")
            if len(columns) != COLUMNS:
                raise fault(
                    file, line,
                    f"{len(columns)} columns, wanted {COLUMNS} parted by tabs: mend the line",
                )  # fmt: skip
            rows.append((line, columns))
        if not rows:
            return
        sentence, token_lines = self._tokens(rows, file)
        sentence.file = file
        sentence.line = first
        if tree_text is not None:
            self._add_tree(sentence, *tree_text)
        _check(sentence, token_lines)
        yield sentence

    def _usual(self, lines: list[str], file: str, first: int) -> AnnotatedSentence | None:
        """Return a sentence of comments and then tokens 1, 2, 3, ...; None if it is not so."""
        n_comments = 0
        tree: tuple[str, int] | None = None
        for text in lines:
            if text[0] != "#":
                break
            if text.startswith("# newdoc"):
                self.new_document()
            elif "constituency" in text and (found := _TREE.match(text)):
                tree = (found[1], first + n_comments)
            n_comments += 1
        rows = [text.split("\t") for text in lines[n_comments:]]
        lines_of: Sequence[int] = range(first + n_comments, first + len(lines))
        if any(["-" in row[0] for row in rows]):
            kept = [i for i, row in enumerate(rows) if not _is_range(row)]
            rows = [rows[i] for i in kept]
            lines_of = [lines_of[i] for i in kept]
        try:
            number, form, lemma, upos, xpos, _, head, types, deps, misc = zip(*rows, strict=True)
            heads = [self._heads[text] for text in head]
            enhanced = self._usual_arcs(deps)
            ner = self._usual_classes(misc)
        except (ValueError, _Unusual):
            return None
        n = len(number)
        while len(self._numbers) < n:
            self._numbers.append(str(len(self._numbers) + 1))
        if (
            list(number) != self._numbers[:n]
            or any("" in column for column in (form, lemma, upos, xpos, types))
            or any(arc[1] >= n for arc in enhanced)
            or not (heads.count(NO_HEAD) == n or _is_tree(heads))
        ):
            return None
        if ner is None:
            ner = list(map(self._entity_class, misc, repeat(file), lines_of))
        normal = self._normal
        sentence = AnnotatedSentence(
            [normal[text] for text in form],
            [normal[text] for text in lemma],
            list(xpos) if "_" not in xpos else _tags(xpos, upos),
            ner, heads, list(types), enhanced, file=file, line=first,
        )  # fmt: skip
        if tree is not None:
            self._add_tree(sentence, *tree)
        return sentence

    def _usual_classes(self, misc: Sequence[str]) -> list[str] | None:
        """Return the entity classes; None where mentions in brackets are open or opened."""
        if self._mentions.open:
            return None
        classes = self._class_of_misc
        try:
            return [classes[text] for text in misc]
        except _Brackets:
            return None

    def _usual_arcs(self, deps: Sequence[str]) -> list[Arc]:
        if deps.count("_") == len(deps):
            return []
        parts = self._arc_parts
        return [
            Arc(dependent, *parts[part])
            for dependent, cell in enumerate(deps) if cell != "_"
            for part in cell.split("|")
        ]  # fmt: skip

    def _tokens(
        self, rows: list[tuple[int, list[str]]], file: str
    ) -> tuple[AnnotatedSentence, list[int]]:
        normal = self._normal
        words: list[str] = []
        lemmas: list[str] = []
        pos: list[str] = []
        ner: list[str] = []
        heads: list[int] = []
        types: list[str] = []
        graphs: list[tuple[int, str, int]] = []  # (dependent, DEPS, line)
        empty_nodes: dict[str, tuple[str, int]] = {}
        token_lines: list[int] = []
        for line, columns in rows:
            number, form, lemma, upos, xpos, _, head, deprel, deps, misc = columns
            if not number.isdecimal():
                if "-" in number:
                    continue
                if "." in number:
                    empty_nodes[number] = (deps, line)
                    continue
                raise fault(file, line, f"token number {number!r}: number tokens 1, 2, 3, ...")
            n = len(words)
            if int(number) != n + 1:
                raise fault(
                    file, line, f"token number {number}, wanted {n + 1}: number tokens 1, 2, 3, ..."
                )
            if not (form and lemma and xpos and upos and deprel):
                raise fault(file, line, "an empty column: write _ where nothing is known")
            words.append(normal[form])
            lemmas.append(normal[lemma])
            pos.append(xpos if xpos != "_" else upos)
            ner.append(self._entity_class(misc, file, line))
            if head.isdecimal():
                heads.append(int(head) - 1)
            elif head == "_":
                heads.append(NO_HEAD)
            else:
                raise fault(file, line, f"head {head!r}: give the number of a token, or 0")
            types.append(deprel)
            if deps != "_":
                graphs.append((n, deps, line))
            token_lines.append(line)
        if not words:
            raise fault(file, rows[0][0], "a sentence without tokens: add them or drop its lines")
        sentence = AnnotatedSentence(words, lemmas, pos, ner, heads, types)
        for dependent, deps, line in graphs:
            sentence.enhanced += _arcs(dependent, deps, len(words), empty_nodes, file, line)
        return sentence, token_lines

    def _entity_class(self, misc: str, file: str, line: int) -> str:
        brackets = None
        if "Entity=" in misc:
            for item in misc.split("|"):
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
        for item in misc.split("|"):
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
                f"a tree of {len(tree.leaves)} leaves for a sentence of {len(sentence.words)} "
                "tokens: give each token one leaf",
            )  # fmt: skip
        sentence.nodes = tree.nodes


def _is_range(row: list[str]) -> bool:
    """Tell whether a row is of a multiword token, whose words follow."""
    return len(row) == COLUMNS and "-" in row[0] and row[0][0] != "#"


def _tags(xpos: Sequence[str], upos: Sequence[str]) -> list[str]:
    return [other if tag == "_" else tag for tag, other in zip(xpos, upos, strict=True)]


def _is_tree(heads: list[int]) -> bool:
    """Tell whether every token reaches the one root; `check_tree` says what is wrong if not."""
    n = len(heads)
    if min(heads) < ROOT or max(heads) >= n or heads.count(ROOT) != 1:
        return False
    reached = [False] * n + [True]  # the last: ROOT is -1
    for token, head in enumerate(heads):
        if reached[head]:
            reached[token] = True
            continue
        path = [token]
        while not reached[head]:
            path.append(head)
            if len(path) > n:
                return False
            head = heads[head]
        for step in path:
            reached[step] = True
    return True


def _check(sentence: AnnotatedSentence, lines: list[int]) -> None:
    """Raise for heads that are out of range or make no tree."""
    n = len(sentence.words)
    if sentence.heads.count(NO_HEAD) == n:
        return  # a corpus without dependencies
    for token, head in enumerate(sentence.heads):
        if head in (NO_HEAD, token) or head >= n:
            found = "_" if head == NO_HEAD else head + 1
            raise fault(
                sentence.file, lines[token],
                f"head {found} of token {token + 1}, wanted another token of 1 to {n}, or 0: "
                "mend the head",
            )  # fmt: skip
    wrong = check_tree(sentence.heads)
    if wrong:
        raise fault(sentence.file, lines[0], wrong)


def _arcs(
    dependent: int,
    deps: str,
    n: int,
    empty_nodes: dict[str, tuple[str, int]],
    file: str,
    line: int,
) -> list[Arc]:
    """Return the enhanced arcs in a DEPS column; those from empty nodes led on to real ones."""
    arcs = []
    for part in deps.split("|"):
        head, colon, kind = part.partition(":")
        if not colon or not kind:
            raise fault(file, line, f"enhanced dependency {part!r}: write head:relation")
        if head.isdecimal():
            governors = [int(head)]
        elif head in empty_nodes:
            governors = _real_governors(head, empty_nodes, set(), file)
        else:
            raise fault(
                file, line,
                f"enhanced head {head!r}: name a token or an empty node of the sentence",
            )  # fmt: skip
        for governor in governors:
            if governor > n:
                raise fault(file, line, f"enhanced head {governor}, wanted 0 to {n}: mend the head")
            arcs.append(Arc(dependent, governor - 1, kind))
    return arcs


def _real_governors(
    node: str, empty_nodes: dict[str, tuple[str, int]], seen: set[str], file: str
) -> list[int]:
    """Return the tokens that govern an empty node, through other empty nodes if need be."""
    seen.add(node)
    found: list[int] = []
    deps, line = empty_nodes[node]
    for part in deps.split("|") if deps != "_" else ():
        head = part.partition(":")[0]
        if head.isdecimal():
            found.append(int(head))
        elif head not in empty_nodes:
            raise fault(
                file, line,
                f"enhanced head {head!r}: name a token or an empty node of the sentence",
            )  # fmt: skip
        elif head not in seen:
            found += _real_governors(head, empty_nodes, seen, file)
    return found


def first_text(block: Block) -> tuple[str, int]:
    """Return the first line that is neither blank nor a comment, and its number; or nothing."""
    for number, line in enumerate(block.lines(), block.first_line):
        if line.strip() and not line.startswith("#"):
            return line, number
    return "", 0
