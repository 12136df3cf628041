"""Teaching: formula book, claims, figures, explorer, browser code, site and tools for lessons."""
