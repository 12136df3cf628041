"""Textbook formulas as plain functions, one theme per file."""
