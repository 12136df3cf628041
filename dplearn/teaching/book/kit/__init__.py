"""Entries of the book's chapters, with their domains, oracles and checks."""
