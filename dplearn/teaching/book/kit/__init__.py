"""Entries, domains and oracles of the book's chapters, and their checks."""
