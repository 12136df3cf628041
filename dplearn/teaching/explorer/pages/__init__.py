"""Pages of the explorer; their caches are bounded and serve all sessions."""
