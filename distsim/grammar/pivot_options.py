"""Options and report of pivoting."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import get_args

from distsim.base.arguments import check_types, in_range, one_of
from distsim.base.choices import Columns as Kind
from distsim.base.choices import (
    Identities,
    LexicalNames,
    ParaphrasedSide,
    PivotEstimate,
    ProbabilityScale,
)
from distsim.grammar.column_meaning import KINDS
from distsim.grammar.fields import require_utf8
from distsim.grammar.invalid_lines import InvalidLines
from distsim.grammar.translations import COLUMNS, SCALES


@dataclass(frozen=True, kw_only=True)
class PivotOptions:
    """Options of pivoting.

    Arguments:
        features: what the grammar calls the columns in distsim.grammar.translations.COLUMNS: a
            feature's name, or its position from 0. Columns that are not named here are found by
            these names, or where the format fixes them; p(e|f,LHS) and p(f|e,LHS) by those of
            p(e|f) and p(f|e) too. Without one of the two it is uniform.
        columns: `joint` or `conditional`: what p(e|f,LHS) and p(f|e,LHS) are in the grammar. Joint
            ones are renormalised within the label. Told by their sums where None.
        scale: how probabilities are written: `probability`, `negative-log` or `log`, the latter
            also with base 10 (`negative-log10` as in cdec, `log10`). The format's where None.
        identities: rules with equal sides are marked (`Identity=1`) or dropped.
        min_link: links, pairs of rules over one foreign side, with p(e2|f) p(f|e1) or the
            reverse below it are dropped before they are summed (thesis 6.4.1.1.1).
        min_translation: translation rules with p(e|f,LHS) or p(f|e,LHS) below it are left out
            before they are paired (thesis 4.2.4 has 1e-4).
        at_least, at_most: bounds of features of paraphrases, as they are written (thesis
            6.4.1.1.1): `at_most.p(e|f)=6.9` leaves out what is less probable than .001.
        min_sum: paraphrases with p(e2|e1,LHS) or p(e1|e2,LHS) below it are dropped.
        names: `ppdb` writes the lines of PPDB 1.0: all its features, Lex(e|f) and Lex(f|e) with
            each other's names, without PivotCount; `plain` leaves out what the sides tell.
        estimate: `pivot`, or `counts` for virtual counts (Madnani et al. 2007; thesis 3.2.3.3):
            p(e2|e1) = c(e1,e2) / sum over e of c(e1,e), c(e1,e2) = sum over f of c(e1,f) c(e2,f),
            equations 3.9 to 3.11. `mean`: p(e2|e1) of each bitext by itself, averaged over
            bitexts (Callison-Burch 2008, equation 7). Counts are in what `extract --numeric`
            writes.
        side: the side that is paraphrased, `english` or `other`; the latter pivots over English,
            with the labels of the English trees (thesis 6.5), and needs `extract --numeric` too.
        max_translations: keep this many most probable e of each label and f; 0: all.

    The rarity penalty of several links is the least (thesis 6.4.1.1.2). p(e2|e1) sums over all
    foreign sides, whatever their labels.

    >>> PivotOptions(min_link=0.001).identities is not None
    True
    """

    features: Mapping[str, str] = field(default_factory=dict)
    columns: Kind | None = None
    scale: ProbabilityScale | None = None
    identities: Identities = "drop"
    min_link: float = 0.0
    min_sum: float = 0.0
    min_translation: float = 0.0
    at_least: Mapping[str, float] = field(default_factory=dict)
    at_most: Mapping[str, float] = field(default_factory=dict)
    max_translations: int = 0
    names: LexicalNames = "plain"
    estimate: PivotEstimate = "pivot"
    side: ParaphrasedSide = "english"

    def __post_init__(self) -> None:
        check_types(self)
        for name, column in self.features.items():
            one_of(name, COLUMNS, "`features`")
            require_utf8(column)
        for argument, value, choices in (
            ("columns", self.columns, KINDS),
            ("scale", self.scale, SCALES),
            ("identities", self.identities, get_args(Identities)),
            ("names", self.names, get_args(LexicalNames)),
            ("estimate", self.estimate, get_args(PivotEstimate)),
            ("side", self.side, get_args(ParaphrasedSide)),
        ):
            if value is not None:
                one_of(value, choices, f"`{argument}`")
        for name in (*self.at_least, *self.at_most):
            require_utf8(name)
        for argument in ("min_link", "min_sum", "min_translation"):
            in_range(getattr(self, argument), f"`{argument}`", 0, 1)
        in_range(self.max_translations, "`max_translations`", 0)


@dataclass
class PivotReport:
    """Report of pivoting: rules read, links, paraphrases pruned and written.

    Arguments:
        faulty: the lines that are no rules.
        read: translation rules.
        repeated: rules with label and sides of another one: the most probable of each stays.
        rules_pruned, links_pruned: dropped before the sums.
        links: pairs over a common foreign side.
        identities: rules with equal sides.
        pruned: paraphrases dropped after the sums.
        written: paraphrases written.
        gappy: written with both gaps and words.
        features: the names written.
        notes: what the columns were found to be.

    >>> from distsim import pivot_grammar
    >>> rules = "[NN] ||| rede ||| address |||\\n[NN] ||| rede ||| speech |||\\n"
    >>> _ = (folder / "de").write_text(rules)
    >>> report = pivot_grammar(folder / "de", folder / "en")
    >>> report.read, report.links, report.written
    (2, 2, 2)
    """

    faulty: InvalidLines
    read: int = 0
    repeated: int = 0
    rules_pruned: int = 0
    links_pruned: int = 0
    links: int = 0
    identities: int = 0
    pruned: int = 0
    written: int = 0
    gappy: int = 0
    features: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        """Return the report, a few lines of text."""
        told = [
            f"{self.read:,} translation rules read, {self.repeated:,} repeated (the most probable "
            f"of each stays), {self.rules_pruned:,} pruned before pairing"
        ]
        if self.faulty.kept or self.faulty.dropped:
            told[0] += f", {self.faulty.kept + self.faulty.dropped:,} invalid lines passed over"
            told += [f"  {message}" for message in self.faulty.shown]
        return [
            *told,
            *self.notes,
            f"{self.links:,} pairs over a common foreign side, {self.links_pruned:,} more pruned; "
            f"{self.identities:,} identities, {self.pruned:,} paraphrases pruned",
            f"{self.written:,} paraphrase rules written, {self.gappy:,} with both gaps and words, "
            f"features {' '.join(self.features)}",
        ]
