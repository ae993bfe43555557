"""Rules of the package's bitext by `extract`, and by the slow twin, written from the papers."""

import math
import random
from functools import partial
from pathlib import Path

from tests.faults.commands import write_bitext
from tests.faults.frame import Budget, Case, Outcome, d


def twin(preset: str, place: Path, draw: random.Random, budget: Budget) -> Outcome:
    """Compare every rule, its links and its features."""
    from distsim.grammar.extraction.extract import write_rules
    from distsim.grammar.extraction.features import FeatureChoice
    from distsim.grammar.extraction.instances import PRESETS
    from tests.grammar.extraction_texts import linked_text, read_rules
    from tests.naive import extraction as naive_extraction

    write_bitext(place, budget.pairs)
    bitext = d.build_bitext(place / "en", place / "de", place / "bitext", jobs=1)
    pairs = [[
        naive_extraction.Pair(
            bitext.other.words(s), bitext.english.words(s),
            {(f, e) for e, f in bitext.links_of(s)}, (),
        )
        for s in range(len(bitext))
    ]]  # fmt: skip
    outcome, options = Outcome(), PRESETS[preset]
    write_rules(linked_text(pairs, options), place / "rules", options, FeatureChoice())
    found, wanted = read_rules(place / "rules"), naive_extraction.rules(pairs, options)
    outcome.broken += [f"only in one: {rule}" for rule in found.keys() ^ wanted.keys()]
    for rule in found.keys() & wanted.keys():
        values, links = wanted[rule]
        outcome.check(found[rule][1] == links, f"links of {rule}")
        for name in found[rule][0].keys() & values.keys():
            is_near = math.isclose(found[rule][0][name], values[name], abs_tol=6e-6)
            outcome.check(is_near, f"{name} of {rule}: {found[rule][0][name]}, {values[name]}")
    return outcome


def cases() -> list[Case]:
    """Return the presets that need no trees."""
    return [
        Case(f"twins/{preset}", partial(twin, preset), (), preset == "phrases")
        for preset in ("phrases", "hiero")
    ]
