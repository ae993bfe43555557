"""Paraphrases on the fly: a request in, an answer out, for a program that runs beside this one."""

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, BinaryIO

from distsim.base.arguments import in_range
from distsim.base.errors import ParameterError
from distsim.base.parallel import ordered_map
from distsim.indexes.nearest_spellings import LikeSpelling, NearestSpellings
from distsim.paraphrase.paraphraser import Answer, Paraphraser

_LONGEST_LINE = 1 << 20  # bytes
_CACHED = 2048  # answers
_LIKE = 5  # spellings, and stems, of a word that the corpus lacks
_NOTHING = Answer("", 0, [], 0, 0, 0, "nothing is left of it after normalising", 0)


class ParaphraseStream:
    """Answers requests one at a time; memory is bounded; may be shared by threads.

    Arguments:
        paraphraser: finds the paraphrases; its options say how many.
        contexts: also count and name shared contexts of words, which takes a fifth of the time.
        jobs: threads for the phrases of one request; all cores where None.

    >>> stream = ParaphraseStream(Paraphraser(index))
    >>> stream.answer("quen")["answers"][0]["answer"], stream.answer("quen")["count"]
    ('queen', 0)
    >>> told = stream.answer({"text": "the quen said", "unknown": ["quen"]})
    >>> told["unknown"][0]["answers"][0]["origin"]
    ['spelling']
    """

    def __init__(
        self, paraphraser: Paraphraser, *, contexts: bool = False, jobs: int | None = None
    ) -> None:
        if jobs is not None:
            in_range(jobs, "`jobs`", 1)
        self._paraphraser = paraphraser
        self._contexts = contexts
        self._jobs = jobs
        self._spellings = lru_cache(1)(lambda: NearestSpellings(paraphraser.index))
        self._found = lru_cache(_CACHED)(self._find)

    def answer(self, request: str | Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer to a request.

        To a phrase: `phrase`, `count`, `answers` (each with `answer`, `score`, `count`, `origin`,
        and `note` of opposites), `reason` (why there are none, else None). A word that the corpus
        lacks is answered by its nearest spellings, then by words that begin alike, with the origin
        `spelling` or `stem` and without a score. To a request with fields: the same fields, where
        `unknown` is a list of such answers in place of the phrases.

        Arguments:
            request: a phrase; or fields, of which `unknown` is a list of phrases.

        Raises:
            ParameterError: the request is not of this kind.
        """
        if isinstance(request, str):
            return self._of_phrase(request)
        phrases = request.get("unknown")
        if not isinstance(phrases, list) or not all(isinstance(one, str) for one in phrases):
            raise ParameterError(
                '`unknown` is no list of phrases: write {"text": "...", "unknown": ["a word"]}'
            )
        jobs = 1 if len(phrases) < 2 else self._jobs
        return {**request, "unknown": list(ordered_map(self._of_phrase, phrases, jobs))}

    def answer_line(self, line: bytes) -> dict[str, Any]:
        """Return the answer to a line: a JSON object as `answer` takes it, or a plain phrase.

        A line that cannot be read is answered by an object with `error`.

        Arguments:
            line: UTF-8.
        """
        try:
            text = line.decode().strip()
            return self.answer(json.loads(text) if text.startswith("{") else text)
        except UnicodeDecodeError:
            return {"error": "the line is no UTF-8"}
        except ParameterError as error:
            return {"error": str(error).replace("`", "")}
        except (ValueError, RecursionError) as error:
            return {"error": f"the line is no JSON object: {error}"}

    def answer_lines(self, file: BinaryIO) -> Iterator[dict[str, Any]]:
        """Yield the answer to every line of a file, each before the next line is read.

        Arguments:
            file: open for reading, such as `sys.stdin.buffer`.
        """
        while line := file.readline(_LONGEST_LINE):
            if len(line) < _LONGEST_LINE or line.endswith(b"\n"):
                yield self.answer_line(line)
                continue
            while line and not line.endswith(b"\n"):
                line = file.readline(_LONGEST_LINE)
            yield {"error": f"the line has more than {_LONGEST_LINE:,} bytes"}

    def _of_phrase(self, phrase: str) -> dict[str, Any]:
        answer, like = self._found(" ".join(phrase.split()))
        rows: list[dict[str, Any]] = []
        for one in answer.paraphrases:
            row = {"answer": one.phrase, "score": round(one.score, 6), "count": one.count,
                   "origin": list(one.origin)}  # fmt: skip
            if self._contexts:
                row |= {"evidence": one.evidence, "contexts": list(one.contexts)}
            if one.contrasted or one.opposite:
                row["note"] = "opposite" if one.opposite else "contrasted"
            rows.append(row)
        rows += [
            {"answer": one.word, "score": None, "count": one.count, "origin": [one.by]}
            for one in like
        ]
        return {
            "phrase": phrase, "count": answer.count, "answers": rows, "reason": answer.reason
        }  # fmt: skip

    def _find(self, phrase: str) -> tuple[Answer, list[LikeSpelling]]:
        try:
            answer = self._paraphraser.answer(phrase, contexts=self._contexts)
        except ParameterError:
            return _NOTHING, []
        is_word = " " not in answer.focal
        lacks = answer.count == 0 and is_word
        most = self._paraphraser.options.k
        like = self._spellings().like(answer.focal, min(_LIKE, most)) if lacks else []
        return answer, like[:most]
