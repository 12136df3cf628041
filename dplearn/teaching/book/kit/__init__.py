"""Parts of the formula book: decorators of entries, domains, oracles, parser and checks."""
