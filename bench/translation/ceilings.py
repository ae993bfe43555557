"""Unknown words of the test set -> the shares of them that copying and paraphrases could get right.

Right is what the reference has for a word: the words that an aligner, trained on everything, links
to it. An upper bound for decoding, blind to how paraphrases are ranked and weighted.
"""

from collections.abc import Sequence
from typing import NamedTuple

from decoder import Table
from measures import Wanted

_STEM = 5


class Ceilings(NamedTuple):
    """Shares of the unknown tokens.

    copied: the word itself stands in the reference sentence. paraphrased: some rule of a
    paraphrase says the reference's words; inflected: none does, but one begins with the same five
    letters. reachable: some rule of the table that was there before says them, so that a perfect
    paraphraser could.
    """

    copied: float
    paraphrased: float
    inflected: float
    reachable: float

    def __str__(self) -> str:
        names = zip(self._fields, self, strict=True)
        return ", ".join(f"{name} {100 * share:.1f}%" for name, share in names)


def ceilings(
    wanted: Sequence[Wanted], references: Sequence[Sequence[str]], base: Table, augmented: Table
) -> Ceilings:
    """Return the ceilings of an augmented table over the one it was made from."""
    said = {" ".join(target) for target in base.targets}
    counts = [0, 0, 0, 0]
    for one in wanted:
        right = " ".join(one.words)
        source = augmented.sources[one.word]
        rules = range(augmented.firsts[source], augmented.firsts[source + 1])
        new = [" ".join(augmented.targets[rule]) for rule in rules][:-1]  # the last one copies
        counts[0] += one.word in references[one.sentence]
        if right:
            counts[1] += right in new
            counts[2] += right not in new and any(t[:_STEM] == right[:_STEM] for t in new)
            counts[3] += right in said
    return Ceilings(*(count / max(1, len(wanted)) for count in counts))
