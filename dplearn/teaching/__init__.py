"""Teaching: formula book, claims, figures, explorer, its browser code, site, lessons' tools."""
