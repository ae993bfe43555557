"""CPU seconds of random queries on an index: each is answered in time or refused.

    python -m bench.random_queries large.index -n 2000

Words are drawn by their frequency, so that many are the commonest. The queries have words, regular
expressions, conditions, repetitions up to {0,40}, alternatives, near(), labels, edges and filters,
inside each other. Those slower than --slowest, and errors that are no refusal, are printed; the
exit status is 1 where there are any.
"""

import random
import sys
import time
from collections.abc import Callable

from bench.frame import parser, print_machine, print_table
from distsim import CorpusIndex, ParameterError
from distsim.indexes.queries import MATCHINGS

_COMMONEST = (20, 300, 5000, 200_000)  # words of which one is drawn


class LargeQueries:
    """Random queries of the words of an index.

    Arguments:
        words: the most frequent first.
        rng: of the choices.
    """

    def __init__(self, words: list[str], rng: random.Random) -> None:
        self._words = words
        self._rng = rng

    def query(self) -> str:
        """Return a query."""
        rng = self._rng
        if rng.random() < 0.15:
            between = self._part(1) if rng.random() < 0.5 else self._gap()
            condition = rng.choice(
                ["a.word = b.word", "a.word != b.word", f'a.word = "{self._regex()}"',
                 f'a.word = b.word & b.word != "{self._regex()}"']
            )  # fmt: skip
            return f"{self._token('a:')} {between} {self._token('b:')} :: {condition}"
        text = self._sequence(0, 5)
        text = rng.choice([*["{}"] * 6, "<s> {}", "{} </s>", "<doc> {}"]).format(text)
        filters = [self._filter() for _ in range(rng.choice([0, 0, 0, 1, 1, 2]))]
        return " ".join([text, *filters])

    def _sequence(self, depth: int, most: int) -> str:
        return " ".join(self._part(depth) for _ in range(self._rng.randint(1, most)))

    def _part(self, depth: int) -> str:
        rng = self._rng
        kind = 0.0 if depth > 2 else rng.random()
        if kind < 0.65:
            return self._repeated(self._token())
        if kind < 0.8:
            parts = (self._sequence(depth + 1, 2) for _ in range(rng.randint(2, 4)))
            return self._repeated(f"({' | '.join(parts)})")
        if kind < 0.87:
            return self._gap()
        if kind < 0.95:
            return self._repeated(f"({self._sequence(depth + 1, 3)})")
        return f"near({self._token()}, {self._token()}, {rng.randint(1, 15)})"

    def _gap(self) -> str:
        return f"[]{{0,{self._rng.randint(1, 30)}}}"

    def _repeated(self, part: str) -> str:
        rng = self._rng
        least = rng.randint(0, 3)
        most = rng.choice([str(least + rng.randint(1, 12)), "", str(least + rng.randint(1, 40))])
        return part + rng.choice([*[""] * 6, "?", "*", "+", f"{{{least},{most}}}"])

    def _filter(self) -> str:
        rng = self._rng
        name = rng.choice(["within", "!within", "containing", "!containing"])
        inner = [f"({self._sequence(1, 2)})", self._token()]
        return rng.choice(["within s", "within p", f"within {rng.randint(2, 30)}",
                           f"{name} {rng.choice(inner)}"])  # fmt: skip

    def _token(self, label: str = "") -> str:
        rng = self._rng
        flags = rng.choice(["", "", " %c", " %d"])
        kinds: list[Callable[[], str]] = [
            lambda: f'"{_escaped(self._word())}"', lambda: f'"{self._regex()}"{flags}',
            lambda: "[]", lambda: f"[{self._condition(0)}]",
        ]  # fmt: skip
        return label + rng.choice(kinds)()

    def _condition(self, depth: int) -> str:
        rng = self._rng
        kind = 0.0 if depth > 2 else rng.random()
        if kind < 0.6:
            sign, flags = rng.choice(["=", "=", "=", "!="]), rng.choice(["", "", " %c", " %d"])
            return f'word{sign}"{self._regex()}"{flags}'
        if kind < 0.9:
            sign = rng.choice("&|")
            return f"({self._condition(depth + 1)} {sign} {self._condition(depth + 1)})"
        return f"!({self._condition(depth + 1)})"

    def _word(self) -> str:
        most = self._rng.choices(_COMMONEST, (30, 30, 25, 15))[0]
        return self._words[self._rng.randrange(min(most, len(self._words)))]

    def _regex(self) -> str:
        rng = self._rng
        word, other = _escaped(self._word()), _escaped(self._word())
        begins, one = _escaped(self._word()[: rng.randint(1, 3)]), _escaped(self._word()[:1])
        a, b = rng.randint(1, 40), rng.randint(2, 40)
        return rng.choice(
            [f"{begins}.*", f".*{begins}", f".*{begins}.*", word, f"{word}(s|ed|ing)?", ".+",
             f"({word}|{other})", f".*({begins}|{one}).*", "[a-m]+", "[^aeiou]+", r"\d+",
             rf"\w{{1,{a}}}", f".{{{a}}}", "[[:alpha:]]{2,}", "[[:upper:]].*", r"\p{L}+",
             "(a*)*b", f"({one})*", f"({one}|{begins})+", f".*.*.*{one}",
             f"(.*{one}){{{b // 4 + 2}}}", f"(({one}?){{{a}}}){{{b}}}"]
        )  # fmt: skip


def _escaped(text: str) -> str:
    return "".join(f"\\{sign}" if sign in '.^$*+?()[]{}|\\"/' else sign for sign in text)


def main() -> None:
    options = parser(__doc__)
    options.add_argument("index")
    options.add_argument("-n", type=int, default=2000, help="queries")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--slowest", type=float, default=2.0, help="CPU seconds of a query")
    given = options.parse_args()
    index = CorpusIndex.open(given.index)
    order = index.word_counts().argsort()[::-1][: _COMMONEST[-1]]
    words = index.vocabulary.all_words()
    rng = random.Random(given.seed)
    queries = LargeQueries([words[number] for number in order.tolist() if number > 0], rng)
    index.query('a:"however" []{0,2} b:"[a-c].*" %d :: a.word != b.word')  # what all need
    seconds, n_answered, n_faults = [], 0, 0
    for _ in range(given.n):
        query, matching = queries.query(), rng.choice(MATCHINGS)
        begin = time.process_time()
        try:
            index.query(query, matching=matching)
            n_answered += 1
        except ParameterError:
            pass
        except Exception as error:
            n_faults += 1
            print(f"{error!r}: {query}", flush=True)
        seconds.append(time.process_time() - begin)
        if seconds[-1] > given.slowest:
            print(f"{seconds[-1]:.2f} s, {matching}: {query}", flush=True)
    n_slow = sum(one > given.slowest for one in seconds)
    seconds.sort()
    print_machine()
    print_table(
        ("queries", "answered", f"over {given.slowest:g} s", "faults", "median", "99%", "slowest"),
        [(given.n, n_answered, n_slow, n_faults, *(f"{seconds[int(part * (given.n - 1))]:.2f}"
                                                   for part in (0.5, 0.99, 1)))],
    )  # fmt: skip
    sys.exit(bool(n_slow or n_faults))


if __name__ == "__main__":
    main()
