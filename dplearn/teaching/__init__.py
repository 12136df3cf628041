"""Teaching: formula book, claims, figures, explorer with browser code, site, lesson tools."""
