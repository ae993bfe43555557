"""Kills, flipped bytes, full disks, fuzzed lines: campaigns of minutes, tiny in CI."""
