"""Limits of questions and answers: sizes and seconds."""

from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class QuestionLimits:
    """Limits of a question.

    Arguments:
        phrase_characters, sentence_characters, text_characters: of what is typed.
        sentences, sentence_words: of a text that is rewritten.
        rows: of an answer. phrases: of a question about many.
        shown_characters: longer words are cut when they are shown, and end in `…`.
        sorted_occurrences: a concordance puts so many in order, evenly spaced ones of more.
        exported_lines: of a concordance that is exported whole; rows that may be skipped.
        quick_seconds, slow_seconds: for an answer; slow are paraphrases and substitutes.
        waiting: questions that wait for a thread; more are refused until some are done.
        exports: of whole concordances at the same time.
    """

    phrase_characters: int = 300
    sentence_characters: int = 2_000
    text_characters: int = 5_000
    sentences: int = 50
    sentence_words: int = 100
    rows: int = 1_000
    phrases: int = 100
    shown_characters: int = 300
    sorted_occurrences: int = 20_000
    exported_lines: int = 1_000_000
    quick_seconds: float = 20.0
    slow_seconds: float = 120.0
    waiting: int = 100
    exports: int = 4

    def told(self) -> dict[str, float]:
        """Return the limits by name."""
        return asdict(self)


LIMITS = QuestionLimits()


def shortened(text: str, most: int = LIMITS.shown_characters) -> str:
    """Return a text, cut to the length that is shown.

    >>> shortened("x" * 10, 4)
    'xxx…'
    """
    return text if len(text) <= most else text[: most - 1] + "…"
