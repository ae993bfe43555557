"""Files with a damaged line: each is refused, or has all words that a plain look at it finds.

The words are w0, w1, ...; ElementTree and patterns find them, apart from the readers.
"""

import random
import re
from xml.etree import ElementTree

import pytest

from distsim import InputError
from distsim.bitext.sentence_pairs import pair_sources
from distsim.corpus.readers import find_documents
from distsim.corpus.readers.reader import ReadOptions

WORD = re.compile(r"\bw\d+\b")
TEI_PARTS = "p l lg s hi seg quote foreign head ab div name stage note speaker".split()  # noqa: SIM905
DOCBOOK_PARTS = "para emphasis section title footnote listitem itemizedlist quote".split()  # noqa: SIM905
LEFT_OUT = {"stage", "note", "speaker", "footnote"}


class Draw:
    """Random texts with numbered words."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.n = 0

    def words(self):
        count = self.rng.randint(1, 3)
        self.n += count
        return " ".join(f"w{number}" for number in range(self.n - count, self.n))

    def element(self, names, depth=0):
        """Return lines of an element with text before, in and behind others."""
        name = self.rng.choice(names)
        lines = [f"<{name}> {self.words()}"]
        while depth < 4 and self.rng.random() < 0.6:
            lines += [*self.element(names, depth + 1), self.rng.choice(["", "<lb/>", self.words()])]
        return [*lines, f"</{name}>"]

    def tei(self):
        parts = [line for _ in range(3) for line in self.element(TEI_PARTS)]
        return [
            "<TEI><teiHeader><title>t</title></teiHeader>",
            "<text>",
            *parts,
            "</text>",
            "</TEI>",
        ]

    def docbook(self):
        parts = [line for _ in range(3) for line in self.element(DOCBOOK_PARTS)]
        return ["<article>", *parts, "</article>"]

    def alto(self):
        lines = ["<alto><Layout><Page>"]
        for _ in range(3):
            lines.append("<TextBlock>")
            for _ in range(self.rng.randint(1, 3)):
                strings = "<SP/>".join(
                    f'<String CONTENT="{word}"/>' for word in self.words().split()
                )
                lines.append(f"<TextLine>{strings}</TextLine>")
            lines.append("</TextBlock>")
        return [*lines, "</Page></Layout></alto>"]

    def vertical(self):
        lines = []
        for number in range(3):
            lines += [f'<text id="t{number}">', "<s>"]
            lines += [f"{word}\tNN\t{word}" for word in self.words().split()]
            lines += ["</s>", "</text>"]
        return lines

    def srt(self):
        lines = []
        for number in range(1, 5):
            lines += [str(number), f"00:00:0{number},000 --> 00:00:0{number},900"]
            lines += [self.words() for _ in range(self.rng.randint(1, 2))] + [""]
        return lines

    def vtt(self):
        lines = ["WEBVTT", ""]
        for number in range(1, 5):
            lines += self.rng.choice([[], ["NOTE of nobody", ""], ["name"]])
            lines.append(
                f"00:0{number}.000 --> 00:0{number}.900{self.rng.choice(['', ' align:end'])}"
            )
            lines += [f"<v A>{self.words()}" for _ in range(self.rng.randint(1, 2))] + [""]
        return lines

    def tmx(self):
        lines = ["<tmx><body>"]
        for _ in range(4):
            lines.append("<tu>")
            for language in ("en", "de"):
                said = f"{self.words()} <ph>code</ph> <hi>{self.words()}</hi>"
                lines += [f'<tuv xml:lang="{language}">', f"<seg>{said}</seg>", "</tuv>"]
            lines.append("</tu>")
        return [*lines, "</body></tmx>"]

    def damaged(self, lines):
        """Return lines of which one is not as it was."""
        at = self.rng.randrange(len(lines))
        kind = self.rng.randrange(8)
        line = lines[at]
        if kind == 0:
            return lines[:at] + lines[at + 1 :]
        if kind == 1:
            return [*lines[:at], line, *lines[at:]]
        if kind == 2 and at + 1 < len(lines):
            return [*lines[:at], lines[at + 1], line, *lines[at + 2 :]]
        if kind == 3 and at + 1 < len(lines):
            return [*lines[:at], line + " " + lines[at + 1], *lines[at + 2 :]]
        if kind == 4:
            return [*lines[:at], "", *lines[at:]]
        odd = {5: line[: len(line) // 2], 6: f"  {line}  ", 7: line.replace("-->", "->").upper()}
        return [*lines[:at], odd.get(kind, line), *lines[at + 1 :]]


def words_of_elements(element, inside=()):
    """Return the words in an element that are read, in order."""
    if element.tag in LEFT_OUT | {"teiHeader"}:
        return []
    texts = "".join(f" {element.attrib.get('CONTENT', '')} {element.text or ''} ")
    found = WORD.findall(texts)
    for child in element:
        found += words_of_elements(child) + WORD.findall(child.tail or "")
    return found


def expected(kind, text):
    """Return the words of a file, None where it is no well-formed XML."""
    if kind in ("srt", "vtt"):
        return WORD.findall(text)
    if kind == "vertical":
        rows = map(str.strip, text.splitlines())
        rows = (re.sub(r"^(<[^>]*>\s*)+", "", row) for row in rows)
        return [row.split("\t")[0] for row in rows if WORD.match(row)]
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError:
        return None
    if kind == "tmx":
        return [word for unit in root.iter("tu") for word in words_of_unit(unit)]
    if kind == "tei":
        root = root.find("text")
    return [] if root is None else words_of_elements(root)


def words_of_unit(unit):
    """Return the words of both sides of a unit, none where one is missing."""
    segments = {}
    for side in unit.iter("tuv"):
        for segment in side.iter("seg"):
            name = side.attrib["{http://www.w3.org/XML/1998/namespace}lang"]
            segments.setdefault(name, WORD.findall("".join(segment.itertext())))
    return segments["en"] + segments["de"] if len(segments) == 2 else []


def pairs_of(path):
    one, two = pair_sources(f"{path}:en", f"{path}:de")
    sides = [
        [line for part in side.documents(side) for line in part.text.split("\n")]
        for side in (one, two)
    ]
    assert len(sides[0]) == len(sides[1])
    return "\n".join(f"{a} {b}" for a, b in zip(*sides, strict=True))


ENDINGS = {"docbook": "dbk", "tei": "tei", "vertical": "vrt"}


@pytest.mark.parametrize("kind", ["tei", "docbook", "alto", "vertical", "srt", "vtt", "tmx"])
def test_a_damaged_line_is_refused_or_costs_no_word(tmp_path, kind):
    draw, n_read, n_refused = Draw(kind), 0, 0
    path = tmp_path / f"a.{ENDINGS.get(kind, kind)}"
    for turn in range(150):
        draw.n = 0
        lines = getattr(draw, kind)()
        if turn >= 10:
            lines = draw.damaged(lines)
        text = "\n".join(lines) + "\n"
        path.write_text(text)
        words = expected(kind, text)
        try:
            if kind == "tmx":
                found = pairs_of(path)
            else:
                name = "vertical" if kind == "vertical" else "auto"
                (source,) = find_documents([path], name, ReadOptions(text_format="lines"))
                found = "\n".join(document.text for document in source.documents(source))
        except InputError as error:
            assert turn >= 10, (text, error)
            n_refused += 1
            continue
        assert words is not None, text
        n_read += 1
        if kind == "vtt" and re.search(r"\n\n[^\n]*w\d[^\n]*\n\S*\d --> ", text):
            continue  # a line between a blank one and times is a name
        assert WORD.findall(found) == words, text
    assert n_read > 30 and n_refused > 5
