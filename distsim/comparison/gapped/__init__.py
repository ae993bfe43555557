"""Phrases with gaps, such as `take _ into account` or the side of a rule: what they are like."""
