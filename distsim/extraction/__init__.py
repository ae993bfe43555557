"""Bitexts -> translation rules with counts, margins and features, as text or as numbers."""

from distsim.extraction.extract import ExtractReport, extract_rules
from distsim.extraction.features import FEATURES, FeatureChoice
from distsim.extraction.options import PRESETS, ExtractOptions

__all__ = [
    "FEATURES",
    "PRESETS",
    "ExtractOptions",
    "ExtractReport",
    "FeatureChoice",
    "extract_rules",
]
