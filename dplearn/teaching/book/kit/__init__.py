"""Entries, domains and oracles for chapters, and how they are checked."""
