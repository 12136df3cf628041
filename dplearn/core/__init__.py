"""Guarantees, argument checks, registries, log-space arithmetic and root finding."""
