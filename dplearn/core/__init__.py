"""What every floor stands on: guarantees, errors, registries, logarithms, roots, typed formulas."""
