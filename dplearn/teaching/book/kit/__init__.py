"""What chapters are written with: entries, domains, oracles; and how they are checked."""
