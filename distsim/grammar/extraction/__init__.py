"""Bitexts -> translation rules with counts, margins and features, as text or as numbers."""

from distsim.grammar.extraction.extract import ExtractReport, extract_rules
from distsim.grammar.extraction.features import FEATURES, FeatureChoice
from distsim.grammar.extraction.options import PRESETS, ExtractOptions

__all__ = [
    "FEATURES",
    "PRESETS",
    "ExtractOptions",
    "ExtractReport",
    "FeatureChoice",
    "extract_rules",
]
