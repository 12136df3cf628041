"""Pages of the explorer, whose bounded caches serve all sessions."""
