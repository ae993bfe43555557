"""Distinct translation rules to pair, in order, with their probabilities."""

from dataclasses import dataclass

import numpy as np

from distsim.grammar.column_meaning import Numbered, settle
from distsim.grammar.kernels import pivot as kernel
from distsim.grammar.numbering import first_rows, numbers_of, order_by, order_of_texts
from distsim.grammar.pivot_options import PivotOptions, PivotReport
from distsim.grammar.translations import (
    E_GIVEN_F,
    E_GIVEN_F_LHS,
    F_GIVEN_E,
    F_GIVEN_E_LHS,
    LHS_GIVEN_E,
    Translations,
)
from distsim.kernels.compiled import frozen


@dataclass(frozen=True)
class PairedRules:
    """The distinct rules that are paired, sorted by label and foreign side.

    Attributes:
        rows: int64[n], which translation each is.
        numbers: of label, sides; target sides and labels in the order of their bytes.
        columns: float64[n] by the names of their probabilities.
        label_order: int64, labels in the order of their bytes.
        n_targets: distinct target sides.
    """

    rows: np.ndarray
    numbers: Numbered
    columns: dict[str, np.ndarray]
    label_order: np.ndarray
    n_targets: int


def paired_rules(
    translations: Translations, options: PivotOptions, report: PivotReport
) -> PairedRules:
    """Return the distinct rules with their probabilities, pruned.

    Arguments:
        report: counts of rules are added to it.
    """
    label_order = np.array(
        sorted(range(len(translations.labels)), key=translations.labels.__getitem__), np.int64
    )
    rank = np.argsort(label_order)
    label = rank[translations.label]
    sources = numbers_of(translations.sources)
    targets, n_targets = _in_byte_order(translations)
    order = order_by(label, sources, targets, translations.orders)
    keys = np.stack([label, sources, targets, translations.orders.astype(np.int64)])[:, order]
    is_new = np.ones(order.size, bool)
    is_new[1:] = (keys[:, 1:] != keys[:, :-1]).any(axis=0)
    columns = {name: values[order] for name, values in translations.columns.items()}
    ones = np.ones(order.size)
    forward = columns.get(E_GIVEN_F_LHS, columns.get(E_GIVEN_F, ones))
    backward = columns.get(F_GIVEN_E_LHS, columns.get(F_GIVEN_E, ones))
    kept = kernel.best_of_repeated(is_new, frozen(forward), frozen(backward))
    report.repeated = order.size - int(np.count_nonzero(kept))
    if report.repeated:
        order, keys = order[kept], keys[:, kept]
        columns = {name: values[kept] for name, values in columns.items()}
    label, source, target, gap_order = keys
    numbers = Numbered(
        label, source, target, numbers_of(target, gap_order),
        numbers_of(source, target, gap_order), max(1, label_order.size),
    )  # fmt: skip
    found = settle(
        numbers, columns, translations.column_names, options.columns or translations.kind
    )
    report.notes += found.notes
    columns[E_GIVEN_F_LHS], columns[F_GIVEN_E_LHS] = found.forward, found.backward
    for name, values in (
        (E_GIVEN_F, found.free_forward), (F_GIVEN_E, found.free_backward),
        (LHS_GIVEN_E, found.lhs_given_e),
    ):  # fmt: skip
        columns.pop(name, None)
        if values is not None:
            columns[name] = values
    keep = np.minimum(found.forward, found.backward) >= options.min_translation
    if options.max_translations:
        keep[keep] = _most_probable(numbers, found.forward, keep, options.max_translations)
    report.rules_pruned = order.size - int(np.count_nonzero(keep))
    numbers = Numbered(
        label[keep], source[keep], target[keep], numbers.written[keep], numbers.pair[keep],
        numbers.n_labels,
    )  # fmt: skip
    columns = {name: values[keep] for name, values in columns.items()}
    return PairedRules(order[keep], numbers, columns, label_order, n_targets)


def _in_byte_order(translations: Translations) -> tuple[np.ndarray, int]:
    """Return the rank of each rule's target side by bytes, int64[n], and the number of sides."""
    number = numbers_of(translations.targets)
    first = first_rows(number)
    order = order_of_texts(translations.text, translations.starts[first], translations.stops[first])
    rank = np.empty(order.size, np.int64)
    rank[order] = np.arange(order.size)
    return rank[number], order.size


def _most_probable(rules: Numbered, forward: np.ndarray, keep: np.ndarray, most: int) -> np.ndarray:
    """Return which of the rules in keep are among the `most` most probable of their group, bool.

    Arguments:
        forward: float64[n], the probability of each rule.
        keep: bool[n].
    """
    group = numbers_of(rules.label[keep], rules.source[keep])
    among = np.ones(group.size, bool)
    many = np.flatnonzero(np.bincount(group)[group] > most)
    kept = np.flatnonzero(keep)[many]
    order = np.lexsort((rules.pair[kept], rules.target[kept], -forward[kept], group[many]))
    of_group = group[many][order]
    among[many[order]] = np.arange(order.size) - np.searchsorted(of_group, of_group) < most
    return among
