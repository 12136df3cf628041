"""Entries, domains and oracles, with which chapters are written, and how they are checked."""
