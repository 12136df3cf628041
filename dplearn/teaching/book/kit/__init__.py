"""Tools of the formula book: decorators, parameter domains, oracles, a parser and checks."""
