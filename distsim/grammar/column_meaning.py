"""Infers from their sums which probabilities the columns of a translation grammar are.

A column that is called p(e|f) may hold p(e|f,LHS), which sums to 1 within a label and f, or the
joint p(e,LHS|f), which sums to 1 over all labels of f, or p(e|f), labels summed out. The sums
over the grammar tell which, where it is not pruned much.

Tools that write grammars take an English side whose gaps are numbered by the foreign side, so
`[X,2] of [X,1]` is another side than `[X,1] of [X,2]`. Sums are tested by those sides. Here they
are one side, so what sums to more than 1 over it is scaled to 1.
"""

from dataclasses import dataclass
from typing import get_args

import numpy as np

from distsim.base.arguments import Columns as Kind
from distsim.base.errors import ParameterError
from distsim.grammar.arrays import first_rows, numbers_of
from distsim.grammar.translations import (
    E_GIVEN_F,
    E_GIVEN_F_LHS,
    F_GIVEN_E,
    F_GIVEN_E_LHS,
    LHS_GIVEN_E,
    LHS_GIVEN_F,
)

KINDS: tuple[str, ...] = get_args(Kind)

_SLACK = 0.01  # so far from 1 a sum may be
_MOST_OVER = 0.001  # so many sums may be above 1 for other reasons
_LEAST_SHARE_AT_1 = 0.5  # of the sums, that reach 1


@dataclass(frozen=True)
class Numbered:
    """Distinct rules as numbers, int64[n] each, of their labels and sides.

    label: of the left-hand side. source, target: of the foreign and the English side. written: of
    the English side with its gaps numbered by the foreign side. pair: of the foreign and English
    side under any label. n_labels: of the grammar.
    """

    label: np.ndarray
    source: np.ndarray
    target: np.ndarray
    written: np.ndarray
    pair: np.ndarray
    n_labels: int

    def with_label(self, side: np.ndarray) -> np.ndarray:
        """Return a number for each combination of label and side, int64[n].

        Arguments:
            side: int64[n], number of the side of each rule.
        """
        return numbers_of(side, self.label)


@dataclass(frozen=True)
class Probabilities:
    """Probabilities of rules, float64[n] each; the optional ones where the grammar has them.

    forward, backward: p(e|f,LHS) and p(f|e,LHS). free_forward, free_backward: p(e|f) and p(f|e).
    lhs_given_e: p(LHS|e). notes: how they were inferred, a line each.
    """

    forward: np.ndarray
    backward: np.ndarray
    free_forward: np.ndarray | None
    free_backward: np.ndarray | None
    lhs_given_e: np.ndarray | None
    notes: list[str]


def settle(
    rules: Numbered, columns: dict[str, np.ndarray], names: dict[str, str], kind: Kind | None
) -> Probabilities:
    """Return the probabilities of rules from the columns of their grammar.

    Arguments:
        columns: float64[n] by name, of distinct rules, before anything is pruned.
        names: what the columns are called in the grammar.
        kind: what p(e|f,LHS) and p(f|e,LHS) are; found from their sums where None.

    Raises:
        ParameterError: the sums do not tell, or say that the labels are summed out.
    """
    notes: list[str] = []
    settled: list[np.ndarray] = []
    free: list[np.ndarray | None] = []
    lhs_given: list[np.ndarray | None] = []
    first_of_pair = first_rows(rules.pair)
    for own, free_name, lhs_name, owner, written, drawn in (
        (E_GIVEN_F_LHS, E_GIVEN_F, LHS_GIVEN_F, rules.source, rules.source, "e"),
        (F_GIVEN_E_LHS, F_GIVEN_E, LHS_GIVEN_E, rules.target, rules.written, "f"),
    ):
        within = rules.with_label(owner)
        name = own if own in columns else free_name
        lhs = columns.get(lhs_name)
        joint: np.ndarray | None = None
        if name not in columns:
            conditional = 1.0 / np.bincount(within)[within]
            notes.append(f"{own}: uniform, since no column was named")
        else:
            values = columns[name]
            called = names[name]
            kind_of_numbers, note = _kind(rules, values, written, drawn, called, kind)
            notes.append(note)
            sums = np.bincount(within, values)[within]
            if kind_of_numbers == "joint":
                conditional = np.divide(values, sums, out=np.zeros_like(values), where=sums > 0)
                scale = np.maximum(np.bincount(owner, values)[owner], 1.0)
                joint = values / scale
                lhs = sums / scale if lhs is None else lhs
            else:
                conditional = values / np.where(sums > 1.0 + _SLACK, sums, 1.0)
        if joint is None and lhs is not None:
            joint = conditional * lhs
        if rules.n_labels == 1:
            lhs, joint = np.ones(rules.label.size) if lhs is None else lhs, conditional
        settled.append(conditional)
        lhs_given.append(lhs)
        if free_name in columns and (name != free_name or rules.n_labels == 1):
            known = columns[free_name]
        elif joint is not None:
            known = np.bincount(rules.pair, joint)[rules.pair]
        else:
            free.append(None)
            continue
        sums = np.bincount(owner[first_of_pair], known[first_of_pair], owner.max(initial=0) + 1)
        free.append(known / np.where(sums > 1.0 + _SLACK, sums, 1.0)[owner])
    return Probabilities(settled[0], settled[1], free[0], free[1], lhs_given[1], notes)


def _kind(
    rules: Numbered,
    values: np.ndarray,
    owner: np.ndarray,
    drawn: str,
    called: str,
    wanted: Kind | None,
) -> tuple[str, str]:
    """Return `joint` or `conditional`, and a note, inferred from the sides with several labels.

    Arguments:
        values: float64[n], the column. owner: int64[n], the side that it is conditioned on.
        drawn: `e` or `f`, the other side. called: the column's name in the grammar.
        wanted: the kind that the user gave; inferred where None.

    Raises:
        ParameterError: the sums do not show which it is.
    """
    side = "f" if drawn == "e" else "e"
    if rules.n_labels == 1:
        return "conditional", _note_of_one_label(values, owner, drawn, side, called)
    within = rules.with_label(owner)
    over_labels = np.bincount(owner, values)
    inside = np.bincount(within, values)
    side_of = np.zeros(inside.size, np.int64)
    side_of[within] = owner
    n_labels = np.bincount(side_of, minlength=over_labels.size)
    several = n_labels > 1
    of_several = over_labels[several]
    several_inside = inside[several[side_of]]
    first_of_pair = first_rows(rules.pair)
    summed_out = np.bincount(
        owner[first_of_pair], values[first_of_pair], minlength=over_labels.size
    )[several]
    reached, over = _shares(of_several)
    reached_inside, over_inside = _shares(several_inside)
    reached_alone, _ = _shares(summed_out)
    sums = (
        f"feature {called}: of {of_several.size:,} {side} with several labels its sum over "
        f"({drawn}, LHS) reaches 1 for {reached:.0%} and exceeds it for {over:.1%}, within (LHS, "
        f"{side}) it reaches 1 for {reached_inside:.0%}"
    )
    looks_joint = of_several.size > 0 and over <= _MOST_OVER and reached >= _LEAST_SHARE_AT_1
    if wanted is not None:
        kind_of_numbers = wanted
        if wanted == "conditional" and looks_joint:
            sums += "; warning: these are the sums of joint columns, give `columns` joint"
    elif not of_several.size:
        kind_of_numbers = "conditional"
    elif looks_joint:
        kind_of_numbers = "joint"
    elif over > _MOST_OVER and reached_alone >= max(_LEAST_SHARE_AT_1, reached_inside):
        raise ParameterError(
            f"{sums}; over the distinct {drawn} alone it reaches 1: it is p({drawn}|{side}), "
            f"labels summed out: name the feature that holds p({drawn}|{side},LHS)"
        )
    elif over > _MOST_OVER and over_inside <= _MOST_OVER and reached_inside >= _LEAST_SHARE_AT_1:
        kind_of_numbers = "conditional"
    else:
        raise ParameterError(
            f"{sums}: this does not tell what it is: say so by `columns`, joint or conditional"
        )
    if kind_of_numbers == "joint":
        return kind_of_numbers, (
            f"{sums}, on average {several_inside.mean() if of_several.size else 1.0:.3f}: it is "
            f"the joint p({drawn},LHS|{side}), renormalised within (LHS, {side})"
        )
    return kind_of_numbers, f"{sums}: it is p({drawn}|{side},LHS)"


def _note_of_one_label(
    values: np.ndarray, owner: np.ndarray, drawn: str, side: str, called: str
) -> str:
    """Return the note on a column of a grammar with one label.

    Arguments:
        values: float64[n], the column.
        owner: int64[n], the condition of each rule.
        drawn, side, called: what sums to 1, the condition, and the column's name.
    """
    reached, over = _shares(np.bincount(owner, values))
    return (
        f"feature {called}: its sum over {drawn} reaches 1 for {reached:.0%} of {side} and "
        f"exceeds it for {over:.1%}: it is p({drawn}|{side}); there is one label"
    )


def _shares(sums: np.ndarray) -> tuple[float, float]:
    """Return the share of the sums that are 1, and the share of those above 1."""
    if not sums.size:
        return 0.0, 0.0
    return float(np.mean(abs(sums - 1.0) <= _SLACK)), float(np.mean(sums > 1.0 + _SLACK))
