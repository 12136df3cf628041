"""Code that all packages share: guarantees, errors, registries, logarithms and roots."""
