"""Words and phrases of a text that a phrase table or a vocabulary lacks."""

from collections.abc import Iterator
from pathlib import Path

from distsim.base.arguments import in_range
from distsim.base.errors import InputError
from distsim.corpus.lines import decoded_line, read_lines, read_text_lines
from distsim.corpus.sources import file_label, spooled
from distsim.grammar.formats.phrase_table import PhraseTableEntry
from distsim.grammar.invalid_lines import InvalidLines
from distsim.paraphrase.paraphrasing_options import LONGEST_PHRASE
from distsim.paraphrase.table_order import read_table


def read_text(path: str | Path, as_is: bool = False) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number, tokens) of a tokenised text, as the translation system reads it.

    Arguments:
        path: of the text, `-` for standard input.
        as_is: take what looks like another format, too.

    Raises:
        InputError: a line is not UTF-8, or the file cannot be read or looks like something else
            than plain text and is not to be taken `as_is`.
    """
    label = file_label(path)
    for number, line in read_text_lines(path, as_is):
        yield number, decoded_line(line, f"{label}, line {number}").split()


def unknown_phrases(
    text: str | Path, known: str | Path, longest: int, as_is: bool = False
) -> dict[str, int]:
    """Return the phrases of a text that are not known, with their counts, in order of the text.

    Arguments:
        text: tokenised, a sentence a line.
        known: a phrase table (told by its ` ||| `), whose source sides are known, or a
            vocabulary, a word or phrase a line, up to a tab where there is one. Streamed: only
            the text's own phrases are held.
        longest: phrases of 1 to so many tokens.
        as_is: take a text that looks like HTML, XML, JSON or a table.

    Raises:
        InputError: a file cannot be read or is malformed; file and line are named.
        ParameterError: `longest` is not 1 to 6.
    """
    in_range(longest, "longest phrases", 1, LONGEST_PHRASE)
    found: dict[str, int] = {}
    for _, words in read_text(text, as_is):
        for begin in range(len(words)):
            for end in range(begin + 1, min(begin + longest, len(words)) + 1):
                phrase = " ".join(words[begin:end])
                found[phrase] = found.get(phrase, 0) + 1
    for phrase in known_phrases(known):
        found.pop(phrase, None)
    return found


def known_phrases(path: str | Path) -> Iterator[str]:
    """Yield the source phrases of a phrase table, or the entries of a vocabulary.

    Arguments:
        path: of the table or vocabulary.

    Raises:
        InputError: the file cannot be read, is empty or a line of it is malformed.
    """
    with spooled(path) as copy:
        first = next(iter(read_lines(copy)), None)
        if first is None or not first[1].strip():
            raise InputError(
                f"{file_label(path)}, line 1: the file is empty or begins with an empty line, "
                "wanted a phrase table or a vocabulary: check what should have written it"
            )
        if b" ||| " in first[1]:
            previous = b""
            for _, entry in read_table(copy, PhraseTableEntry.parse, faulty=InvalidLines(path)):
                if entry is not None and entry.source != previous:
                    previous = entry.source
                    yield " ".join(previous.decode().split())
            return
        for number, line in read_lines(copy):
            text = decoded_line(line, f"{file_label(path)}, line {number}")
            yield " ".join(text.split("\t")[0].split())
