"""Shared by all packages: guarantees, errors, registries, logarithms, roots, typed formulas."""
