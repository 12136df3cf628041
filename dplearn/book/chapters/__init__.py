"""The chapters: a folder each, with entries and the oracles beside them; the folder is the list."""
