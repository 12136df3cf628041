"""Guarantees, checks of arguments, registries, logarithms and root finding."""
