"""The query language against a grammar written apart: what it has no rule for is refused.

`Grammar` says of each place of a text where a rule may end, with all ways through it; it shares no
code with the parser.
"""

import random
import re
from collections.abc import Callable

import pytest

from distsim.base.errors import ParameterError
from distsim.indexes.query_language import QueryParser

Ends = set[int]
Rule = Callable[[str, int], Ends]

STRING = r'"(?:[^"\\]|\\.)*"' + r"|'(?:[^'\\]|\\.)*'"
SIMPLE = r"(?:\\.|(?<=\d)[,:](?=\d)|(?<=\w)`(?=\w)|&(?:#\d+|[a-z]+);|[\w'‘’\-]|\.(?![*?+])|[*?]|…)+"
FLAGS = r"(?:\s*%[cdl]{1,3}(?!\w))*"
BARE = rf"(?<![^\s(|,>])(?!_(?:$|[\s)|{{<,%])){SIMPLE}(?=$|[\s)|{{<,%])"
REPEAT = r"\{\s*\d{1,4}\s*(?:,\s*\d{0,4}\s*)?\}|\{\s*,\s*\d{1,4}\s*\}|[?*+]"
FIELD = rf"\s+\w+\s*!?=\s*(?:{STRING})"
NAMED = r"\w+\s*\.\s*\w+"


def lex(pattern: str, blanks: str = r"\s*") -> Rule:
    compiled = re.compile(rf"{blanks}(?:{pattern})", re.DOTALL)

    def ends(text, at):
        match = compiled.match(text, at)
        return {match.end()} if match else set()

    return ends


def row(*rules: Rule) -> Rule:
    def ends(text, at):
        places = {at}
        for rule in rules:
            places = {end for place in places for end in rule(text, place)}
        return places

    return ends


def either(*rules: Rule) -> Rule:
    return lambda text, at: {end for rule in rules for end in rule(text, at)}


def any_times(rule: Rule) -> Rule:
    def ends(text, at):
        found, new = {at}, {at}
        while new:
            new = {end for place in new for end in rule(text, place)} - found
            found |= new
        return found

    return ends


def optional(rule: Rule) -> Rule:
    return lambda text, at: {at} | rule(text, at)


def separated(rule: Rule, sign: str) -> Rule:
    return row(rule, any_times(row(lex(sign), rule)))


class Grammar:
    """The rules of queries; `accepts` says whether a text is one."""

    def __init__(self) -> None:
        def again(name: str) -> Rule:  # the rule of that name, once there is one
            return lambda text, at: getattr(self, name)(text, at)  # noqa: PLW0108

        flags, string = optional(lex(FLAGS, "")), lex(STRING)
        value = row(string, flags)
        compared = either(row(lex(r"\w+"), lex("!?="), value), value)
        self.condition = self._logic("condition", compared)
        token = either(
            row(either(string, lex(r"/(?:[^/\\]|\\.)+/")), flags),
            row(lex(r"\["), optional(again("condition")), lex(r"\]"), flags),
        )
        bare = row(lex(BARE), flags)
        wild = row(lex(rf"(?=\S*[*?%]){BARE}"), flags)
        edge = lex(rf"</\w+\s*>|<\w+(?:{FIELD})*\s*/?>")
        group = row(lex(r"\((?!\s*\?[=!:<>])"), again("pattern"), lex(r"\)"), flags)
        near = row(
            lex(r"near\("), again("pattern"), lex(","), again("pattern"), lex(r",\s*\d{1,4}"),
            lex(r"\)"),
        )  # fmt: skip
        label = lex(r"(?!(?:word|lemma|tag|upos|relation|pos|xpos|deprel|rel|dep)\b)\w+\s*:")
        braces = any_times(lex(REPEAT))
        signs = row(lex(r"\{[^}]*\}", ""), braces)
        part = either(
            row(optional(label), token, braces),
            row(either(group, near, edge), braces),
            row(bare, optional(signs)), row(wild, optional(signs)),
        )  # fmt: skip
        self.pattern = separated(row(part, any_times(part)), r"\|")
        structure = lex(r"(?:s|p|paragraph|doc|document|text)(?=\s|$)")
        number = lex(r"\d{1,6}(?=\s|$)(?:\s+(?:words|tokens)\b)?")
        inner = either(structure, number, edge, self.pattern)
        restricts = row(lex(r"!?\s*(?:within|containing)(?=[\s<(])"), inner)
        about = either(
            row(lex(NAMED), lex("!?="), either(value, lex(NAMED))),
        )
        self.about = self._logic("about", about)
        self.query = row(
            self.pattern, any_times(restricts), optional(row(lex("::"), self.about)), lex("$")
        )

    def _logic(self, name: str, one: Rule) -> Rule:
        inner = lambda text, at: getattr(self, name)(text, at)  # noqa: E731, PLW0108
        negated = row(any_times(lex("!")), either(one, row(lex(r"\("), inner, lex(r"\)"))))
        return separated(separated(negated, "&"), r"\|")

    def accepts(self, text: str) -> bool:
        return bool(self.query(text, 0))


SIGNS = [
    "a", "the", "b", "_", "'", '"', '"a"', "'b'", "/a/", "[", "]", "[]", "(", ")", "|", "&", "!",
    "=", "!=", "==", ":", "::", "a:", ";", ",", ".", "..", "*", "?", "+", "{", "}", "{2}", "{1,2}",
    "{,}", "%", "%c", "%d", "%x", "<", ">", "/", "<s>", "</s>", "<p>", "</doc>", "<s/>",
    '<doc year="1">',
    "within", "containing", " within s", "near(", "near(a, b, 2)", "#", "@", "$", "~", "^", "`",
    "\\",
    "\\(", "-", "->", "--", "word", "lemma", 'word="a"', "word=", "a.word = b.word", "1", "10",
    "3,000", "“", "’", "…", "é", "(?=", "(?!", "(?:", "&apos;", " ", " ", " ", " ",
]  # fmt: skip


def refused(text: str) -> str:
    """Return the message with which the parser refuses a text; nothing where it does not."""
    try:
        QueryParser(text, lambda phrase: [phrase.split()]).parse()
    except ParameterError as error:
        return str(error)
    return ""


def random_texts(rng: random.Random, n: int):
    for _ in range(n):
        yield "".join(rng.choice(SIGNS) for _ in range(rng.randint(1, 9)))


def mutated(rng: random.Random, n: int):
    """Yield queries with a sign more, or a character less."""
    whole = [
        '"the" []{0,2} [word="man" & lemma!="m.*"] within s', "near(a, b, 3) | (c d)+ e*",
        '<doc year="1"> a:"x" b:[] :: a.word = b.word & !(b.lemma = "c")', "the man",
        "[!(word='a'%c | 'b')] /c.d/%d </s>", '"a" containing ("b" | "c" "d")',
    ]  # fmt: skip
    for _ in range(n):
        text = rng.choice(whole)
        at = rng.randint(0, len(text))
        if rng.random() < 0.7:
            yield text[:at] + rng.choice(SIGNS) + text[at:]
        else:
            yield text[:at] + text[at + 1 :]


def test_the_grammar_has_the_queries_of_the_guide():
    grammar = Grammar()
    for text in (
        "mock turt*", "take []{0,3} (account|note)", "/colou?r/",
        '[word!="a" & (word="a.*" | !word="b")]',
        '"very"* []+ (very | so){0,3}', '<s> "But"', '"." </s>', '<doc year="18.."> []',
        '"a" []* "b" within 5', '"a" within <doc genre="novel"/>', '"a" !containing "c"',
        'a:[] "and" b:[] :: a.word = b.word', "near(take, account, 5)", "don't", '"the" %c',
    ):  # fmt: skip
        assert grammar.accepts(text), text
        assert not refused(text), text
    for text in ('"the" (?= "man")', "lemma:be", '"the" == "man"', "a & b", '"a" ; "b"', "a+"):
        assert not grammar.accepts(text), text
        assert refused(text), text


@pytest.mark.parametrize(("source", "seed"), [(random_texts, 1), (mutated, 2)])
def test_what_the_grammar_has_no_rule_for_is_refused(source, seed):
    grammar, accepted = Grammar(), 0
    for text in source(random.Random(seed), 3000):
        message = refused(text)
        if not message:
            assert grammar.accepts(text), text
            accepted += 1
        elif "outside the query language" in message:
            assert "column " in message and ("write" in message or "put" in message), message
    assert accepted > 50
