"""Shared by all pages: fields, state and address, controls, look."""
